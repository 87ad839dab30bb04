"""Runs the advisor beside the page's script, so that the reader can stop it while it waits for a model."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

Item = TypeVar("Item")


def in_background(items: Iterator[Item], wait_s: float) -> Iterator[Item | None]:
    """The items as they come from another thread, and None whenever none has come for `wait_s` seconds.

    An exception of `items` is raised here. When the caller gives up, the thread ends at the next item.
    """
    ready: queue.SimpleQueue[Item | _End] = queue.SimpleQueue()
    abandoned = threading.Event()

    def work() -> None:
        end = _End()
        try:
            for item in items:
                if abandoned.is_set():
                    return
                ready.put(item)
        except BaseException as error:  # noqa: BLE001  (raised again in the caller's thread)
            end.error = error
        ready.put(end)

    threading.Thread(target=work, name="advisor", daemon=True).start()
    try:
        while True:
            try:
                item = ready.get(timeout=wait_s)
            except queue.Empty:
                yield None
                continue
            if isinstance(item, _End):
                if item.error:
                    raise item.error
                return
            yield item
    finally:
        abandoned.set()


class _End:
    error: BaseException | None = None
