"""Markers in a stream that may be cut anywhere."""

import pytest

from app.advisor.markers import MarkerStream

CASES = [
    ("Credits [1].", "Credits [1]."),
    ("Credits [1,2].", "Credits [1][2]."),
    ("Credits [1, 2 ,3].", "Credits [1][2][3]."),
    ("Credits [[1]].", "Credits [1]."),
    ("信用【1】。", "信用[1]。"),
    ("信用［2］。", "信用[2]。"),
    ("信用【1，2】。", "信用[1][2]。"),
    ("Credits [9].", "Credits ."),
    ("Credits [1,9].", "Credits [1]."),
    ("Credits [1][1].", "Credits [1][1]."),
    ("Credits [1,1].", "Credits [1]."),
    ("See [1](http://x).", "See [1](http://x)."),
    ("a[0] of `b[1]` and ```\nc[2]\n``` end [2]", "a of `b[1]` and ```\nc[2]\n``` end [2]"),
    ("An [aside] and [", "An [aside] and ["),
    ("{T3.capex_usd} [1]", "{T3.capex_usd} [1]"),
    ("Array[", "Array["),
    ("", ""),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_the_same_however_it_is_cut(text: str, expected: str, size: int) -> None:
    stream = MarkerStream(lambda number: number in (1, 2, 3))
    given = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.finish()
    assert given == expected


def test_a_partial_marker_is_held_back() -> None:
    stream = MarkerStream(lambda number: number == 1)
    assert stream.feed("Credits [") == "Credits "
    assert stream.feed("1") == ""
    assert stream.feed("] flow") == "[1] flow"


def test_what_was_dropped_is_known() -> None:
    stream = MarkerStream(lambda number: number == 1)
    stream.feed("A [1,7] and [8].")
    stream.finish()
    assert stream.dropped == [7, 8]
