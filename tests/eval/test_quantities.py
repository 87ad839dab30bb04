"""Reading quantities from text in two languages; every expected value is plain arithmetic."""

import pytest

from eval.quantities import close, find_quantities, in_si, says


def found(text: str) -> list[tuple[float, str]]:
    return [(quantity.value, quantity.dimension) for quantity in find_quantities(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1.24M in total", [(1.24e6, "usd")]),
        ("约124万美元", [(1.24e6, "usd")]),
        ("1.2亿元", [(1.2e8, "cny")]),
        ("15 万亿 token", [(1.5e13, "")]),
        ("USD 1.5 million", [(1.5e6, "usd")]),
        (r"\$45,217", [(45217.0, "usd")]),
        ("12.3 kW, 350W", [(12300.0, "W"), (350.0, "W")]),
        ("5.8 ms or 5800 us", [(0.0058, "s"), (0.0058, "s")]),
        ("3 年，8 小时", [(3.0, "year"), (28800.0, "s")]),
        ("8.4% and 2倍", [(0.084, "ratio"), (2.0, "ratio")]),
        ("1 GiB, 1 GB", [(2.0**30, "byte"), (1e9, "byte")]),
        ("1,016 GPUs", [(1016.0, "")]),
        ("BER 1e-12", [(1e-12, "")]),
        ("40 km", [(40000.0, "m")]),
    ],
)
def test_units_and_multipliers(text: str, expected: list[tuple[float, str]]) -> None:
    assert found(text) == [(pytest.approx(value), dimension) for value, dimension in expected]


def test_bytes_and_bits_differ_by_eight_and_share_a_dimension() -> None:
    assert found("50 GB/s") == found("400 Gb/s") == [(4e11, "bit/s")]
    assert found("400 GB/s") != found("400 Gb/s")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1.2–1.8 M", [1.2e6, 1.8e6]),
        ("120-180万美元", [1.2e6, 1.8e6]),
        ("$900k–1.2M", [9e5, 1.2e6]),
        ("10–20%", [0.1, 0.2]),
        ("50–100G", [5e10, 1e11]),
        ("1e-5 to 1e-7", [1e-5, 1e-7]),
        ("5-10 nodes", [5.0, 10.0]),
    ],
)
def test_both_ends_of_a_range_have_its_unit(text: str, expected: list[float]) -> None:
    assert [value for value, _ in found(text)] == pytest.approx(expected)


@pytest.mark.parametrize(
    "text", ["H100 QM9700 SN5600", "RoCEv2", "NCCL 2.30.7", "ConnectX-7", "802.1Qbb", "2026-05-06", "B3140H"]
)
def test_names_versions_and_dates_state_no_quantity(text: str) -> None:
    assert found(text) == []


def test_a_product_is_two_quantities() -> None:
    assert found("8x400G") == [(8.0, ""), (4e11, "bit/s")]
    assert found("8 × 400G") == [(8.0, ""), (4e11, "bit/s")]


@pytest.mark.parametrize(
    ("text", "value", "fair"),
    [
        ("$1.24M", 1_237_000, True),
        ("$1.24M", 1_250_000, False),
        ("$1.24M", 1_240, False),  # a thousandth is not forgiven
        ("43.98 ms", 0.043984, True),
        ("2,140", 2_143, True),  # rounded to three digits
        ("2,140", 2_160, False),
        ("100", 140, False),  # zeros forgive half a percent, not forty
        ("16", 16.4, True),
        ("16", 12, False),
    ],
)
def test_a_printed_number_may_be_a_rounding_of_the_value(text: str, value: float, fair: bool) -> None:
    (quantity,) = find_quantities(text)
    assert says(quantity, value) is fair


def test_close_is_relative_to_the_expected_value() -> None:
    assert close(412, 386.6, 0.08)
    assert not close(420, 386.6, 0.08)
    assert not close(1e-13, 1e-14, 0.1)
    assert close(0.1 + 0.2, 0.3, 0)


def test_units_of_calculators() -> None:
    assert in_si(481.4, "GB/s") == (481.4 * 8e9, "bit/s")
    assert in_si(3, "switches") == (3, "")
