"""Watches files and folders by looking at them again and again: works on every kind of disk."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

State = dict[str, tuple[int, int]]


def changes(paths: Sequence[str], *, every_s: float = 1.0) -> Iterator[None]:
    """Once at first, then each time that something has changed and then stayed the same for `every_s`."""
    taken = before = state(paths)
    yield
    while True:
        time.sleep(every_s)
        now = state(paths)
        if now != taken and now == before:  # a file that is still being written is not taken in yet
            taken = now
            yield
        before = now


def state(paths: Sequence[str]) -> State:
    """Size and time of every file under the paths."""
    found: State = {}
    for given in paths:
        root = Path(given).expanduser()
        files = [root] if root.is_file() else []
        for parent, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            files += [Path(parent, name) for name in names if not name.startswith((".", "~$"))]
        for file in files:
            try:
                seen = file.stat()
            except OSError:
                continue
            found[str(file)] = (seen.st_size, seen.st_mtime_ns)
    return found
