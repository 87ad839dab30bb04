"""Accelerators that are no NVIDIA or AMD GPUs: counted, named as unknown, and their network where it is settled."""

import pytest

from app.advisor.advisor import Advisor
from app.advisor.other_accelerators import named_in, other_accelerators


@pytest.mark.parametrize(
    ("question", "gpus", "id"),
    [
        ("InfiniBand or RoCE for 64 Gaudi 3 accelerators", 64, "gaudi"),
        ("RoCE or IB for 8 servers of 8 Gaudi2", 64, "gaudi"),
        ("512张昇腾910C，IB还是RoCE", 512, "ascend"),
        ("500张昇腾910B组网该怎么选？", 500, "ascend"),
        ("256 张华为昇腾选 RoCE 还是 InfiniBand？", 256, "ascend"),
        ("IB or RoCE for 384 Ascend 910C NPUs?", 384, "ascend"),
        ("1024张寒武纪MLU590训练，选IB还是RoCE", 1024, "cambricon"),
        ("海光 DCU 128 张，选 RoCE 还是 IB？", 128, "hygon"),
        ("RoCE or InfiniBand for 256 MI300X?", 256, None),
        ("RoCE or InfiniBand for 256 H100s?", 256, None),
    ],
)
def test_they_count_as_gpus(advisor: Advisor, question: str, gpus: int, id: str | None) -> None:
    answer = advisor.answer(question)
    assert answer.spec is not None
    assert (answer.spec["gpus"], answer.spec["accelerator"]) == (gpus, id)
    assert answer.kind == "decision"
    unknown = [one.text for one in answer.assumptions if "no figures" in one.text or "的数据：" in one.text]
    assert bool(unknown) == (id is not None)


@pytest.mark.parametrize(
    ("question", "reason", "note"),
    [
        ("384 Ascend 910C NPUs, performance comes first: InfiniBand or RoCE?", "no InfiniBand", "ascend-fabric"),
        ("16384张昇腾910C，IB还是RoCE？", "没有 InfiniBand", "ascend-fabric"),
        ("InfiniBand or RoCE for 1024 Gaudi 3", "RoCE ports on the chip", "gaudi-fabric"),
    ],
)
def test_a_chip_with_roce_of_its_own_is_never_sent_to_infiniband(
    advisor: Advisor, question: str, reason: str, note: str
) -> None:
    answer = advisor.answer(question)
    assert answer.verdict is not None and answer.verdict.choice == "roce"
    assert reason in answer.text
    assert any(note in citation.document for citation in answer.citations)
    flips = next((part for part in answer.text.split("####") if "flip" in part or "改变结论" in part), "")
    assert "ascend" not in note or "InfiniBand" not in flips


@pytest.mark.parametrize(
    "question", ["RoCE vs IB for 128 TPU v5p", "RoCE or IB for 256 Trainium2?", "256颗谷歌TPU用RoCE还是InfiniBand？"]
)
def test_where_the_maker_has_settled_the_network_nothing_is_calculated(advisor: Advisor, question: str) -> None:
    answer = advisor.answer(question)
    assert answer.verdict is None and not answer.calculations
    assert answer.citations[0].document.startswith("cloud-accelerators")


def test_a_gpu_by_name_ends_it(advisor: Advisor) -> None:
    first = advisor.answer("InfiniBand or RoCE for 64 Gaudi 3 accelerators")
    second = advisor.answer("And for 64 H200s?", history=[first])
    assert second.spec is not None
    assert (second.spec["gpu_model"], second.spec["accelerator"]) == ("h200", None)
    assert "Gaudi" not in second.text.split("####")[0] + second.text.split("####")[1]


@pytest.mark.parametrize(
    "text", ["we ascend to 512 gpus", "a dozen h100 servers", "400g ports", "910 gpus", "8x b200", "atlas of networks"]
)
def test_other_words_are_none_of_them(text: str) -> None:
    assert named_in(text) is None


def test_each_with_a_network_of_its_own_has_a_note(advisor: Advisor) -> None:
    for one in other_accelerators():
        assert bool(one.note) == (one.network != "nics")
        assert not one.note or advisor.library.note_passages(one.note, "en")
