"""Sentences cut from a stream: the same however the stream is cut, and joined again they are the text."""

import pytest

from app.advisor.model_sentences import SentenceStream
from app.advisor.model_stream import without_thoughts

TEXT = (
    "It costs 1.2 times more. E.g. two switches [1]. A link fails.[2] Next\n\n- one item\n- another [3]\n\n"
    "第一句。第二句！[1]第三句\n\n```\na. b. c\n```\n\nLast one"
)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_sentences(size: int) -> None:
    stream = SentenceStream()
    found = [one for at in range(0, len(TEXT), size) for one in stream.feed(TEXT[at : at + size])] + stream.finish()
    assert [one.strip() for one in found] == [
        "It costs 1.2 times more.",
        "E.g. two switches [1].",
        "A link fails [2].",
        "Next",
        "- one item",
        "- another [3]",
        "第一句。",
        "第二句 [1]！",
        "第三句",
        "```\na. b. c\n```",
        "Last one",
    ]
    assert "".join(found).replace("fails [2].", "fails.[2]").replace("第二句 [1]！", "第二句！[1]") == TEXT


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_thoughts_are_not_shown(size: int) -> None:
    text = "<think>RoCE < IB, 5 < 6</think>A < B is true. <thinking>hm</thinking>Yes.<think>never closed"
    pieces = (text[at : at + size] for at in range(0, len(text), size))
    assert "".join(without_thoughts(pieces)) == "A < B is true. Yes."
