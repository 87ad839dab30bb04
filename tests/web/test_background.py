from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from app.web.background import in_background


def test_items_come_in_order() -> None:
    assert [item for item in in_background(iter(range(100)), 1) if item is not None] == list(range(100))


def test_an_error_is_raised_to_the_caller_after_the_items_before_it() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise ValueError("no")

    items = in_background(failing(), 1)
    assert next(items) == 1
    with pytest.raises(ValueError, match="no"):
        next(items)


def test_while_nothing_comes_the_caller_is_woken() -> None:
    go = threading.Event()

    def slow() -> Iterator[int]:
        go.wait(10)
        yield 1

    items = in_background(slow(), 0.01)
    assert next(items) is None
    go.set()
    assert [item for item in items if item is not None] == [1]


def test_giving_up_ends_the_work_at_its_next_item() -> None:
    go, ended = threading.Event(), threading.Event()

    def endless() -> Iterator[int]:
        try:
            yield 1
            go.wait(10)
            while True:
                yield 2
        finally:
            ended.set()

    items = in_background(endless(), 1)
    assert next(items) == 1
    items.close()  # type: ignore[attr-defined]
    go.set()
    assert ended.wait(5)
