import pytest

from app.advisor.numerals import chinese_value, normalise_numbers


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("sixty-four GPUs", "64 GPUs"),
        ("sixteen thousand H100s", "16000 H100s"),
        ("one hundred and twenty-eight GPUs", "128 GPUs"),
        ("10 million GPUs", "10000000 GPUs"),
        ("two hundred thousand GPUs", "200000 GPUs"),
        ("1,024 GPUs", "1024 GPUs"),
        ("a 1k-GPU cluster", "a 1000-GPU cluster"),
        ("1.5k GPUs", "1500 GPUs"),
        ("六十四卡集群", "64卡集群"),
        ("五百一十二卡", "512卡"),
        ("一千零二十四张H100", "1024张H100"),
        ("一万六千卡", "16000卡"),
        ("1.6万卡", "16000卡"),
        ("千卡", "1000卡"),
        ("万卡集群", "10000卡集群"),
        ("十万卡", "100000卡"),
        ("百卡以下", "100卡以下"),
        ("６４卡", "64卡"),
        ("Tomahawk 5，400G", "Tomahawk 5,400G"),
        ("三年TCO", "3年TCO"),
        ("RoCE三年", "RoCE 3年"),
        ("12 800 GPUs", "12800 GPUs"),
        ("1,5k GPUs", "1500 GPUs"),
        ("2^10 GPUs", "1024 GPUs"),
        ("in 2026 512 GPUs", "in 2026 512 GPUs"),
    ],
)
def test_numbers_in_words_become_digits(written: str, expected: str) -> None:
    assert normalise_numbers(written) == expected


@pytest.mark.parametrize("untouched", ["one fabric", "一个问题", "预算100万美元", "RoCEv2", "which one is best?"])
def test_words_that_count_nothing_stay(untouched: str) -> None:
    assert normalise_numbers(untouched) == untouched


@pytest.mark.parametrize(
    ("numeral", "value"),
    [("二〇二六", 2026), ("一百零五", 105), ("两千", 2000), ("十", 10), ("一亿", 100_000_000)],
)
def test_chinese_value(numeral: str, value: int) -> None:
    assert chinese_value(numeral) == value
