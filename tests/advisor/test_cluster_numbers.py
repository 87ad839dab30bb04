"""How many GPUs people mean, in the ways they say it; and what electricity costs."""

import pytest

from app.advisor.answer import Answer
from app.advisor.question import Question, read_question
from app.advisor.spec import ClusterSpec

MODELS = ("a100", "h100", "h200", "b200", "b300", "gb200", "gb300", "h20", "mi300x")
SWITCHES = {"qm9700": ("qm9700", "infiniband"), "sn5600": ("sn5600", "roce")}


def read(text: str, *history: Answer) -> Question:
    return read_question(text, history, gpu_models=MODELS, switches=SWITCHES)


def earlier(kind: str = "decision", **spec: object) -> Answer:
    return Answer("earlier", "en", kind, ClusterSpec().changed(spec).to_json(), None, "text")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        # product names count nothing
        ("QM9700 × 512 cards, how many switches?", 512),
        ("SN5600 for 256 GPUs", 256),
        ("ConnectX-7 and 128 H100s", 128),
        ("Spectrum-4, 64 GPUs", 64),
        ("用SN5600组2048卡", 2048),
        ("7060X6-64PE with 1024 GPUs", 1024),
        # servers and racks
        ("4 racks of 8 HGX H100 boxes each", 256),
        ("two racks, each with four 8-GPU servers", 64),
        ("2 racks x 4 nodes", 64),
        ("three 8-way GPU servers have been approved", 24),
        ("twelve servers with eight GPUs each", 96),
        ("two HGX H100", 16),
        ("32 DGX boxes", 256),
        ("16 台 DGX H100", 128),
        ("a couple of HGX boxes", 16),
        ("20 nodes, 4 GPUs per node", 80),
        ("a dozen DGX systems", 96),
        ("两个机柜，每柜放4台8卡H100", 64),
        ("3个机柜，每个机柜8台服务器，每台8卡", 192),
        ("144台B300服务器，一台8卡", 1152),
        ("3台8卡服务器", 24),
        ("32台8卡机器走IB", 256),
        ("十六台8卡H100服务器", 128),
        ("我们有16台服务器，每台装8张H100", 128),
        ("20台4卡的机器", 80),
        ("4 GB200 NVL72 racks", 288),
        ("一个NVL72机柜", 72),
        ("two NVL72 racks", 144),
        # number words and rounding
        ("half a thousand cards", 500),
        ("a couple hundred GPUs", 200),
        ("a thousand GPUs", 1000),
        ("five hundred and twelve H100s", 512),
        ("eight thousand one hundred ninety-two H100s", 8192),
        ("五百来张卡", 500),
        ("三百多张卡", 300),
        ("五百张左右的卡", 500),
        ("近千张卡", 1000),
        ("上千卡的集群", 1000),
        ("一千零二十四卡", 1024),
        ("万卡集群", 10_000),
        ("1.6k GPUs", 1600),
        ("under 100 cards", 96),
        # corrections
        ("Size me a fabric for 128, sorry, I mean 256 GPUs.", 256),
        ("256 GPUs, not 128", 256),
        ("不是128卡，是256卡", 256),
    ],
)
def test_the_size_of_the_cluster(text: str, gpus: int) -> None:
    assert read(text).spec.gpus == gpus


@pytest.mark.parametrize(
    "text",
    [
        "How many QM9700 switches do I need?",
        "需要3台QM9700吗",
        "two spine switches and four leaf switches",
        "400G or 800G?",
        "one of our servers is slow",
    ],
)
def test_no_size_is_made_up(text: str) -> None:
    assert read(text).spec.gpus is None


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("sorry, 256 not 128", 256),
        ("no, 512", 512),
        ("I meant 96", 96),
        ("我说错了，应该是 512", 512),
        ("说错了，是256卡，不是128", 256),
        ("不对，是1024", 1024),
        ("half that?", 64),
        ("ok and if we go down to half that?", 64),
        ("double it", 256),
        ("twice as many?", 256),
        ("减半呢", 64),
        ("翻倍呢？", 256),
        ("what about 300?", 300),
        ("make it 48", 48),
    ],
)
def test_corrections_and_parts_of_what_was_said(text: str, gpus: int) -> None:
    read_again = read(text, earlier(gpus=128))
    assert (read_again.spec.gpus, read_again.kind) == (gpus, "decision")


@pytest.mark.parametrize(
    ("text", "usd"),
    [
        ("power is 12 cents a kWh", 0.12),
        ("9¢/kWh", 0.09),
        ("$0.08 per kWh", 0.08),
        ("0.11 dollars per kilowatt-hour", 0.11),
        ("电费每度9美分", 0.09),
        ("电价0.07美元/度", 0.07),
        ("每度电0.1美元", 0.1),
        ("电价0.08美元一度", 0.08),
        ("electricity is $0.10", 0.1),
        ("电价7美分", 0.07),
        ("electricity of $40,000 a month", None),  # a bill, no price
        ("一度电6毛", None),  # yuan: no rate of exchange is known here
        ("0.6元/度", None),
    ],
)
def test_the_price_of_electricity(text: str, usd: float | None) -> None:
    assert read(f"cost for 64 GPUs, {text}").spec.usd_per_kwh == usd


def test_the_gpus_of_a_node() -> None:
    assert read("20 nodes, 4 GPUs per node").spec.gpus_per_node == 4
    assert read("4 GB200 NVL72 racks").spec.gpus_per_node == 4  # a compute tray, which holds the NICs
    assert read("144台B300服务器，一台8卡").spec.gpus_per_node == 8


@pytest.mark.parametrize("text", ["€0.2/kWh", "£0.18 per kWh", "¥0.7/kWh", "0.2 euros per kWh", "每度电0.65元"])
def test_other_currencies_are_not_taken_for_dollars(text: str) -> None:
    assert read(f"cost for 64 GPUs, {text}").spec.usd_per_kwh is None


@pytest.mark.parametrize(
    ("text", "gpus"), [("CE9860 × 256卡", 256), ("N9364E-SG2 x 256 GPUs", 256), ("ZXR9900 * 64 cards", 64)]
)
def test_an_unknown_product_before_a_times_sign_counts_nothing(text: str, gpus: int) -> None:
    assert read(text).spec.gpus == gpus


@pytest.mark.parametrize(
    ("text", "gpus"),
    [("8台H100测出来busbw 386，可一张网卡400G才50GB/s啊", 64), ("每台8张网卡，64张H100", 64), ("一块网卡坏了", None)],
)
def test_network_cards_are_no_gpus(text: str, gpus: int | None) -> None:
    assert read(text).spec.gpus == gpus
