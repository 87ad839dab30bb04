"""Locks between processes: files in HOME, released by the system however their process ends."""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import AdvisorError

_POLL_S = 0.1
_process = (0, "")  # id and name of this process; a fork is another one


@contextmanager
def writer_lock(path: Path, *, wait_s: float, on_wait: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock; AdvisorError if another process still has it after `wait_s` seconds."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise AdvisorError(
            f"The folder {path.parent} cannot be written: {error.strerror or error}.",
            "Set FABRIC_ADVISOR_HOME to a writable folder.",
        ) from None
    try:
        deadline = time.monotonic() + wait_s
        told = False
        while not _try_lock(file):
            if time.monotonic() > deadline:
                raise AdvisorError(
                    "Another ingest is writing to this library.",
                    "Wait until it has finished, then run this again.",
                    code="library_locked",
                )
            if on_wait and not told:
                on_wait()
                told = True
            time.sleep(_POLL_S)
        yield
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Hold a short lock, waiting for it as long as it takes. True if no other process has held it since this one last
    did. OSError if the file cannot be written.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        own = _own_name()
        same = os.pread(file, len(own) + 1, 0) == own
        if not same:
            os.ftruncate(file, 0)
            os.pwrite(file, own, 0)
        yield same
    finally:
        os.close(file)


def _own_name() -> bytes:
    global _process
    if _process[0] != os.getpid():
        _process = (os.getpid(), secrets.token_hex(8))
    return _process[1].encode()
