"""What questions say of a job: model, tokens, context, batch, layout, and whether a calculator of jobs applies."""

from typing import Any

import pytest

from app.advisor.question import read_question
from app.advisor.workload_question import ModelNames, degrees, job_fields, without_job
from app.settings import knowledge_folder
from app.workloads import load_workloads

NAMES = ModelNames({id: one.parameters / 1e9 for id, one in load_workloads(knowledge_folder()).models.items()})


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("train Llama 3 70B", "llama3-70b"),
        ("train llama-3.1-405b", "llama3-405b"),
        ("Llama3 8B", "llama3-8b"),
        ("Llama 2 70B", "llama2-70b"),
        ("a 70B model", "llama3-70b"),  # 70.6 is nearer to 70 than Llama 2's 69.0
        ("a 7b model", "llama2-7b"),
        ("GPT-3", "gpt3-175b"),
        ("训练GPT-3", "gpt3-175b"),
        ("a 1T parameter model", "megatron-1t"),
        ("DeepSeek V3", "deepseek-v3"),
        ("DeepSeek-R1 推理", "deepseek-v3"),
        ("Qwen3 235B", "qwen3-235b"),
        ("700亿参数模型", "llama3-70b"),
        ("1750亿参数", "gpt3-175b"),
        ("万亿参数模型", "megatron-1t"),
        ("70B模型", "llama3-70b"),
    ],
)
def test_models_are_known_by_name_or_by_size(text: str, model: str) -> None:
    assert job_fields(text, NAMES)["model"] == model


@pytest.mark.parametrize(
    "text",
    [
        "RoCE or IB for 512 GPUs?",
        "a 100B model",  # none within a tenth
        "a 400 GB/s link",
        "a budget of $70B",
        "2万亿token",
        "投资700亿美元",
        "15T tokens",
    ],
)
def test_no_model_is_made_up(text: str) -> None:
    assert "model" not in job_fields(text, NAMES)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("on 15T tokens", {"train_tokens": 15e12}),
        ("2 trillion tokens", {"train_tokens": 2e12}),
        ("300B tokens", {"train_tokens": 300e9}),
        ("2万亿token", {"train_tokens": 2e12}),
        ("3000亿个token", {"train_tokens": 300e9}),
        ("a 32k-token prompt", {"sequence": 32768}),
        ("128k context", {"sequence": 131072}),
        ("sequence length 8192", {"sequence": 8192}),
        ("8k上下文", {"sequence": 8192}),
        ("global batch size of 1024", {"global_batch": 1024}),
        ("全局批大小 2048", {"global_batch": 2048}),
        ("in FP8", {"precision": "fp8"}),
        ("TP8 PP16", {"layout": "pp=16,tp=8"}),
        ("EP32 dispatch", {}),  # expert parallelism alone is no layout
    ],
)
def test_numbers_of_a_job(text: str, fields: dict[str, Any]) -> None:
    assert job_fields(text, NAMES) == fields


def test_layouts_read_back() -> None:
    assert degrees("pp=16,tp=8") == {"pp": 16, "tp": 8}


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("How long to train a 70B model on 15T tokens with 512 H100s?", 512),
        ("用1024张H100训练一个700亿参数的模型，2万亿token要多久？", 1024),
        ("global batch 2048, TP8 PP16, 256 GPUs: step time?", 256),
        ("Train a 405B model with 128k context on 4096 H100: how fast?", 4096),
    ],
)
def test_the_job_is_not_read_as_gpus(text: str, gpus: int) -> None:
    read = read_question(text, gpu_models=("h100",), models=NAMES)
    assert (read.spec.gpus, read.job, read.kind) == (gpus, "training", "performance")


@pytest.mark.parametrize(
    ("text", "job"),
    [
        ("How much slower is RoCE for training on 512 GPUs?", "training"),
        ("512卡训练，RoCE比IB慢多少？", "training"),
        ("MFU of GPT-3 175B on 1024 A100s?", "training"),
        ("How often will a 4096 GPU job crash?", "goodput"),
        ("4096卡多久故障一次？checkpoint间隔设多少？", "goodput"),
        ("do I need 400G RDMA to serve a 70B model?", "inference"),
        ("PD分离推理，70B模型32k token的KV Cache通过400G传输要多久？", "inference"),
        ("RoCE or IB for 512 GPUs for training a 70B model?", None),  # a decision, not a time
        ("How many switches for 512 GPUs to train Llama 3 70B?", None),
        ("训练场景下RoCE比InfiniBand慢多少？", None),  # of no cluster: the measurements answer it
        ("RoCE or InfiniBand for 80 GPUs that only serve inference?", None),
        ("How many of the Llama 3 training interruptions were caused by the network?", None),
        ("Why is my training of Llama 3 70B slow on 512 GPUs?", None),
    ],
)
def test_which_calculator_of_jobs_applies(text: str, job: str | None) -> None:
    assert read_question(text, gpu_models=("h100", "a100"), models=NAMES).job == job


def test_text_without_the_job_keeps_the_cluster() -> None:
    left = without_job("Train a 70B model on 15T tokens with 512 GPUs at 400G, 2 TB/s")
    assert "512 GPUs at 400G" in left
    assert "70B" not in left
    assert "15T" not in left
