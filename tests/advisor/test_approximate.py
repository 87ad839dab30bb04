"""Sizes that are only nearly said: what is calculated with, and that the answer says so."""

import pytest

from app.advisor.answer import Answer
from app.advisor.question import Question, read_question
from app.advisor.spec import ClusterSpec

MODELS = ("a100", "h100", "h200", "b200", "b300", "gb200", "gb300", "h20", "mi300x")


def read(text: str, *history: Answer) -> Question:
    return read_question(text, history, gpu_models=MODELS)


def told(question: Question) -> str:
    return " ".join(one.text.in_language(question.language) for one in question.notes)


@pytest.mark.parametrize(
    ("text", "gpus", "per_node"),
    [
        ("24 boxes, each packing 8 H100s: IB or RoCE?", 192, 8),
        ("24 boxes, each packing 8: IB or RoCE?", 192, 8),
        ("6 HGX trays with 8 H200 apiece, which network?", 48, 8),
        ("16 servers, each one has 4 cards. RoCE?", 64, 4),
        ("16 servers each with four L40S, RoCE or IB?", 64, 4),
        ("each of our 12 servers has 8 H200s. IB or RoCE?", 96, 8),
        ("8 servers with 2 CPUs and 8 GPUs each: RoCE or IB?", 64, 8),
        ("4 nodes, 8x400G each, 8 GPUs each: which network?", 32, 8),
        ("16 servers, 8 GPUs: RoCE or IB?", 128, 8),  # 8 GPUs do not fill 16 servers
        ("three 4-way boxes", 12, 4),
        ("16x8 H100, IB or RoCE?", 128, 8),
        ("128 nodes × 8: IB or RoCE?", 1024, 8),
        ("one 8xH100 node, do I need IB?", 8, 8),
        ("8卡×16台，用IB还是RoCE", 128, 8),
        ("16台8卡，选什么网络", 128, 8),
        ("每台8张，一共32台，选什么网络", 256, 8),
        ("32台服务器，每台插8张H800，选IB还是RoCE", 256, 8),
        ("二十台八卡机，选IB还是RoCE", 160, 8),
        ("4 rows of 8 racks, 4 servers a rack, 8 GPUs per server: which fabric?", 1024, 8),
        ("We have 4 rows of 8 racks with 4 8-GPU boxes each. IB or RoCE?", 1024, 8),
        ("30 racks with 32 GPUs per rack, IB or RoCE?", 960, 8),
        ("10*4*8 H100s, IB or RoCE", 320, 8),
        ("cluster of 64 (8x8) H100s: RoCE or IB?", 64, 8),
        ("4U servers, 8 GPUs, 16 of them. RoCE or IB?", 128, 8),
        ("16 of those 8-GPU boxes. RoCE or IB?", 128, 8),
        ("单机8卡，4机互联，IB还是RoCE", 32, 8),
        ("四机三十二卡，选什么网络", 32, 8),
        ("单机8张A100", 8, 8),
        ("10 racks × 4 nodes × 8 GPUs, IB or RoCE?", 320, 8),
        ("DGX H100 x 20, roce or ib", 160, 8),
        ("H100 ×128, IB还是RoCE", 128, 8),
        ("H100八卡服务器20台，IB还是RoCE", 160, 8),
        ("GPU count: 300. IB or RoCE?", 300, 8),
        ("每个机柜32张卡，一共10个机柜，选IB还是RoCE", 320, 8),
        ("3 pods of 128 GPUs, IB or RoCE?", 384, 8),
        ("Twelve racks, four HGX H100 per rack. Leaf and spine counts?", 384, 8),
        # totals beside a count of servers
        ("64 nodes (512 GPUs): RoCE or IB?", 512, 8),
        ("32 GPUs across 8 servers, RoCE or IB?", 32, 4),
        ("两台机器共16张卡", 16, 8),
        ("GPUs: 512, nodes: 64 — IB or RoCE?", 512, 8),
        ("RoCE or IB for 100 GPU servers?", 800, 8),
        ("how do 8-GPU nodes connect", None, 8),
        ("What does one GPU node cost?", 8, 8),
        ("1k GPUs: IB or RoCE", 1000, 8),
        ("千卡集群选IB还是RoCE", 1000, 8),
        ("万卡集群选什么网络", 10_000, 8),
    ],
)
def test_a_count_of_each_server_is_no_total(text: str, gpus: int | None, per_node: int) -> None:
    spec = read(text).spec
    assert (spec.gpus, spec.gpus_per_node) == (gpus, per_node)


@pytest.mark.parametrize(
    ("text", "gpus", "said"),
    [
        ("200-300 GPUs, RoCE or IB?", 300, "200 to 300"),
        ("between 200 and 300 GPUs: IB or RoCE?", 300, "200 to 300"),
        ("64 or 128 GPUs, RoCE or IB?", 128, "64 to 128"),
        ("between 1k and 2k GPUs, IB or RoCE?", 2000, "1,000 to 2,000"),
        ("one or two hundred GPUs: IB or RoCE?", 200, "100 to 200"),
        ("a hundred or so GPUs, RoCE?", 100, "100 or so"),
        ("500ish GPUs RoCE or IB", 500, "500ish"),
        ("RoCE vs IB at 64, 512 and 4096 GPUs", 4096, "64, 512, 4,096"),
        ("100-GPU cluster vs 1000-GPU cluster, which needs IB?", 100, "1,000"),
        ("between 8 and 16 nodes, RoCE or IB", 128, "8 to 16"),
        ("200到300张卡，用IB还是RoCE", 300, "200 到 300"),
        ("两三百张卡用什么网络", 300, "200 到 300"),
        ("several hundred GPUs: IB or RoCE?", 500, "several hundred"),
        ("a few hundred H100s, which fabric", 500, "a few hundred"),
        ("dozens of GPUs, RoCE or IB", 60, "dozens of"),
        ("hundreds of GPUs, RoCE or IB", 500, "hundreds of"),
        ("几百张卡用什么网络", 500, "几百"),
        ("数千卡集群用什么网络", 5000, "数千"),
        ("几十张卡选什么网络", 50, "几十"),
        ("about 500 GPUs: which network?", 500, "about 500"),
        ("500张卡左右，选哪个", 500, "左右"),
        ("一千多张卡选什么", 1000, "一千多"),
        ("up to 512 GPUs: IB or RoCE?", 512, "up to 512"),
        ("1000+ GPUs: IB or RoCE", 1000, "1000+"),
        ("more than 1,000 GPUs: IB or RoCE?", 1000, "more than 1000"),
        ("now 64 GPUs, 512 next year: IB or RoCE?", 512, "64 GPUs today"),
        ("We start with 128 GPUs and grow to 1,024 within two years. Which network?", 1024, "128 GPUs today"),
        ("8 nodes today, 32 nodes next year. IB or RoCE?", 256, "64 GPUs today"),
        ("512 cards now, doubling next year. IB or RoCE?", 1024, "512 GPUs today"),
        ("我们现在64卡，明年扩到512卡，IB还是RoCE", 512, "目前 64"),
        ("We're at 96 GPUs today and will be at 768 by next summer. Which fabric?", 768, "96 GPUs today"),
        ("32 GPUs now, 128 this time next year, RoCE?", 128, "32 GPUs today"),
        ("2 clusters of 256 GPUs: IB or RoCE?", 256, "512"),
        ("three sites with 64 GPUs each, which network", 64, "192"),
        ("两个集群各256卡，选IB还是RoCE", 256, "512"),
        ("128 H100s and 64 A100s: RoCE or IB?", 192, "two kinds"),
        ("20 racks of H100 servers, RoCE or IB?", None, "Racks"),
        ("半个机柜的H100选什么网络", None, "机柜"),
        ("2 servers, 8 GPUs: RoCE or IB?", 8, "4 a server"),
        ("512 GPUs in 32 servers of 8: RoCE or IB?", 512, "hold 256"),
    ],
)
def test_what_was_taken_is_said(text: str, gpus: int | None, said: str) -> None:
    question = read(text)
    assert question.spec.gpus == gpus
    assert said in told(question)


def test_the_date_of_a_later_size_is_no_number_of_years() -> None:
    assert read("We start with 128 GPUs and grow to 1,024 within two years. Which network?").spec.years == 5
    assert read("128 GPUs, 3 years, grow to 1,024 within two years. TCO?").spec.years == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("500 GPUs at €0.12/kWh: what does it cost?", "€0.12"),
        ("512卡，一度电八毛钱，三年TCO多少", "八毛"),
        ("512 GPUs, budget $3M for the network: IB or RoCE?", "$3m"),
        ("512卡，预算两千万元，IB还是RoCE", "两千万元"),
        ("64 L40S cards: RoCE or IB?", "L40S"),
    ],
)
def test_what_is_not_calculated_with_is_said(text: str, said: str) -> None:
    assert said in told(read(text))


@pytest.mark.parametrize(
    "text",
    ["RoCE or IB for 512 GPUs?", "500 GPUs at $0.12/kWh: cost?", "512卡，一度电0.08美元，TCO多少", "64卡用IB还是RoCE"],
)
def test_a_plain_question_needs_no_note(text: str) -> None:
    assert read(text).notes == ()


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("three times that", 384),
        ("10 times as many", 1280),
        ("what about triple that?", 384),
        ("三倍呢", 384),
        ("翻三倍", 384),
        ("add 64 more", 192),
        ("64 fewer", 64),
        ("再加64张", 192),
        ("a quarter of that", 32),
    ],
)
def test_sizes_said_by_the_size_before(text: str, gpus: int) -> None:
    before = Answer("q", "en", "decision", ClusterSpec().changed({"gpus": 128}).to_json(), None, "t")
    assert read(text, before).spec.gpus == gpus
