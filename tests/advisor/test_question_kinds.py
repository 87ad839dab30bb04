"""Kinds of questions that were read wrong once, each beside a neighbour that must stay as it is."""

import pytest

from app.advisor.advisor import Advisor
from app.advisor.question import read_question
from app.advisor.workload_question import ModelNames
from tests.advisor.test_question import MODELS, SWITCHES, earlier, read

JOBS = ModelNames({"llama3-70b": 70.6})


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        # packets that drop are a fault, what a drop does is to be explained
        ("Two leafs drop packets since we added a rack", "diagnosis"),
        ("We are losing packets on the RoCE fabric", "diagnosis"),
        ("RoCE网络丢包怎么办", "diagnosis"),
        ("交换机上有丢包，从哪查", "diagnosis"),
        ("What happens to RoCE when it loses a packet?", "explanation"),
        ("RoCE丢包会怎样？", "explanation"),
        ("Why must RoCE never drop packets?", "explanation"),
        # "only", "hang on" are no faults by themselves
        ("Is InfiniBand the only option for 512 H100s?", "decision"),
        ("How many GPUs hang on one QM9700?", "explanation"),
        ("busbw is only 20 GB/s on 2 nodes", "diagnosis"),
        ("NCCL hangs on start", "diagnosis"),
        # another subject than the choice
        ("64 H100 nodes: should storage share the compute fabric?", "explanation"),
        ("512卡，存储网络要不要和计算网分开", "explanation"),
        ("1000张H100分租给50个客户，网络上怎么隔离", "explanation"),
        ("RoCE or IB for 512 GPUs? tenants have to be isolated", "decision"),
        ("512卡选IB还是RoCE？存储单独组网", "decision"),
        # whether a speed will do
        ("每卡200G够不够？128张A100做微调", "performance"),
        ("Is 200G per GPU enough for 128 A100s?", "performance"),
        ("RoCE够不够用？128张A100", "decision"),
        # a job that ends by itself is a fault
        ("job dies after a while on our RoCE pods, any idea?", "diagnosis"),
        ("RoCE上任务跑着跑着就挂了", "diagnosis"),
        ("What does a failed job cost on 512 GPUs?", "cost"),
        ("Since we run Ethernet everywhere, RoCE for 512 H100s?", "decision"),
        ("What does RoCE for 512 GPUs cost?", "cost"),
        # electricity
        ("InfiniBand和RoCE哪个更省电，1024张H100", "cost"),
        ("8 racks of NVL72, what does it need in leaf and spine switches?", "sizing"),
    ],
)
def test_kind(text: str, kind: str) -> None:
    assert read(text).kind == kind


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("问一下：512卡IB比RoCE贵多少钱", {"gpus": 512}),
        ("at 2:1 for 256 GPUs", {"gpus": 256, "oversubscription": 2.0}),
        ("两个pod，每个512张B200，要多少台SN5600", {"gpus": 1024}),
        ("I rent 2,048 H100s out to 40 tenants", {"gpus": 2048, "tenancy": "multi"}),
        ("1000张H100分租给50个客户", {"gpus": 1000, "tenancy": "multi"}),
        ("512 GPUs, no cost limit", {"budget": "ample"}),
        ("128 H100s and AWS for the peaks", {"gpus": 128, "hybrid": True}),
        ("本地机房128张卡，阿里云上还有一部分任务", {"gpus": 128, "hybrid": True}),
        ("128 GPUs, and we hire two network engineers", {"gpus": 128, "network_team": "strong"}),
        ("2048张H100，三个月内必须上线", {"time_to_market": "urgent"}),
        ("512张H100，三个月内平均故障几次", {"time_to_market": None}),
        ("1024张H100一年电费差多少", {"gpus": 1024, "years": 1}),
        ("64 nodes of 8 H100, checkpoints want 200 GB/s", {"gpus": 512, "gbps_per_gpu": 400}),
        ("64 nodes of 8 H100 at 200 Gb/s per GPU", {"gpus": 512, "gbps_per_gpu": 200}),
        ("ten servers of 8 L40S, two 200G NICs a server", {"gpus": 80, "gbps_per_gpu": 50, "nics_per_gpu": 0.25}),
        ("64 H100s, 8x400G per node", {"gpus": 64, "gbps_per_gpu": 400, "nics_per_gpu": 1.0}),
    ],
)
def test_fields(text: str, fields: dict[str, object]) -> None:
    spec = read(text).spec.to_json()
    assert {name: spec[name] for name in fields} == fields


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("512 GPUs, training on Huawei Cloud is not an option", "hybrid"),
        ("128 GPUs, our customers are banks", "tenancy"),
        ("128 GPUs, we cannot hire network engineers", "network_team"),
    ],
)
def test_what_is_not_said(text: str, field: str) -> None:
    assert getattr(read(text).spec, field) in (None, False, "none")


def test_nics_of_another_server_later_are_no_longer_shared() -> None:
    before = earlier(gpus=80, gbps_per_gpu=50, nics_per_gpu=0.25)
    assert read("and with 400G per GPU?", before).spec.nics_per_gpu == 1.0


def test_tokens_of_a_model_are_a_training() -> None:
    asked = read_question(
        "How many days for 2T tokens of a 70B llama on 512 H100?", gpu_models=MODELS, switches=SWITCHES, models=JOBS
    )
    assert (asked.job, asked.spec.model, asked.spec.train_tokens) == ("training", "llama3-70b", 2e12)


@pytest.mark.parametrize("text", ["推荐一款打3A游戏的显卡，三千块以内", "显卡推荐，两千块钱"])
def test_cards_for_games_are_not_ours(text: str) -> None:
    assert not read(text).in_domain


def test_shared_nics_are_sized_by_their_ports(advisor: Advisor) -> None:
    answer = advisor.answer("RoCE or IB for ten servers of 8 H100, two 200G NICs a server?")
    sizes = [one for one in answer.calculations if one["tool"] == "size"]
    assert {one["values"]["node_leaf_links"]["value"] for one in sizes} == {20}  # 10 servers of 2 ports
    collective = next(one for one in answer.calculations if one["tool"] == "collective")
    assert (collective["inputs"]["nics_per_node"], collective["inputs"]["nic_gbps"]) == (2, 200)


def test_length_behind_a_chinese_verb(advisor: Advisor) -> None:
    answer = advisor.answer("400G端口拉100米光纤，PFC headroom要留多少")
    headroom = next(one for one in answer.calculations if one["tool"] == "lossless")
    assert headroom["values"]["bytes_on_cable"]["value"] == pytest.approx(2 * 100 * 5.05e-9 * 50e9, rel=0.01)
