"""Reads files by several threads, a few ahead of their turn, and gives the results in the order of the files."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from app.library.formats.content import UnreadableError
from app.library.sources import SourceFile

Read = TypeVar("Read")
_AHEAD = 4  # files a worker


def read_ahead(
    files: Sequence[SourceFile], read: Callable[[SourceFile], Read], workers: int
) -> Iterator[tuple[SourceFile, Read | UnreadableError]]:
    """Each file with what `read` gives, or with why it cannot be read. Other faults are raised in their turn."""
    if workers < 2:
        for file in files:
            yield file, _outcome(read, file)
        return
    rest = iter(files)
    pool = ThreadPoolExecutor(workers, thread_name_prefix="reader")
    pending: deque[tuple[SourceFile, Future[Read | UnreadableError]]] = deque()
    try:
        while True:
            for file in islice(rest, workers * _AHEAD - len(pending)):
                pending.append((file, pool.submit(_outcome, read, file)))
            if not pending:
                return
            file, future = pending.popleft()
            yield file, future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _outcome(read: Callable[[SourceFile], Read], file: SourceFile) -> Read | UnreadableError:
    try:
        return read(file)
    except UnreadableError as error:
        return error
