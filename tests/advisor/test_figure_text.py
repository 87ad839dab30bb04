"""Figures as people write them: value and unit, in both languages."""

import pytest

from app.advisor.figure_text import figures_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1.2M", [(1.2e6, "USD")]),
        ("$1.2–1.5M", [(1.2e6, "USD"), (1.5e6, "USD")]),
        ("1.2 to 1.5 million dollars", [(1.2e6, "USD"), (1.5e6, "USD")]),
        ("USD 900k", [(9e5, "USD")]),
        ("120万美元", [(1.2e6, "USD")]),
        ("一百二十万美元", [(1.2e6, "USD")]),
        ("1.2 亿美元", [(1.2e8, "USD")]),
        ("400 GB/s", [(400, "GB/s")]),
        ("400 Gb/s", [(400, "Gb/s")]),
        ("1.6 Tb/s", [(1600, "Gb/s")]),
        ("2–3 ms", [(2000, "us"), (3000, "us")]),
        ("5.98 kW", [(5980, "W")]),
        ("0.078 per kWh, 3.5 kWh", [(0.078, ""), (3.5, "kWh")]),
        ("百分之五", [(0.05, "fraction")]),
        ("five percent", [(0.05, "fraction")]),
        ("twice as dear", [(2, "")]),
        ("贵三倍", [(3, "")]),
        ("64k GPUs", [(64000, "")]),
        ("H100, RoCEv2, 802.1Qbb, RFC 3168, 2nd, Layer 3, QM9700, 第2步", []),
    ],
)
def test_value_and_unit(text: str, expected: list[tuple[float, str]]) -> None:
    found = [(one.value, one.dimension) for one in figures_in(text)]
    assert [unit for _, unit in found] == [unit for _, unit in expected]
    assert [value for value, _ in found] == pytest.approx([value for value, _ in expected])


def test_a_size_of_clusters_is_no_figure() -> None:
    assert figures_in("文章只在千卡级别为 RoCE 背书，万卡集群另论。") == []
    assert [one.value for one in figures_in("共三千卡，两台交换机")] == [3000]
