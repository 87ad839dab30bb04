"""Citations and the independent check of numbers, on texts with known faults."""

import pytest

from eval.metrics.citations import (
    citation_precision,
    citation_recall,
    invalid_citations,
    topic_of,
    unfaithful_quotes,
)
from eval.metrics.contradictions import misplaced_figures
from eval.metrics.sentences import claims, markers_in
from eval.metrics.support import unsupported_numbers
from tests.eval.answers import NOTE, answer, calculation, citation


def test_every_form_of_marker_is_read_and_code_is_not() -> None:
    assert markers_in("a [1], b [2, 3], c 【4】, d ［5］, e[1]") == (1, 2, 3, 4, 5, 1)
    assert markers_in("```\nx[1]\n```\nfine [2]") == (2,)


@pytest.mark.parametrize(
    ("text", "listed", "faults"),
    [
        ("Credits. [1]", [1], 0),
        ("Credits. [2]", [1], 2),  # 2 has no source, 1 is not used
        ("Credits. [1][1]", [1, 1], 1),
        ("Credits. [1] [doc-99]", [1], 1),
        ("Credits. [1] [the manual 3](https://example.org)", [1], 0),
        ("Retrieved, not cited.", [1], 1),
    ],
)
def test_invalid_citations(text: str, listed: list[int], faults: int) -> None:
    given = answer(text, citations=tuple(citation(marker) for marker in listed))
    assert len(invalid_citations(given)) == faults


def test_quotes_are_compared_with_the_document() -> None:
    document = "Preface. " + NOTE
    good, bad = citation(1, start=9), citation(2, start=8)
    assert unfaithful_quotes(answer(citations=(good,)), lambda _: document) == []
    assert len(unfaithful_quotes(answer(citations=(good, bad)), lambda _: document)) == 1


def test_a_document_that_is_gone_is_an_unfaithful_quote() -> None:
    def gone(document_id: str) -> str:
        raise KeyError(document_id)

    assert len(unfaithful_quotes(answer(citations=(citation(),)), gone)) == 1


def test_precision_counts_gold_and_citations_that_support_their_sentence() -> None:
    text = "Credits keep InfiniBand lossless. [1] The CEO of Arista wears hats made of felt. [2] It draws 747 W. [3]"
    given = answer(text, citations=tuple(citation(marker) for marker in (1, 2, 3)))
    share = citation_precision(given, [])
    assert (share.good, share.n) == (2, 3)  # words support the first, the number the third
    assert citation_precision(given, ["switches"]).good == 3


def test_recall_wants_a_source_for_numbers_and_comparisons() -> None:
    text = (
        "InfiniBand is a network. It draws 747 W.\n\nRoCE is cheaper than InfiniBand.\n\nThe fabric has 16 leaves (T1)."
    )
    given = answer(text, calculations=(calculation(leaf_switches=16),))
    share, bare = citation_recall(given)
    assert (share.good, share.n) == (1, 3)
    assert [line.split()[0] for line in bare] == ["It", "RoCE"]


def test_a_quote_of_several_sentences_needs_one_marker() -> None:
    text = "- **Ports:** A QM9700 has 64 ports of 400 Gb/s and draws 747 W. Credits keep InfiniBand lossless. [1]"
    assert citation_recall(answer(text, citations=(citation(),)))[1] == []
    made_up = "- It has 99 ports. Credits keep InfiniBand lossless. [1]"
    assert len(citation_recall(answer(made_up, citations=(citation(),)))[1]) == 1


def test_rows_of_a_quoted_table_are_covered_by_the_marker_above_or_below_it() -> None:
    table = "| Box | Ports |\n|---|---|\n| SN2201 | 48 |"
    for text in (table + "\n\n[1]", "**Ports** [1]\n\n" + table):
        assert citation_recall(answer(text, citations=(citation(passage=table),)))[1] == []
    far = "**Ports** [1]\n\nMore follows.\n\n" + table
    assert len(citation_recall(answer(far, citations=(citation(passage=table),)))[1]) == 1
    altered = "**Ports** [1]\n\n" + table.replace("48", "49")
    assert len(citation_recall(answer(altered, citations=(citation(passage=table),)))[1]) == 1
    assert len(citation_recall(answer(table))[1]) == 1


def test_provenance_behind_a_sentence_stays_with_it() -> None:
    (claim,) = claims("- 百卡以下首选 RoCE。*（文章建议）*[1]")
    assert claim.markers == (1,)


def test_topics_of_notes_in_two_languages() -> None:
    assert topic_of("pfc.en.md") == topic_of("pfc.zh.md") == "pfc"
    assert topic_of("report.pdf") == "report.pdf"


CAPEX = calculation("cost", "roce", capex_usd=(1_237_000.0, "USD", 900_000.0, 1_800_000.0), power=(12.34, "kW"))


@pytest.mark.parametrize(
    ("text", "stray"),
    [
        ("It costs $1.24M.", []),
        ("网络成本 124万美元。", []),
        ("It costs $1.24k.", ["$1.24k"]),
        ("It costs $0.9M to $1.8M.", []),
        ("It draws 12.3 kW.", []),
        ("It draws 12.3 W.", ["12.3 W"]),
        ("It has 64 ports. [1]", []),
        ("It has 65 ports. [1]", ["65"]),
        ("For 64 GPUs (see [1], T1).", []),
        ("As of 2026 the H100 and the QM9700 are common.", []),
        ("1. First\n2. Second", []),
        ("InfiniBand costs 3x as much.", ["3x"]),
    ],
)
def test_numbers_without_a_source(text: str, stray: list[str]) -> None:
    given = answer(text, citations=(citation(),), calculations=(CAPEX,))
    assert unsupported_numbers(given, []) == stray


def test_earlier_questions_and_the_assumed_cluster_support_numbers() -> None:
    given = answer("512 GPUs over 7 years.", question="and for longer?", spec={"years": 7})
    assert unsupported_numbers(given, ["RoCE for 512 GPUs?"]) == []
    assert unsupported_numbers(given, []) == ["512"]


BOTH = (
    calculation("cost", "infiniband", "T1", capex_usd=(412_000.0, "USD"), time=(6.19, "ms")),
    calculation("cost", "roce", "T2", capex_usd=(427_000.0, "USD"), time=(6.19, "ms")),
    calculation("compare", "", "T3", roce_tco_usd=(861_000.0, "USD"), difference_usd=(15_000.0, "USD")),
)


@pytest.mark.parametrize(
    ("text", "misplaced"),
    [
        ("InfiniBand costs $412k.", []),
        ("InfiniBand costs $427k.", ["$427k"]),
        ("RoCE 网络采购成本 41.2万美元。", ["41.2万美元"]),
        ("InfiniBand 五年总成本 86.1万美元。", ["86.1万美元"]),
        ("InfiniBand costs $412k and RoCE $427k.", []),  # speaks of both
        ("RoCE is $15k dearer.", []),  # a figure of neither
        ("RoCE takes 6.19 ms.", []),  # a figure of both
        ("| | InfiniBand | RoCE |\n|---|---|---|\n| capex | $412k | $427k |", []),
        ("| | InfiniBand | RoCE |\n|---|---|---|\n| capex | $427k | $412k |", ["$427k", "$412k"]),
        ("| | RoCE | InfiniBand |\n|---|---|---|\n| capex | $427k | $412k |", []),
    ],
)
def test_figures_of_the_wrong_fabric(text: str, misplaced: list[str]) -> None:
    given = answer(text, calculations=BOTH, question="InfiniBand or RoCE?")
    assert [fault.split(":")[0] for fault in misplaced_figures(given)] == misplaced


def test_what_a_cited_passage_says_is_not_judged() -> None:
    quote = "An InfiniBand offer of 2025 came to $427k."
    given = answer(quote + " [1]", calculations=BOTH, citations=(citation(passage=quote),))
    assert misplaced_figures(given) == []
