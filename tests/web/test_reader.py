"""The reader marks exactly the cited characters, and shows hostile documents as text."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.reader import Extract, around, document_html

TEXT = "# Title\n\nFirst line.\nSecond **bold** line.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nLast.[^paper]"


def whole(text: str) -> Extract:
    return Extract(0, len(text))


def marked(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", "".join(re.findall(r"<mark>(.*?)</mark>", html, re.DOTALL))))


def test_exactly_the_passage_is_marked() -> None:
    start = TEXT.index("First")
    html = document_html(TEXT, whole(TEXT), (start, start + len("First line.")))
    assert "<mark>First line.</mark>" in html
    assert html.count("<mark>") == 1


def test_a_passage_over_several_lines_is_marked_on_each() -> None:
    start, end = TEXT.index("line."), TEXT.index("\n\n| a")
    html = document_html(TEXT, whole(TEXT), (start, end))
    assert "First <mark>line.</mark>" in html
    assert "<mark>Second <strong>bold</strong> line.</mark>" in html


def test_headings_tables_and_footnotes_are_drawn_as_such() -> None:
    mark = TEXT.index("| 1"), TEXT.index("| 1") + len("| 1 | 2 |")
    html = document_html(TEXT, whole(TEXT), mark, {"paper": {"title": 'A "good" paper'}})
    assert '<div class="heading">Title</div>' in html
    assert '<table><tr><td>a</td><td>b</td></tr><tr class="marked"><td>1</td><td>2</td></tr></table>' in html
    assert '<sup title="A &quot;good&quot; paper">paper</sup>' in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "| <img src=x onerror=alert(1)> | b |",
        "# <iframe>",
        "**<b onclick=x>**",
        "`</code><script>`",
        '[^a" onmouseover="x]',
    ],
)
def test_no_tag_of_a_document_survives(text: str) -> None:
    html = document_html(text, whole(text), (0, len(text)))
    tags = {tag.lower() for tag in re.findall(r"</?([a-zA-Z]+)", html)}
    assert tags <= {"div", "mark", "strong", "sup", "code", "table", "tr", "td"}
    assert "onmouseover" not in "".join(re.findall(r"<[^>]*>", html))


@given(st.text(alphabet="ab \n#|<&中*`", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_any_span_of_any_text_is_marked_without_losing_a_letter(text: str, a: int, b: int) -> None:
    start, end = sorted((min(a, len(text)), min(b, len(text))))
    html = document_html(text, whole(text), (start, end))
    letters = re.sub(r"[^ab中<&]", "", unescape(re.sub(r"<[^>]+>", "", html)))
    assert letters == re.sub(r"[^ab中<&]", "", text)
    if "|" not in text and "#" not in text:
        assert re.sub(r"[^ab中]", "", marked(html)) == re.sub(r"[^ab中]", "", text[start:end])


def test_the_extract_is_cut_at_lines_and_holds_the_passage() -> None:
    text = "\n".join(f"line {number:03}" for number in range(200))  # 9 characters a line
    start = text.index("line 100")
    extract = around(text, start, start + 8, context=20)
    assert text[extract.start : extract.end].splitlines() == [f"line {n:03}" for n in range(97, 104)]


def test_a_short_text_is_shown_whole() -> None:
    assert around("short", 1, 3) == Extract(0, 5)
