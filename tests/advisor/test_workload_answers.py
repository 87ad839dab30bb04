"""Answers about a training job and about failures, with the real calculators and notes."""

import pytest

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer

RUN = "How long does it take to train Llama 3 70B on 15T tokens with 1024 H100s, and how much slower is RoCE?"


def values(answer: Answer, tool: str, label: str = "") -> dict[str, float]:
    one = next(one for one in answer.calculations if one["tool"] == tool and one["label"] == label)
    return {name: value["value"] for name, value in one["values"].items()}


@pytest.fixture(scope="module")
def run(advisor: Advisor) -> Answer:
    return advisor.answer(RUN)


def test_a_run_takes_tokens_over_rate_and_goodput(run: Answer) -> None:
    assert run.kind == "performance"
    for label in ("infiniband", "roce", "roce (default)"):
        step, whole = values(run, "training", label), values(run, "training_run", label)
        days = 15e12 / step["tokens_per_s"] / whole["goodput"] / 86_400
        assert whole["run_days"] == pytest.approx(days)
        assert whole["run_gpu_hours"] == pytest.approx(days * 24 * 1024)
        assert whole["run_usd"] == pytest.approx(whole["run_gpu_hours"] * 3.0)  # typical rent of an H100 hour
    assert not run.grounding.unsupported
    assert not run.grounding.contradictions


def test_slower_is_the_ratio_of_steps(run: Answer) -> None:
    comparison = values(run, "training_comparison")
    first = values(run, "training", "infiniband")["step_time_s"]
    default = values(run, "training", "roce (default)")["step_time_s"]
    assert comparison["roce_default_slower_share"] == pytest.approx(default / first - 1)
    assert comparison["roce_mis_tuned_slower_share"] > comparison["roce_default_slower_share"]


def test_the_breakdown_adds_up_to_the_step(run: Answer) -> None:
    rows = next(one["rows"] for one in run.calculations if one["tool"] == "training_comparison")
    assert [(row["fabric"], row["tuning"]) for row in rows] == [
        ("infiniband", "tuned"),
        ("roce", "tuned"),
        ("roce", "default"),
        ("roce", "mis-tuned"),
    ]
    for row in rows:
        parts = sum(value for name, value in row.items() if name.endswith("_s") and name != "step_time_s")
        assert parts == pytest.approx(row["step_time_s"])


def test_chinese_gives_the_same_figures(advisor: Advisor, run: Answer) -> None:
    chinese = advisor.answer("用1024张H100训练Llama 3 70B，15万亿token要多久？RoCE慢多少？")
    assert chinese.language == "zh"
    assert values(chinese, "training_run", "roce") == values(run, "training_run", "roce")
    assert not chinese.grounding.unsupported


def test_a_stated_layout_and_batch_are_used(advisor: Advisor) -> None:
    answer = advisor.answer("Step time of GPT-3 175B on 64 A100s with TP8 PP8 and global batch size 64?")
    inputs = next(one["inputs"] for one in answer.calculations if one["tool"] == "training")
    assert (inputs["tp"], inputs["pp"], inputs["global_batch"], inputs["model"]) == (8, 8, 64, "gpt3-175b")


def test_what_nobody_said_is_an_assumption(advisor: Advisor) -> None:
    answer = advisor.answer("How much slower is RoCE for training on 512 GPUs?")
    assert "model" in {one.field for one in answer.assumptions}
    assumed = next(one["assumptions"] for one in answer.calculations if one["tool"] == "training")
    assert any("512 sequences of 8,192 tokens" in line for line in assumed)
    following = advisor.answer("What about 1024?", [answer])
    assert (following.kind, following.spec["gpus"]) == ("performance", 1024)
    assert (
        values(following, "training", "infiniband")["step_time_s"]
        < values(answer, "training", "infiniband")["step_time_s"]
    )


def test_failures_at_the_size_of_the_published_run(advisor: Advisor) -> None:
    answer = advisor.answer("How often does a job on 16384 GPUs crash?")
    # Llama 3: 419 interruptions in 54 days on 16,384 GPUs
    assert values(answer, "goodput")["mtbf_h"] == pytest.approx(54 * 24 / 419, rel=0.01)
    assert not answer.grounding.unsupported


def test_serving_a_70b_model_needs_no_400g(advisor: Advisor) -> None:
    answer = advisor.answer("do I need 400G RDMA to serve a 70B model?")
    made = values(answer, "inference")
    assert made["kv_bytes_per_token"] == 2 * 80 * 8 * 128 * 2  # keys and values, layers, KV heads, head size, bf16
    assert made["needs_400g_rdma"] == "no"
    assert answer.text.startswith("**No, 400G RDMA on every NIC is not needed: 8x100G RDMA a node is enough.")
    assert not answer.grounding.unsupported
    assert not answer.grounding.contradictions


def test_a_kv_cache_over_one_400g_link_in_chinese(advisor: Advisor) -> None:
    answer = advisor.answer("PD分离推理，70B模型32k token的KV Cache通过400G传输要多久？")
    rows = next(one["rows"] for one in answer.calculations if one["tool"] == "inference")
    single = next(row for row in rows if row["link"] == "1x400G RDMA")
    assert single["line_rate_ms"] == pytest.approx(32_768 * 327_680 * 8 / 400e9 * 1e3, rel=1e-3)  # 215 ms
    assert single["transfer_ms"] > single["line_rate_ms"]
    assert "215 ms" in answer.text
    assert answer.language == "zh"
    assert not answer.grounding.unsupported
