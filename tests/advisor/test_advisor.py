"""Whole answers, over the shipped notes and catalog, with the built-in writer."""

import re

import pytest

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer, Step, Text
from app.advisor.check import figures_in
from app.errors import AdvisorError

EN = "RoCE vs IB for a 64-GPU cluster"
ZH = "64卡集群用RoCE还是InfiniBand？"


def values(answer: Answer, tool: str, label: str) -> dict[str, object]:
    one = next(one for one in answer.calculations if one["tool"] == tool and one["label"] == label)
    return {name: value["value"] for name, value in one["values"].items()}


@pytest.fixture(scope="module")
def english(advisor: Advisor) -> Answer:
    return advisor.answer(EN)


@pytest.fixture(scope="module")
def chinese(advisor: Advisor) -> Answer:
    return advisor.answer(ZH)


def test_the_stream_is_steps_then_text_then_one_answer(advisor: Advisor) -> None:
    events = list(advisor.ask(EN))
    assert [one.stage for one in events if isinstance(one, Step)] == [
        "read",
        "search",
        "calculate",
        "write",
        "check",
    ]
    answers = [one for one in events if isinstance(one, Answer)]
    assert answers == [events[-1]]
    assert "".join(one.text for one in events if isinstance(one, Text)) == answers[0].text


def test_sixty_four_gpus_get_the_basepod_pair_and_the_articles_verdict(english: Answer) -> None:
    assert (english.kind, english.language) == ("decision", "en")
    assert english.verdict is not None
    assert english.verdict.choice == "roce"
    assert english.verdict.would_flip
    assert {one.provenance for one in english.verdict.reasons} >= {"article", "calculator"}
    for fabric in ("infiniband", "roce"):
        size = values(english, "size", fabric)
        # DGX BasePOD (RA-11127 V5): 8 nodes on two switches back to back, 32 links between them
        assert (size["leaf_switches"], size["spine_switches"]) == (2, 0)
        assert (size["node_leaf_links"], size["leaf_spine_links"]) == (64, 32)


def test_both_fabrics_have_cost_power_and_time_as_ranges(english: Answer) -> None:
    for fabric in ("infiniband", "roce"):
        cost = next(one for one in english.calculations if one["tool"] == "cost" and one["label"] == fabric)["values"]
        for name in ("capex_usd", "tco_usd"):
            assert cost[name]["low"] < cost[name]["value"] < cost[name]["high"]
        assert 0 < cost["power_typical_kw"]["value"] <= cost["power_max_kw"]["value"]
        time = next(one for one in english.calculations if one["tool"] == "collective" and one["label"] == fabric)[
            "values"
        ]["time_us"]
        assert time["low"] < time["value"] < time["high"]
    assert english.spec["message_bytes"] == 2**30


def test_chinese_gives_the_same_figures(english: Answer, chinese: Answer) -> None:
    assert chinese.language == "zh"
    assert chinese.verdict is not None and english.verdict is not None
    assert chinese.verdict.choice == english.verdict.choice
    for one, other in zip(english.calculations, chinese.calculations, strict=True):
        assert (one["tool"], one["label"], one["values"], one["inputs"]) == (
            other["tool"],
            other["label"],
            other["values"],
            other["inputs"],
        )
    assert {citation.document for citation in chinese.citations} == {
        citation.document.replace(".en.", ".zh.") for citation in english.citations
    }


@pytest.mark.parametrize(
    "question",
    [
        EN,
        ZH,
        "What does RoCE cost for 256 GPUs?",
        "How does InfiniBand stay lossless?",
        "PFC死锁是什么？",
        "InfiniBand or RoCE?",
        "512卡需要多少台交换机？",
        "Why is my RoCE all-reduce so slow?",
    ],
)
def test_every_number_is_traced_and_every_marker_has_its_source(advisor: Advisor, question: str) -> None:
    answer = advisor.answer(question)
    assert answer.grounding.unsupported == ()
    assert answer.grounding.contradictions == ()
    assert answer.grounding.numbers_checked == len(figures_in(answer.text))
    markers = [int(number) for number in re.findall(r"\[(\d+)\]", answer.text)]
    assert markers
    assert list(dict.fromkeys(markers)) == [citation.marker for citation in answer.citations]
    for citation in answer.citations:
        assert advisor.library.text(citation.document_id)[citation.start : citation.end] == citation.passage
        assert citation.sources


def test_a_follow_up_changes_only_the_scale(advisor: Advisor, english: Answer) -> None:
    for follow_up in ("What about 512?", "那512卡呢？"):
        answer = advisor.answer(follow_up, [english])
        assert answer.kind == "decision"
        assert answer.spec == {**english.spec, "gpus": 512}
        size = values(answer, "size", "infiniband")
        assert (size["leaf_switches"], size["spine_switches"]) == (16, 8)  # NVIDIA RA-11333, two units


def test_an_edited_assumption_changes_the_figures(advisor: Advisor, english: Answer) -> None:
    answer = advisor.answer(EN, changes={"years": 3})
    assert answer.spec["years"] == 3
    assert float(values(answer, "cost", "roce")["tco_usd"]) < float(values(english, "cost", "roce")["tco_usd"])  # type: ignore[arg-type]
    assert "years" not in {one.field for one in answer.assumptions}
    assert "years" in {one.field for one in english.assumptions}


@pytest.mark.parametrize(
    "question",
    ["What's the weather?", "How do I cook rice?", "今天天气怎么样？", "Who won the world cup in 2022?"],
)
def test_other_subjects_are_declined_without_a_source(advisor: Advisor, question: str) -> None:
    answer = advisor.answer(question)
    assert answer.kind == "out_of_scope"
    assert (answer.citations, answer.calculations, answer.verdict) == ((), (), None)
    assert answer.follow_ups


@pytest.mark.parametrize(
    "question",
    [
        "What does the ConnectX-9 cost?",
        "ConnectX-9什么时候发布？",
        "How do I configure zoning on a Brocade Fibre Channel switch?",
        "Which colour are the latches of the NX9917 RoCE NIC?",
    ],
)
def test_about_a_product_that_no_document_names_nothing_is_known(advisor: Advisor, question: str) -> None:
    answer = advisor.answer(question)
    assert answer.kind == "no_evidence"
    assert question in answer.text  # it says what it searched for
    assert answer.citations == ()


def test_without_a_scale_one_question_is_asked_with_defaults(advisor: Advisor) -> None:
    answer = advisor.answer("InfiniBand or RoCE?")
    assert answer.kind == "clarification"
    assert "How many GPUs?" in answer.text
    assert answer.follow_ups == (
        "RoCE vs IB for a 64-GPU cluster",
        "RoCE vs IB for a 512-GPU cluster",
        "RoCE vs IB for a 4096-GPU cluster",
    )
    assert advisor.answer("512", [answer]).kind == "decision"


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("RoCE or IB for 0 GPUs?", "0"),
        ("RoCE or IB for -5 GPUs?", "-5"),
        ("RoCE or IB for 10 million GPUs?", "10,000,000"),
        ("64 GPUs RoCE or IB over 900 years", "900"),
    ],
)
def test_impossible_clusters_get_one_line_with_a_remedy(advisor: Advisor, question: str, part: str) -> None:
    with pytest.raises(AdvisorError) as caught:
        advisor.answer(question)
    assert part in str(caught.value)
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


def test_a_cluster_past_the_default_switch_gets_a_larger_one(advisor: Advisor) -> None:
    answer = advisor.answer("RoCE or InfiniBand for 100,000 H100 GPUs?")
    size = values(answer, "size", "infiniband")
    assert size["radix"] == 144  # 64 ports end at 65,536 GPUs in three tiers, 144 at 746,496
    assert answer.verdict is not None


def test_naas_is_offered_as_what_it_is(advisor: Advisor) -> None:
    answer = advisor.answer("48 GPUs in a hybrid cloud, no network team: RoCE, InfiniBand or NaaS?")
    assert answer.verdict is not None
    assert answer.verdict.choice == "naas"
    assert "not a fabric between GPUs" in answer.text


def test_an_answer_survives_json(english: Answer) -> None:
    assert Answer.from_json(english.to_json()) == english


def test_a_configuration_question_gets_the_lossless_calculator(advisor: Advisor) -> None:
    answer = advisor.answer("What does 1e-4 packet loss do to RoCE at 400G?")
    values = next(one for one in answer.calculations if one["tool"] == "lossless")["values"]
    assert values["packets_in_flight"]["value"] == pytest.approx(122.07, abs=0.05)  # 400 Gb/s x 10 us / 4 KiB
    assert "go-back-N efficiency at this loss: 98.8 % (T1)" in answer.text  # 0.9999 / (0.9999 + 0.0001 x 122)
    assert answer.grounding.unsupported == ()
    chinese = advisor.answer("NCCL_IB_TC=106 对应哪个 DSCP？")
    assert "DSCP：26（T1）" in chinese.text  # 106 >> 2
