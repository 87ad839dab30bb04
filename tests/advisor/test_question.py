"""How questions are read, without a library or a model."""

import pytest

from app.advisor.answer import Answer, Assumption
from app.advisor.question import Question, clean, detect_language, read_question
from app.advisor.spec import ClusterSpec
from app.errors import AdvisorError

MODELS = ("a100", "h100", "h200", "b200", "b300", "gb200", "h20", "mi300x")
SWITCHES = {"qm9700": ("qm9700", "infiniband"), "sn5600": ("sn5600", "roce")}


def read(text: str, *history: Answer) -> Question:
    return read_question(text, history, gpu_models=MODELS, switches=SWITCHES)


def earlier(kind: str = "decision", **spec: object) -> Answer:
    return Answer("earlier", "en", kind, ClusterSpec().changed(spec).to_json(), None, "text")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("RoCE vs IB for a 64-GPU cluster", "decision"),
        ("64卡集群用RoCE还是InfiniBand？", "decision"),
        ("InfiniBand or RoCE?", "decision"),
        ("万卡集群选什么网络", "decision"),
        ("对于小于100卡的GPU集群，有必要上InfiniBand吗？", "decision"),
        ("How many switches do I need for 512 H100s on RoCE?", "sizing"),
        ("512卡RoCE需要多少台交换机？", "sizing"),
        ("What does InfiniBand cost for 256 GPUs over 3 years?", "cost"),
        ("选择InfiniBand方案，总成本会比RoCE高多少？", "cost"),
        ("How long does a 1 GiB all-reduce take on 64 H100s?", "performance"),
        ("How much slower is RoCE than InfiniBand?", "performance"),
        ("RoCE和InfiniBand最大的区别是什么？", "comparison"),
        ("How does InfiniBand stay lossless?", "explanation"),
        ("PFC死锁是什么？", "explanation"),
        ("Why is my RoCE all-reduce only 20 GB/s?", "diagnosis"),
        ("How should I configure PFC on a Spectrum switch?", "configuration"),
        ("NCCL_IB_GID_INDEX 怎么设置", "configuration"),
        ("NaaS可以替代InfiniBand吗？", "explanation"),
        ("What would the switches alone come to for 1,024 H100s on Quantum-2 and on SN5600?", "cost"),
        ("512卡，IB和RoCE三年的总成本各多少", "cost"),
        ("12,000 B200s. Time to train is what counts. IB or Ethernet?", "decision"),
        ("Is busbw the same as algbw?", "explanation"),
        ("busbw和algbw是啥关系", "explanation"),
        ("how do I get mlnx_qos to trust dscp and put pfc on priority 3", "configuration"),
        ("Spectrum交换机上怎么给RoCE开PFC和ECN", "configuration"),
        ("RDMA为什么能绕过内核，跟普通网卡差在哪", "explanation"),
        ("为什么RoCE这么差", "diagnosis"),
    ],
)
def test_kind(text: str, kind: str) -> None:
    assert read(text).kind == kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RoCE vs IB for a 64-GPU cluster", {"gpus": 64}),
        ("16 nodes of 8 B200, which network?", {"gpus": 128, "gpus_per_node": 8, "gpu_model": "b200"}),
        ("31 DGX H100 nodes: how many leaf switches?", {"gpus": 248, "gpu_model": "h100"}),
        ("64台8卡服务器选什么网络", {"gpus": 512, "gpus_per_node": 8}),
        ("RoCE for 1.6万卡 H200", {"gpus": 16000, "gpu_model": "h200"}),
        ("InfiniBand NDR for 128 GPUs at 200G", {"gpus": 128, "gbps_per_gpu": 200}),
        ("XDR for 128 GPUs", {"gbps_per_gpu": 800}),
        ("TCO over 3 years for 256 GPUs", {"gpus": 256, "years": 3}),
        ("256卡三年TCO", {"gpus": 256, "years": 3}),
        ("4:1 oversubscription, 512 GPUs, RoCE or IB", {"oversubscription": 4.0}),
        ("PUE 1.2 and 0.11 USD/kWh, cost of 64 GPUs", {"pue": 1.2, "usd_per_kwh": 0.11}),
        (
            "256 MiB all-gather on 32 GPUs, how long?",
            {"message_bytes": 256 * 2**20, "operation": "all-gather", "gpus": 32},
        ),
        ("Is InfiniBand worth it for 32 GPUs with no network team?", {"network_team": "none"}),
        (
            "512 GPUs, strong network team, tight budget: which?",
            {"network_team": "strong", "budget": "tight"},
        ),
        ("512卡，没有网络团队，预算有限，选哪个", {"network_team": "none", "budget": "tight"}),
        ("64 GPUs in a hybrid cloud, which network", {"hybrid": True}),
        ("SN5600 for 512 GPUs, RoCE or IB?", {"roce_switch": "sn5600"}),
        ("how do 8-GPU nodes connect", {"gpus_per_node": 8}),
        ("0 GPUs, RoCE or IB?", {"gpus": 0}),
        ("-5 GPUs RoCE or IB?", {"gpus": -5}),
        ("RoCE or IB for 10 million GPUs", {"gpus": 10_000_000}),
        ("fewer than 100 GPUs: RoCE or IB?", {"gpus": 96}),
    ],
)
def test_spec(text: str, expected: dict[str, object]) -> None:
    spec = read(text).spec.to_json()
    assert {name: spec[name] for name in expected} == expected


@pytest.mark.parametrize(
    "text",
    ["How many H100 GPUs failed at Meta?", "Does RoCEv2 work?", "What is 400G?", "In 2026, is IB alive?"],
)
def test_numbers_in_names_and_years_are_no_cluster(text: str) -> None:
    assert read(text).spec.gpus is None
    assert read(text).spec.years == 5


@pytest.mark.parametrize("text", ["What about 512?", "那512卡呢？", "and 512 GPUs?", "512?", "换成512卡"])
def test_a_follow_up_changes_only_the_scale(text: str) -> None:
    before = earlier(gpus=64, years=3, network_team="strong")
    question = read(text, before)
    assert question.kind == "decision"
    assert question.spec == ClusterSpec().changed({"gpus": 512, "years": 3, "network_team": "strong"})
    assert {"gpus", "years", "network_team"} <= question.said


def test_a_follow_up_about_the_team_keeps_the_scale() -> None:
    question = read("What if we have no network team?", earlier(gpus=64))
    assert (question.kind, question.spec.gpus, question.spec.network_team) == ("decision", 64, "none")


def test_a_follow_up_with_an_intent_of_its_own_changes_the_kind() -> None:
    question = read("And what does it cost over 3 years?", earlier(gpus=64))
    assert (question.kind, question.spec.gpus, question.spec.years) == ("cost", 64, 3)


def test_an_answered_clarification_becomes_a_decision() -> None:
    question = read("256", earlier("clarification"))
    assert (question.kind, question.spec.gpus) == ("decision", 256)


def test_an_assumed_field_does_not_count_as_said() -> None:
    before = Answer(
        "q",
        "en",
        "decision",
        ClusterSpec().changed({"gpus": 64}).to_json(),
        None,
        "",
        assumptions=(Assumption("years", "5 years"),),
    )
    assert "years" not in read("What about 512?", before).said


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("RoCE vs IB", "en"),
        ("64卡集群用RoCE还是InfiniBand？", "zh"),
        ("RoCE vs IB 哪个好", "zh"),
        ("What does 无损 mean in a RoCE network?", "en"),
        ("PFC死锁", "zh"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text",
    ["What's the weather?", "How do I cook rice?", "今天天气怎么样？", "hello", "Who won the world cup?"],
)
def test_other_subjects_are_not_our_domain(text: str) -> None:
    assert not read(text).in_domain


@pytest.mark.parametrize("text", ["", "   ", "🙂🙂🙂", "\x00\x01\x02", "?!…"])
def test_a_question_without_words_is_refused(text: str) -> None:
    with pytest.raises(AdvisorError, match="no words") as caught:
        clean(text, 4000)
    assert caught.value.remedy


def test_a_question_of_100000_characters_is_refused() -> None:
    with pytest.raises(AdvisorError, match="100,000 characters; 4,000"):
        clean("x" * 100_000, 4000)


def test_control_characters_are_taken_out() -> None:
    assert clean("RoCE\x00 or\x1b IB?", 4000) == "RoCE  or  IB?"


def test_switches_in_the_plural_are_known() -> None:
    spec = read("keep my 40 SN5600s, add 256 H200s, 3:1 to the spine, what breaks?").spec
    assert (spec.gpus, spec.keep, spec.oversubscription, spec.gpu_model) == (256, "40x sn5600", 3.0, "h200")


@pytest.mark.parametrize(
    "text",
    [
        "We put in 4,096 H200s. Efficiency first, price a distant second. Which network would you sign off?",
        "The bank buys 48 eight-GPU servers. Cost matters as much as speed. Which option should the RFP prefer?",
        "一万张H100做基础大模型，训练效率要做到极致。网络选哪种？",
        "We own six dozen H100s. Is InfiniBand overkill? What should we buy?",
    ],
)
def test_a_choice_asked_for_in_so_many_words_outranks_what_is_wished(text: str) -> None:
    read_text = read(text)
    assert (read_text.kind, read_text.spec.gpus is not None) == ("decision", True)


def test_a_constraint_added_later_is_about_the_same_cluster() -> None:
    added = read("forgot to say: money is tight", earlier(gpus=1000))
    assert (added.kind, added.spec.gpus, added.spec.budget) == ("decision", 1000, "tight")
