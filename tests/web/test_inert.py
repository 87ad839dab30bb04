"""What is data must stay data: markers become links, nothing in a text becomes HTML, math, an image or a colour."""

from __future__ import annotations

import pytest

from app.advisor.answer import Citation, Reference
from app.web.inert import answer_markdown, citation_links, figure_links, outbound, plain


def link(marker: int) -> str | None:
    return f"documents?cite=1.{marker}" if marker in (1, 2) else None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Cheap [1].", "Cheap [\\[1\\]](documents?cite=1.1)."),
        ("Both [1][2]", "Both [\\[1\\]](documents?cite=1.1)[\\[2\\]](documents?cite=1.2)"),
        ("Unknown [3]", "Unknown \\[3\\]"),
        ("A link [1](https://example.org)", "A link [1](https://example.org)"),
        ("Code `a[1]` and [1]", "Code `a[1]` and [\\[1\\]](documents?cite=1.1)"),
        ("```\nx[1] $5\n```\n[2]", "```\nx[1] $5\n```\n[\\[2\\]](documents?cite=1.2)"),
        ("$64k or $128k", "\\$64k or \\$128k"),
        ("already \\$5", "already \\$5"),
        ("~5 to ~6", "\\~5 to \\~6"),
        ("![x](https://evil.example/p.png)", "\\![x](https://evil.example/p.png)"),
        (":red[all] :material/home: :smile:", "\\:red[all] \\:material/home: \\:smile:"),
        ("ratio 2:1, at 10:30", "ratio 2:1, at 10:30"),
        ("- **InfiniBand：**无损", "- **InfiniBand**：无损"),
        ("**RoCE（以太网）**（64 卡）", "**RoCE（以太网）**（64 卡）"),
    ],
)
def test_answers_keep_their_markdown_and_nothing_else(text: str, shown: str) -> None:
    assert answer_markdown(text, link) == shown


def test_an_open_code_fence_of_a_growing_text_is_code() -> None:
    assert answer_markdown("```\n$5 [1]", link) == "```\n$5 [1]"


def test_plain_text_has_every_mark_escaped() -> None:
    assert plain("<b>*$1* [x](y) |a|\n# t") == "\\<b\\>\\*\\$1\\* \\[x\\]\\(y\\) \\|a\\| \\# t"


def test_a_citation_links_to_its_passage_and_names_itself() -> None:
    citation = Citation(3, "d.md", "id 1", "p", 'T "q" <x>', "", "A › B", "text", 5, 9)
    address = citation_links(2, {3: citation})(3)
    assert address == 'documents?document=id+1&start=5&end=9&cite=2.3 "T q x › A › B"'
    assert citation_links(2, {3: citation})(4) is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.org/a_(b)", "[T](<https://example.org/a_(b)>)"),
        ("javascript:alert(1)", "T"),
        ("https://a> [x](<y", "[T](<https://a[x](y>)"),
        ("", "T"),
    ],
)
def test_only_web_addresses_become_links(url: str, shown: str) -> None:
    assert outbound("T", url) == shown


def test_a_figure_leads_to_its_calculation_and_code_is_left_alone() -> None:
    text = "It costs $1M (T4) [1]; `$1M`."
    shown = answer_markdown(text, references=[Reference(9, 12, "T4", "capex_usd")], address=figure_links("c1", 2))
    assert shown == "It costs [\\$1M](?chat=c1&calculation=2.T4.capex_usd) (T4) \\[1\\]; `$1M`."


def test_the_name_of_a_calculation_leads_to_it_and_nothing_else_does() -> None:
    text = "A ratio of 1.2 (T1), see T2. T9, IT1, T1a, `T1`, https://x.example/T1, an NVIDIA T2 and 计算 T2。"
    ratio = [Reference(11, 14, "T1", "capex_ratio")]
    shown = answer_markdown(text, references=ratio, address=figure_links("c", 3), calculations=["T1", "T2"])
    first, second = "[T1](?chat=c&calculation=3.T1.)", "[T2](?chat=c&calculation=3.T2.)"
    assert shown == (
        f"A ratio of [1.2](?chat=c&calculation=3.T1.capex_ratio) ({first}), see {second}. T9, IT1, T1a, `T1`, "
        f"https://x.example/T1, an NVIDIA T2 and 计算 {second}。"
    )
