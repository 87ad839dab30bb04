"""What is of our field: tools and counters of a fabric are, other people's deadlocks, cables and trainings are not."""

import pytest

from app.advisor.question import read_question

OURS = """
perfquery shows SymbolErrorCounter growing
ibdiagnet reports bad ports
what does mlnx_qos -i eth0 show?
show_gids prints nothing
opensm keeps restarting
pfcwd show stats
which CNP counters matter?
what is a rail?
lldpad vs dcbx?
smpquery nodeinfo
ethtool -S shows rx_discards_phy
符号错误一直增加
误码率高怎么查
光衰太大怎么办
链路闪断怎么定位
PFC帧一直在涨
PFC死锁怎么排查
should we invest in 800G optics now?
512卡集群网络总投资多少
our office has 4 DGX, do we need IB?
学校机房有32张卡，选什么网络
self-driving company, 256 GPUs in a training cluster, IB or RoCE?
Kubernetes network policy and RDMA on our GPU nodes
"""
OTHERS = """
SQL Server deadlock, how do I fix it?
MySQL 死锁怎么排查
java deadlock between threads
RJ45 cabling for the office, which category?
公司网络很慢怎么办
Stable Diffusion 显存不够怎么办
显卡驱动装不上
best gaming GPU 2026
should I buy NVIDIA stock?
is NVIDIA a good investment now?
英伟达股票能买吗
write my resignation letter
帮我写一封辞职信
marathon training plan
how to train my dog
train timetable to Beijing
kubernetes network policy
VPN 连不上
our leaf blower is broken
write a python script to sort a list
"""


@pytest.mark.parametrize("text", OURS.strip().splitlines())
def test_a_question_of_the_field_is_let_in(text: str) -> None:
    assert read_question(text, gpu_models=("h100",)).in_domain


@pytest.mark.parametrize("text", OTHERS.strip().splitlines())
def test_a_near_miss_is_not(text: str) -> None:
    assert not read_question(text, gpu_models=("h100",)).in_domain


@pytest.mark.parametrize(
    "text",
    [
        *("quantum entanglement", "rail ticket to Paris", "leaf vegetables", "autism spectrum", "link in bio"),
        *("SIM卡", "信用卡账单", "微服务调用链路慢", "区块链节点怎么搭", "Who is the CEO of Arista Networks?"),
    ],
)
def test_one_word_that_others_share_is_not_enough(text: str) -> None:
    assert not read_question(text, gpu_models=("h100",)).in_domain


@pytest.mark.parametrize(
    "text", ["which network is best for AI?", "spectrum and quantum switches", "网络链路抖动", "训练时网络带宽不够"]
)
def test_two_of_them_are(text: str) -> None:
    assert read_question(text, gpu_models=("h100",)).in_domain
