"""Passages: exact spans, headings, whole tables and sentences."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.library.language import estimated_tokens
from app.library.splitting import split


def passages(text: str, **options: object) -> list[str]:
    return [text[piece.start : piece.end] for piece in split(text, **options)]  # type: ignore[arg-type]


def test_passages_follow_headings() -> None:
    text = "# Fabric\n\nLead.[^a]\n\n## Leaf\n\nOne.\nTwo.[^b][^a]\n\n### Ports\n\nThree.\n\n## Spine\n\nFour.\n"
    pieces = split(text, title="Fabric")
    assert [(piece.section, text[piece.start : piece.end]) for piece in pieces] == [
        ("", "Lead.[^a]"),
        ("Leaf", "One.\nTwo.[^b][^a]"),
        ("Leaf › Ports", "Three."),
        ("Spine", "Four."),
    ]
    assert [piece.section_number for piece in pieces] == [1, 2, 3, 4]
    assert pieces[1].source_refs == ("b", "a")


def test_a_title_that_is_not_the_first_heading_stays_in_the_path() -> None:
    assert [piece.section for piece in split("# Part\n\n## A\n\nx", title="Book")] == ["Part › A"]


def test_a_hash_in_code_is_no_heading() -> None:
    text = "## Set\n\n```\n# comment\nexport A=1\n```\n\nAfter.\n"
    assert passages(text) == ["```\n# comment\nexport A=1\n```\n\nAfter."]
    assert [piece.section for piece in split(text)] == ["Set"]


def test_a_long_chinese_paragraph_is_cut_only_between_sentences() -> None:
    sentence = "当多个交换机形成循环缓冲依赖时，优先级流控会让所有端口互相等待，流量完全停止。"
    text = sentence * 40
    found = passages(text)
    assert len(found) > 3
    assert "".join(found) == text
    assert all(one.startswith("当") and one.endswith("。") for one in found)
    assert max(map(estimated_tokens, found)) < 340


def test_an_endless_sentence_is_cut_at_clauses() -> None:
    text = "，".join(["一个没有句号的句子" * 3] * 40)
    found = passages(text)
    assert len(found) > 2
    assert all(one.endswith("，") for one in found[:-1])


def test_a_small_table_is_whole_and_a_long_one_repeats_its_header() -> None:
    head = "| Switch | Ports |\n| --- | --- |\n"
    small = f"Before.\n\n{head}| Q3400 | 144 |\n\nAfter.\n"
    assert passages(small) == [small.strip()]

    rows = [f"| switch model number {n} of the vendor | {n} |" for n in range(60)]
    text = f"# Switches\n\nThe list.\n\n{head}" + "\n".join(rows) + "\n"
    pieces = split(text, title="Switches")
    assert len(pieces) > 2
    assert pieces[0].context == ""
    assert {piece.context for piece in pieces[1:]} == {"| Switch | Ports |"}
    found = [line for piece in pieces for line in text[piece.start : piece.end].splitlines()]
    assert [line for line in found if line.startswith("| switch")] == rows  # no row cut, lost or doubled


def test_language_and_page_of_each_passage() -> None:
    text = "# A\n\nEnglish text about switches.\n\n# B\n\nRoCE 网络需要无损配置，NCCL_IB_TC 设为 106。\n"
    pieces = split(text, page_starts=[0, text.index("# B")])
    assert [(piece.language, piece.page) for piece in pieces] == [("en", 1), ("zh", 2)]


@pytest.mark.parametrize("text", ["", "\n\n", "# Only a heading\n"])
def test_nothing_to_say_is_no_passage(text: str) -> None:
    assert split(text) == []


MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from(
            ["# H", "## 标题", "```", "| a | b |", "| --- | --- |", "- item", "", "1. one", "\u2028", "\f"]
        ),
        st.text(alphabet="ab 。，.!\n|#`中文\r\u3000", max_size=400),
        st.text(alphabet="词。", min_size=300, max_size=900),
    ),
    max_size=25,
).map("\n".join)


@given(MARKDOWN)
@settings(max_examples=150, deadline=None)
def test_spans_are_exact_ordered_and_lose_nothing(text: str) -> None:
    pieces = split(text)
    assert all(0 <= piece.start < piece.end <= len(text) for piece in pieces)
    assert all(before.end <= after.start for before, after in pairwise(pieces))
    assert all(text[piece.start : piece.end].strip() == text[piece.start : piece.end] for piece in pieces)
    between = [0, *(bound for piece in pieces for bound in (piece.start, piece.end)), len(text)]
    left_out = [text[a:b] for a, b in zip(between[::2], between[1::2], strict=True)]
    # Only blank space and headings are not in a passage.
    assert all(not line.strip() or re.match(r"#{1,6}[ \t]", line) for gap in left_out for line in gap.splitlines())
    assert all(estimated_tokens(text[piece.start : piece.end]) < 1000 for piece in pieces)
