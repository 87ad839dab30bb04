import pytest

from app.advisor.figures import duration, figure, money, plain, size, with_range


@pytest.mark.parametrize(
    ("usd", "en", "zh"),
    [
        (1_243_567, "$1.24M", "124万美元"),
        (540_321, "$540k", "54万美元"),
        (2_500, "$2.5k", "2,500美元"),
        (999, "$999", "999美元"),
        (1_500_000_000, "$1.5B", "15亿美元"),
        (0, "$0", "0美元"),
        (-14_200, "-$14.2k", "-1.42万美元"),
    ],
)
def test_money(usd: float, en: str, zh: str) -> None:
    assert (money(usd, "en"), money(usd, "zh")) == (en, zh)


@pytest.mark.parametrize(("time_us", "text"), [(13.7, "13.7 µs"), (5234.2, "5.23 ms"), (2_500_000, "2.5 s")])
def test_duration(time_us: float, text: str) -> None:
    assert duration(time_us) == text


@pytest.mark.parametrize(
    ("byte_count", "text"),
    [(2**30, "1 GiB"), (256 * 2**20, "256 MiB"), (512, "512 B"), (3 * 2**29, "1.5 GiB")],
)
def test_size(byte_count: int, text: str) -> None:
    assert size(byte_count) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1024, "1,024"), (381.84, "382"), (1.2345, "1.23"), (0.934, "0.934"), (2.0, "2")]
)
def test_plain(value: float, text: str) -> None:
    assert plain(value) == text


def test_units() -> None:
    assert figure(0.931, "fraction", "en") == "93.1 %"
    assert figure(1.5, "ratio", "zh") == "1.50 倍"
    assert figure(381.8, "GB/s", "en") == "382 GB/s"


def test_ranges() -> None:
    value = {"value": 1_200_000, "unit": "USD", "low": 900_000, "high": 2_000_000}
    assert with_range(value, "en") == "$1.2M ($900k to $2M)"
    assert with_range(value, "zh") == "120万美元（90万美元 至 200万美元）"
    assert with_range({"value": 5, "unit": "", "low": None, "high": None}, "en") == "5"
    assert with_range({"value": 5.0, "unit": "ratio", "low": 5.0, "high": 5.0}, "en") == "5.00×"
