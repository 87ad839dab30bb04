"""The text of a model as it comes, with a watch on the time. Nothing is read or checked here.

A provider that drips, hangs or never ends holds a thread, not the reader: the stream is read in the background, and
given up when it has been silent for `silence_s`, or has taken `total_s` altogether.
"""

from __future__ import annotations

import contextlib
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator

from app.advisor.model_failure import ModelFailed, cause_of

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TAGS = ("<think>", "<thinking>", "<reasoning>")


def watched(
    source: Callable[[threading.Event], Iterator[str]],
    *,
    silence_s: float,
    total_s: float,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[str]:
    """The pieces of `source`, read in a thread. Raises ModelFailed where it fails or takes too long.

    Closing this generator (the reader stops the answer) sets the event that the source was given, and closes the
    source at its next piece.
    """
    pieces: queue.Queue[str | BaseException | None] = queue.Queue()
    stopped = threading.Event()

    def read() -> None:
        try:
            stream = source(stopped)
            for piece in stream:
                if stopped.is_set():
                    break
                pieces.put(piece)
            with contextlib.suppress(AttributeError):
                stream.close()  # type: ignore[attr-defined]
            pieces.put(None)
        except Exception as error:  # noqa: BLE001  (each provider has its own types)
            pieces.put(error)

    threading.Thread(target=read, name="model-stream", daemon=True).start()
    deadline = clock() + total_s
    try:
        while True:
            try:
                got = pieces.get(timeout=max(0.01, min(silence_s, deadline - clock())))
            except queue.Empty:
                raise ModelFailed("slow") from None
            if got is None:
                return
            if isinstance(got, BaseException):
                raise cause_of(got) from got
            yield got
            if clock() > deadline:
                raise ModelFailed("slow")
    finally:
        stopped.set()


def without_thoughts(pieces: Iterator[str]) -> Iterator[str]:
    """The pieces without `<think>…</think>`; what may be the beginning of such a tag is held back."""
    held = ""
    for piece in pieces:
        held += piece
        held = _THOUGHT.sub(lambda match: match[0] if not _closed(match) else "", held)
        cut = _first_open(held)
        if cut:
            yield held[:cut]
            held = held[cut:]
    held = _THOUGHT.sub("", held)
    if held:
        yield held


def _closed(match: re.Match[str]) -> bool:
    return match[0].lower().endswith(f"</{match[1].lower()}>")


def _first_open(text: str) -> int:
    """Where a thought begins, or may begin at the end of the text; its length where none does."""
    low = text.lower()
    starts = [at for tag in _TAGS if (at := low.find(tag)) >= 0]
    last = low.rfind("<")
    if last >= 0 and any(tag.startswith(low[last:]) for tag in _TAGS):
        starts.append(last)
    return min(starts, default=len(text))
