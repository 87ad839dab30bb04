"""`fabric-advisor lossless` as a shell sees it, and the questions that call for the calculator."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from app.advisor.lossless_evidence import lossless_calculations
from app.advisor.spec import ClusterSpec
from app.cli import cli
from app.errors import AdvisorError
from app.lossless_data import load_lossless

DATA = load_lossless(Path(__file__).parent.parent / "knowledge")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["lossless", *arguments])


def answer(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def test_the_contract() -> None:
    """Values of the terms, ranges of the thresholds, rows of every part, one object."""
    data = answer("--gbps", "400", "--cable-m", "40", "--switch-family", "spectrum-4", "--dscp", "26", "--loss", "1e-3")
    assert set(data) >= {"tool", "inputs", "values", "assumptions", "sources", "rows"}
    assert data["tool"] == "lossless" and data["inputs"]["gbps"] == 400 and data["inputs"]["mtu"] == 9216
    values = {name: value["value"] for name, value in data["values"].items()}
    assert (values["bytes_on_cable"], values["peer_response_bytes"]) == (20_202, 57_920)
    assert (values["headroom_xoff_bytes"], values["nccl_ib_tc"]) == (117_760, 104)
    assert values["go_back_n_efficiency"] == pytest.approx(0.891, abs=0.001)
    kmax = data["values"]["ecn_kmax_bytes"]
    assert isinstance(kmax["value"], str) and kmax["low"] < kmax["high"]
    assert {row["part"] for row in data["rows"]} == {"headroom", "ecn", "priority", "loss", "nccl"}
    assert all(source["date"] and source["trust"] for source in data["sources"])


def test_chinese_assumptions_and_one_language_of_notes_in_text() -> None:
    data = answer("--gbps", "100", "--cable-m", "5", "--language", "zh")
    assert data["assumptions"][0].startswith("Headroom 取决于交换芯片")
    text = run("--gbps", "100", "--cable-m", "5", "--language", "zh").output
    assert "note_zh" not in text and "一条命令" in text and "One command" not in text
    english = run("--gbps", "400", "--cable-m", "5", "--pause-point", "2000000").output
    assert "Does not hold at a pause point of 2,000,000 B" in english and "一条命令" not in english


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--gbps", "300", "--cable-m", "5"), "gbps cannot be 300"),
        (("--gbps", "400", "--cable-m", "0"), "cable_m cannot be 0"),
        (("--gbps", "400", "--cable-m", "5", "--switch-family", "x"), "spectrum-4"),
        (("--gbps", "400", "--cable-m", "900", "--switch-family", "tomahawk-5"), "No shipped table"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments)
    assert isinstance(done.exception, AdvisorError)
    assert words in str(done.exception) and "\n" not in str(done.exception) and done.exception.remedy


def asked(text: str, spec: ClusterSpec | None = None) -> dict[str, dict[str, Any]]:
    found = lossless_calculations(text, spec or ClusterSpec(), DATA)
    return {one.label: one.to_json() for one in found}


@pytest.mark.parametrize(
    ("text", "xoff", "gbps", "cable_m"),
    [
        ("How much PFC headroom does a 400G port with 40 m of cable need on Tomahawk 5?", 446_024, 400, 40),
        ("Z9864F 上 400G、300 米光纤需要多少 PFC headroom？", 839_216, 400, 300),
        ("lossless buffer for 800 Gb/s over 5 metres on a TH5 switch", 729_488, 800, 5),
        ("Spectrum-4 交换机 400G 40m 的 PFC 缓存要多大？", 117_760, 400, 40),
        ("RoCE 无损配置：SN5600，400Gbps，40 m", 117_760, 400, 40),
        # 1,024 + (9,216 + 126,263 + 819 + 25,216) * (1 + 128/544) = 200,541 B
        ("What xoff should I use for 1 km at 100G on Spectrum-2?", 200_704, 100, 1000),
    ],
)
def test_questions_of_headroom(text: str, xoff: int, gbps: int, cable_m: float) -> None:
    found = asked(text)
    assert list(found) == ["headroom"]
    assert found["headroom"]["values"]["headroom_xoff_bytes"]["value"] == xoff
    assert (found["headroom"]["inputs"]["gbps"], found["headroom"]["inputs"]["cable_m"]) == (gbps, cable_m)


@pytest.mark.parametrize(
    ("text", "dscp"),
    [
        ("What DSCP is NCCL_IB_TC=106?", 26),
        ("NCCL_IB_TC 设为 236 对应哪个 DSCP？", 59),
        ("traffic class of 106: which DSCP?", 26),
        ("DSCP 26 的流量类别是多少？", 26),
    ],
)
def test_questions_of_dscp(text: str, dscp: int) -> None:
    assert asked(text)["priority"]["values"]["roce_dscp"]["value"] == dscp


@pytest.mark.parametrize(
    "text",
    [
        "Which ECN thresholds do vendors use at 400G?",
        "ECN 的 Kmin 和 Kmax 阈值怎么设？",
        "recommended WRED values for RoCE",
    ],
)
def test_questions_of_thresholds(text: str) -> None:
    assert asked(text)["ecn"]["values"]["ecn_kmin_bytes"]["low"] == 131_072


def test_loss_in_percent_and_with_an_exponent() -> None:
    for text in ("go-back-N at 0.1% packet loss", "Go-Back-N 在 1e-3 丢包时的效率"):
        assert asked(text)["loss"]["values"]["go_back_n_efficiency"]["value"] == pytest.approx(0.891, abs=0.001)


def test_what_is_assumed_is_said() -> None:
    found = asked("How large must the PFC headroom be?", ClusterSpec(gbps_per_gpu=800))
    assert found["headroom"]["inputs"]["gbps"] == 800
    assert found["headroom"]["assumptions"][:2] == [
        "No link speed was given: 800G assumed.",
        "No cable length was given: 40 m assumed.",
    ]


def test_a_family_without_data_gives_the_others_and_says_so() -> None:
    found = asked("PFC headroom of Tomahawk 5 at 100G and 40 m")
    assert found["headroom"]["assumptions"][0].startswith("No headroom is published for Broadcom Tomahawk 5 at 100G")
    assert found["headroom"]["inputs"]["switch_family"] is None


@pytest.mark.parametrize(
    "text",
    [
        "InfiniBand or RoCE for 64 GPUs?",
        "How many switches for 512 GPUs at 400G?",
        "How long can a 400G DAC be, 3 m?",
        "What is PFC?",
        "512 卡用 400G 网络要多少钱？",
        "How fast is an 8 GiB all-reduce on 64 GPUs?",
        "SHARP on Spectrum-X?",
        "RoCE all-reduce of 400 GB with buffers of 8M",  # bytes and mega, neither a speed nor a length
        "What if RoCE costs us a 5% loss of GPU time?",
        "How does ECN mark packets?",
    ],
)
def test_questions_of_other_things_get_nothing(text: str) -> None:
    assert asked(text) == {}


def test_a_speed_per_gpu_that_is_no_link() -> None:
    found = asked("PFC headroom?", ClusterSpec(gbps_per_gpu=1600))["headroom"]
    assert found["inputs"]["gbps"] == 400 and found["assumptions"][0] == "No link speed was given: 400G assumed."


def test_a_class_of_the_switch_is_no_traffic_class_byte() -> None:
    values = asked("How do I map DSCP 26 to TC 3 on SONiC?")["priority"]["values"]
    assert (values["roce_dscp"]["value"], values["nccl_ib_tc"]["value"]) == (26, 104)


def test_a_traffic_class_that_is_another_dscp() -> None:
    found = asked("Is NCCL_IB_TC=106 right for DSCP 46?")["priority"]
    assert found["values"]["roce_dscp"]["value"] == 26
    assert found["assumptions"][0] == "Traffic class 106 is not DSCP 46; that would be 184."


def test_a_dscp_that_does_not_exist() -> None:
    with pytest.raises(AdvisorError, match="63"):
        asked("which NCCL_IB_TC for DSCP 77?")
