"""Each metric on values that a person can work out."""

from math import log2

import pytest

from eval.cases import ExpectedValue
from eval.metrics import key_points, languages, refusal, retrieval, statistics, tools, verdicts
from eval.metrics.agreement import disagreements
from eval.metrics.latency import latency_ms
from eval.metrics.retrieval import Found
from eval.metrics.sentences import markers_in
from tests.eval.answers import answer, calculation, citation, verdict

HITS = [Found("naas"), Found("pfc", section="PFC › What is a pause frame?"), Found("pfc"), Found("sharp")]


def test_recall_counts_each_gold_item_once() -> None:
    assert retrieval.recall(["pfc", "sharp"], HITS, 3) == 0.5
    assert retrieval.recall(["pfc", "sharp"], HITS, 4) == 1.0
    assert retrieval.recall(["pfc"], HITS, 1) == 0.0


def test_mrr_is_the_inverse_of_the_first_gold_rank() -> None:
    assert retrieval.reciprocal_rank(["sharp", "pfc"], HITS) == 1 / 2
    assert retrieval.reciprocal_rank(["ecn-dcqcn"], HITS) == 0.0


def test_ndcg_by_hand() -> None:
    best = 1 / log2(2) + 1 / log2(3)
    got = 1 / log2(3) + 1 / log2(5)  # gold at ranks 2 and 4
    assert retrieval.ndcg(["pfc", "sharp"], HITS, 10) == pytest.approx(got / best)
    assert retrieval.ndcg(["naas"], HITS, 10) == 1.0


def test_gold_with_a_heading_needs_the_heading_and_alternatives_need_one() -> None:
    assert retrieval.first_ranks(["pfc#what is a pause frame?"], HITS) == [2]
    assert retrieval.first_ranks(["pfc#watchdog"], HITS) == [None]
    assert retrieval.first_ranks(["ecn-dcqcn|sharp"], HITS) == [4]


def test_wilson_interval_of_a_published_example() -> None:
    # Newcombe 1998, table I, method 3 (score without continuity correction): 81 of 263, 15 of 148, 0 of 20
    assert statistics.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert statistics.wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert statistics.wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert statistics.wilson(0, 0) == (0.0, 1.0)


def test_mcnemar_is_the_two_sided_binomial_test() -> None:
    assert statistics.mcnemar(0, 0) == 1.0
    assert statistics.mcnemar(0, 5) == pytest.approx(2 / 2**5)
    assert statistics.mcnemar(1, 5) == pytest.approx(2 * (1 + 6) / 2**6)
    assert statistics.mcnemar(3, 3) == 1.0


def test_percentile_is_nearest_rank() -> None:
    assert statistics.percentile([30, 10, 20, 40], 0.5) == 20
    assert statistics.percentile([30, 10, 20, 40], 0.95) == 40


def test_a_missing_verdict_is_a_wrong_one() -> None:
    assert verdicts.verdict_is_right(["roce", "either"], answer(verdict=verdict("either")))
    assert not verdicts.verdict_is_right(["roce"], answer(verdict=verdict("infiniband")))
    assert not verdicts.verdict_is_right(["roce"], answer("RoCE, clearly."))


SIZES = [
    calculation("size", "infiniband", leaf_switches=(16, "switches"), tiers=2),
    calculation("size", "roce", leaf_switches=(8, "switches"), tiers=2),
    calculation("collective", "roce", busbw=(400.0, "GB/s", 390.0, 410.0)),
]


@pytest.mark.parametrize(
    ("expected", "right"),
    [
        (ExpectedValue("size.infiniband.leaf_switches", 16), True),
        (ExpectedValue("size.infiniband.leaf_switches", 8), False),
        (ExpectedValue("size.leaf_switches", 16), False),  # two fabrics differ: ambiguous
        (ExpectedValue("size.tiers", 2), True),  # both agree
        (ExpectedValue("size.roce.spine_switches", 4), False),
        (ExpectedValue("collective.roce.busbw", 3200, "Gb/s"), True),
        (ExpectedValue("collective.roce.busbw", 400, "Gb/s"), False),  # bytes are not bits
        (ExpectedValue("collective.roce.busbw", 400, "kW"), False),
        (ExpectedValue("collective.roce.busbw", 386.6, "GB/s", 0.08), True),
        (ExpectedValue("collective.roce.busbw", 300, "GB/s", 0.08), False),
        (ExpectedValue("collective.roce.busbw.high", 410, "GB/s"), True),
        (ExpectedValue("collective.roce.busbw", None, "GB/s", between=(350.0, 450.0)), True),
        (ExpectedValue("collective.roce.busbw", None, "GB/s", between=(401.0, 450.0)), False),
    ],
)
def test_values_are_compared_with_their_units(expected: ExpectedValue, right: bool) -> None:
    assert tools.value_is_right(expected, SIZES)[0] is right


def test_a_value_a_thousand_times_too_large_is_wrong() -> None:
    bill = [calculation("cost", capex_usd=(1_237_000.0, "USD"))]
    assert tools.value_is_right(ExpectedValue("cost.capex_usd", 1.237, "USD"), bill)[0] is False
    assert tools.value_is_right(ExpectedValue("cost.capex_usd", 1_237_000, "USD"), bill)[0] is True


def test_required_and_forbidden_tools() -> None:
    assert tools.missing_tools(["size", "cost"], SIZES) == ["cost"]
    assert tools.forbidden_tools(["size", "cost"], SIZES) == ["size"]


def test_refusals() -> None:
    refused = ("out_of_scope",)
    assert refusal.recall_count(refused, "no_evidence") == (1, 1)
    assert refusal.recall_count(refused, "decision") == (0, 1)
    assert refusal.recall_count(("decision",), "no_evidence") == (0, 0)
    assert refusal.precision_count(("decision",), "no_evidence") == (0, 1)
    assert refusal.precision_count(("out_of_scope", "clarification"), "no_evidence") == (1, 1)
    assert refusal.precision_count(refused, "decision") == (0, 0)


def test_language_of_a_text() -> None:
    assert languages.is_in_language("InfiniBand 采用基于信用的流控，不会丢包。", "zh")
    assert languages.is_in_language("The term is 信用. " + "Credits keep every link lossless. " * 8, "en")
    assert not languages.is_in_language("Credits keep InfiniBand lossless.", "zh")
    assert not languages.is_in_language("采用基于信用的流控。", "en")
    assert languages.han_share("```\n交换机\n```\nswitch") == 0.0


def test_single_sentences_of_the_other_language() -> None:
    chinese = "InfiniBand 采用基于信用的流控。\n\nEvery price is a signal of low trust, not a quote."
    assert languages.foreign_sentences(chinese, "zh") == ["Every price is a signal of low trust, not a quote."]
    assert languages.foreign_sentences("用 NVIDIA Quantum-2 QM9700 InfiniBand NDR 交换机组网即可。", "zh") == []
    english = "Credits keep it lossless.\n\n大消息的总线带宽按各来源。"
    assert languages.foreign_sentences(english, "en") == ["大消息的总线带宽按各来源。"]
    assert languages.foreign_sentences("The Chinese for it is 无损.", "en") == []


def test_a_quotation_from_a_document_of_the_user_may_be_foreign() -> None:
    quote = "本集群的总线带宽不低于三百五十。"
    own = citation(passage=quote, document="handbook.pdf")
    note = citation(passage=quote, document="latency.zh.md")
    assert languages.foreign_sentences(quote, "en", [own]) == []
    assert languages.foreign_sentences(quote, "en", [note]) == [quote]


@pytest.mark.parametrize(
    ("phrase", "text", "there"),
    [
        ("32", "320 switches", False),
        ("32", "32 leaf switches", True),
        ("32", "1,32 or 32.5", False),
        ("lock-in", "the **lock-in** risk", True),
        ("credit", "Credits are sent", True),
        ("ECN", "beckoning", False),
        ("信用", "基于信用的流控", True),
    ],
)
def test_phrases_stand_on_their_own(phrase: str, text: str, there: bool) -> None:
    assert (key_points.missing_points([[phrase]], text) == []) is there


def test_one_phrase_of_each_group_must_occur() -> None:
    text = "InfiniBand is lossless by credits."
    assert key_points.missing_points([["PFC", "credits"], ["ECN", "DCQCN"]], text) == [("ECN", "DCQCN")]
    assert key_points.forbidden_points(["lossless", "lossy"], text) == ["lossless"]


def test_latency_is_read_from_the_answers() -> None:
    timed = [answer(timings_ms={"total": float(total)}) for total in (10, 20, 30, 200)]
    assert latency_ms(timed) == (20.0, 200.0)
    assert latency_ms([answer(timings_ms={})]) is None


def test_agreement_compares_numbers_where_there_are_some_and_topics_elsewhere() -> None:
    first = answer(kind="sizing", calculations=(calculation(leaf_switches=16),))
    other = answer(kind="sizing", calculations=(calculation(leaf_switches=8),))
    assert disagreements(first, first) == []
    assert disagreements(first, other) == ["size..leaf_switches: 16.0 and 8.0"]
    english = answer(citations=(citation(document="pfc.en.md"),))
    chinese = answer(citations=(citation(document="pfc.zh.md"),), language="zh")
    unlike = answer(citations=(citation(document="naas.zh.md"),), language="zh")
    assert disagreements(english, chinese) == []
    assert len(disagreements(english, unlike)) == 1


def test_verdicts_that_differ_disagree() -> None:
    roce = answer(kind="decision", verdict=verdict("roce"), calculations=(calculation(x=1),))
    infiniband = answer(kind="decision", verdict=verdict("infiniband"), calculations=(calculation(x=1),))
    assert disagreements(roce, infiniband) == ["verdict: roce and infiniband"]


def test_brackets_in_code_are_no_citations() -> None:
    assert markers_in("`NET/IB : Using [0]mlx5_0` is RDMA [2].\n\n```\n[7]\n```\n") == (2,)
