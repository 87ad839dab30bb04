"""Sizes of messages, and sizes that are of something else."""

import pytest

from app.advisor.message_said import message_bytes

MODELS = "h100|h200|a100"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1 gib all-reduce on 64 gpus", 2**30),
        ("256 mib all-gather", 256 * 2**20),
        ("8gb messages", 8 * 10**9),
        ("and 8 gib?", 8 * 2**30),
        ("64 h100 80gb: roce or ib?", None),
        ("64张h100 80gb,选什么", None),
        ("128 a100 (80gb) cards, 1 gib all-reduce", 2**30),
        ("80gb h100s", None),
        ("141 gb of hbm each", None),
        ("100 tb 训练数据要搬", None),
        ("a 20 tb dataset and 512 gpus", None),
        ("显存80gb", None),
        ("checkpoints of 500 gb", None),
        ("200 gb/s", None),
    ],
)
def test_the_size_of_a_message(text: str, size: int | None) -> None:
    assert message_bytes(text, MODELS) == size
