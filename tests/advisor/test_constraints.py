"""What is denied is not taken as said: "the budget is not tight", "不担心厂商锁定", "anything but InfiniBand"."""

from pathlib import Path

import pytest

from app.advisor.constraints import constraints
from app.advisor.tools import load_rules
from app.advisor.vocabulary import vocabulary
from app.fabric.decision import Situation, decide


def said(text: str) -> dict[str, object]:
    return constraints(text, vocabulary()).fields


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("our budget is not tight", "budget", None),
        ("budget isn't tight", "budget", None),
        ("预算不紧张", "budget", None),
        ("预算紧张", "budget", "tight"),
        ("the budget is tight", "budget", "tight"),
        ("finance would rather not see another big invoice", "budget", "tight"),
        ("预算不足", "budget", "tight"),
        ("预算不限", "budget", "ample"),
        ("money is not the constraint", "budget", "ample"),
        ("we don't care about vendor lock-in", "avoid_lock_in", False),
        ("vendor lock-in is not an issue", "avoid_lock_in", False),
        ("a single vendor is fine with us", "avoid_lock_in", False),
        ("lock-in doesn't worry us", "avoid_lock_in", False),
        ("不担心厂商锁定", "avoid_lock_in", False),
        ("绑定英伟达也无所谓", "avoid_lock_in", False),
        ("担心厂商锁定", "avoid_lock_in", True),
        ("we want to avoid vendor lock-in", "avoid_lock_in", True),
        ("not hybrid, one room", "hybrid", False),
        ("不上云，不跨机房", "hybrid", False),
        ("a hybrid cloud", "hybrid", True),
        ("no multi-tenancy", "tenancy", "single"),
        ("不是多租户", "tenancy", "single"),
        ("we're not a Cisco shop", "ethernet_estate", False),
        ("no pre-training, only inference", "workload", "inference"),
        ("not only inference", "workload", "inference"),
        ("不在中国", "region", "elsewhere"),
        ("买不到英伟达的交换机", "supply", "constrained"),
        ("performance is not the priority", "priority", None),
        ("latency isn't critical", "priority", None),
        ("we want maximum performance", "priority", "performance"),
        ("成本不敏感", "priority", None),
        ("we don't lack a network team", "network_team", None),
        ("we do have a network team", "network_team", None),
        ("我们有网络团队", "network_team", None),
        ("我们没有网络团队", "network_team", "none"),
        ("we have no network team", "network_team", "none"),
        ("the fabric is not tuned", "tuning", "default"),
    ],
)
def test_a_denied_value_is_not_taken(text: str, field: str, value: object) -> None:
    assert said(text).get(field, "nothing is said") == value


@pytest.mark.parametrize("text", ["power is not a problem", "不做推理", "we want 512 GPUs", "no problem", "512张卡"])
def test_nothing_is_said_of_the_cluster(text: str) -> None:
    assert said(text) == {}


@pytest.mark.parametrize(
    "text", ["no InfiniBand experience", "we have no InfiniBand veterans", "没有IB经验", "没用过IB"]
)
def test_missing_experience_with_one_fabric_is_no_missing_team(text: str) -> None:
    found = constraints(text, vocabulary())
    assert "network_team" not in found.fields
    assert len(found.notes) == 1


def test_another_fabrics_missing_experience_leaves_a_strong_team() -> None:
    assert said("没有IB经验，但有很强的以太网团队")["network_team"] == "strong"


@pytest.mark.parametrize(
    ("text", "fabric"),
    [
        ("anything but InfiniBand", "infiniband"),
        ("we can't use InfiniBand", "infiniband"),
        ("we don't want InfiniBand", "infiniband"),
        ("InfiniBand is off the table", "infiniband"),
        ("不想用IB", "infiniband"),
        ("RoCE is out of the question", "roce"),
        ("不考虑RoCE", "roce"),
    ],
)
def test_a_fabric_is_ruled_out(text: str, fabric: str) -> None:
    assert said(text)["excluded"] == fabric


@pytest.mark.parametrize(
    "text", ["why not use InfiniBand?", "为什么不能用IB", "可不可以不用IB", "要不要IB", "do we need IB?"]
)
def test_a_question_rules_nothing_out(text: str) -> None:
    assert "excluded" not in said(text)


def test_a_fabric_that_is_ruled_out_is_never_recommended() -> None:
    rules = load_rules(Path("knowledge/catalog/decision.yaml"))
    for gpus in (64, 512, 16384):
        for fabric in ("infiniband", "roce"):
            for priority in (None, "performance", "cost"):
                made = decide(rules, Situation(gpus, priority=priority, excluded=fabric, network_team="none"))
                assert made.choice not in (fabric, "either")
                assert any(one.rule.provenance == "said" for one in made.reasons)
