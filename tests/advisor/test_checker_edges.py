"""Edges of the checker that a wrong operator or constant would move: found by mutating it and seeing no test fail."""

import pytest

from app.advisor.answer import Citation
from app.advisor.both_fabrics import Pairs, alike_faults
from app.advisor.check import ground
from app.advisor.markers import MarkerStream
from app.advisor.model_sentences import SentenceStream
from app.advisor.numerals import normalise_numbers, number_value
from app.advisor.proportions import bears_out
from app.advisor.spelled import spelled_as_digits
from app.advisor.spoken_of import SpokenOf


def calculation(values: dict[str, tuple[float, str]], label: str = "roce", tool: str = "cost") -> dict[str, object]:
    written = {
        name: {"value": number, "unit": unit, "low": None, "high": None} for name, (number, unit) in values.items()
    }
    return {"id": "T1", "tool": tool, "label": label, "inputs": {}, "values": written, "rows": []}


def cited(passage: str) -> Citation:
    return Citation(1, "d", "d", "p", "t", "", "s", passage, 0, len(passage))


def pairs(**values: tuple[float, float]) -> Pairs:
    """InfiniBand's and RoCE's value of each name."""
    both = [
        calculation({name: (one[side], "USD") for name, one in values.items()}, label)
        for side, label in enumerate(("infiniband", "roce"))
    ]
    return Pairs.of_json(both)


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("a quarter of the price", "25 %"),
        ("a third less", "33 %"),
        ("a fifth more", "20 %"),
        ("a sixth of it", "17 %"),
        ("an eighth of the price", "12.5 %"),
        ("a ninth of it", "11 %"),
        ("a tenth of the price", "10 %"),
        ("a hundredth of it", "1 %"),
        ("a thousandth of it", "0.1 %"),
    ],
)
def test_fractions_in_words(words: str, digits: str) -> None:
    assert digits in spelled_as_digits(words)


@pytest.mark.parametrize(
    ("words", "number"),
    [("七十二", 72), ("二百五十六", 256), ("两千", 2000), ("一万六千三百八十四", 16384), ("一亿", 10**8), ("九", 9)],
)
def test_chinese_numerals(words: str, number: int) -> None:
    assert number_value(words) == number
    assert f"{number}卡" in normalise_numbers(f"{words}卡")


@pytest.mark.parametrize(
    ("text", "read"),
    [("1.5亿卡", "150000000"), ("2 million GPUs", "2000000"), ("3 hundred GPUs", "300"), ("RoCE三年", "RoCE 3年")],
)
def test_numbers_of_digits_and_words(text: str, read: str) -> None:
    assert read in normalise_numbers(text)


@pytest.mark.parametrize(
    ("text", "unsupported"),
    [
        ("RoCE draws 25 kW.", ()),
        ("RoCE draws 25.4 kW.", ("25.4 kW",)),
        ("RoCE draws 25,000 W.", ()),
        ("| Power | 25 |", ()),
        ("| Power | 24 |", ("24",)),
        ("The step takes 2 s.", ()),
        ("The step takes 2,000 ms.", ()),
        ("The step takes 3 s.", ("3 s",)),
        ("It runs for 30 minutes.", ()),
        ("It runs for 31 minutes.", ("31 minutes",)),
    ],
)
def test_units_of_calculations_are_converted(text: str, unsupported: tuple[str, ...]) -> None:
    one = calculation({"power_typical_w": (25_000.0, "W"), "step_s": (2.0, "s"), "lost_h": (0.5, "h")})
    assert ground(text, [one], [], "").unsupported == unsupported


def test_a_digit_of_a_product_name_supports_no_quantity() -> None:
    quoted = [cited("The switch has 400G ports and runs NCCL 2.27.")]
    assert ground("It has 400G ports [1].", [], quoted, "").unsupported == ()
    assert ground("It has 401 ports [1].", [], quoted, "").unsupported == ("401",)


def test_a_true_proportion_in_words_excuses_itself_and_nothing_else() -> None:
    both = [calculation({"capex_usd": (one, "USD")}, label) for one, label in ((2e6, "infiniband"), (1e6, "roce"))]
    half = "RoCE costs half as much as InfiniBand to buy."
    assert ground(half, both, [], "").unsupported == ()
    assert ground(half.replace("half", "a third"), both, [], "").unsupported != ()
    assert ground(f"{half} It has 77 leaves.", both, [], "").unsupported == ("77",)


@pytest.mark.parametrize(
    ("sentence", "true"),
    [
        ("RoCE costs half as much as InfiniBand to buy.", True),
        ("Compared with RoCE, InfiniBand costs twice as much to buy.", True),
        ("Compared with InfiniBand, RoCE costs twice as much to buy.", False),
        ("InfiniBand costs twice as much as RoCE to buy.", True),
        ("InfiniBand costs three times as much as RoCE to buy.", False),
        ("InfiniBand costs twice as much.", None),
        ("RoCE is twice as tall as InfiniBand in the rack.", None),
        ("RoCE 的采购成本便宜 50%，相比 InfiniBand。", True),
    ],
)
def test_proportions(sentence: str, true: bool | None) -> None:
    found = bears_out(sentence, pairs(capex_usd=(2_000_000, 1_000_000)))
    assert found is true or (true is None and found is not False)


def test_alike_is_within_a_quarter() -> None:
    said = "InfiniBand and RoCE cost about the same to buy."
    assert alike_faults(said, pairs(capex_usd=(1_200_000, 1_000_000))) == []
    assert alike_faults(said, pairs(capex_usd=(1_300_000, 1_000_000))) != []
    assert alike_faults(said, pairs(capex_usd=(1_000_000, 1_300_000))) != []
    assert alike_faults("InfiniBand and RoCE do not cost about the same to buy.", pairs(capex_usd=(2e6, 1e6))) == []
    assert alike_faults("Both switches cost about the same to buy.", pairs(capex_usd=(2e6, 1e6))) != []
    assert alike_faults("RoCE costs about the same to buy as last year.", pairs(capex_usd=(2e6, 1e6))) == []


def test_a_value_of_one_fabric_alone_is_no_pair() -> None:
    alone = Pairs.of_json([calculation({"capex_usd": (1_000_000.0, "USD")})])
    assert alone.of_metric("capex") == []
    assert bears_out("RoCE costs half as much as InfiniBand to buy.", alone) is None


def pieces(text: str, size: int = 1) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 50])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Run `a[1]` first [1].", "Run `a[1]` first [1]."),
        ("```\nx[9]\n``` then [2].", "```\nx[9]\n``` then [2]."),
        ("One tick ` alone [1].", "One tick ` alone [1]."),
        ("Ends with a tick `", "Ends with a tick `"),
        ("See [9] and 【1】.", "See  and [1]."),
    ],
)
def test_markers_and_code_however_the_stream_is_cut(text: str, shown: str, size: int) -> None:
    stream = MarkerStream(lambda number: number in (1, 2))
    found = "".join(stream.feed(piece) for piece in pieces(text, size)) + stream.finish()
    assert " ".join(found.split()) == " ".join(shown.split())


@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_marker_behind_the_full_stop_stays_with_its_sentence(size: int) -> None:
    stream = SentenceStream()
    text = "Credits stop loss. [1] [2] Queues stay [3]. The end."
    found = [one for piece in pieces(text, size) for one in stream.feed(piece)] + stream.finish()
    assert [one.strip() for one in found] == ["Credits stop loss [1] [2].", "Queues stay [3].", "The end."]


def test_what_is_spoken_of_goes_on_from_sentence_to_sentence() -> None:
    spoken = SpokenOf()
    assert "RoCE" in spoken("RoCE has two leaves.")
    assert "RoCE" in spoken("It costs less.")
    assert "RoCE" not in spoken("Optics are the larger part.")
    assert "InfiniBand" in spoken("InfiniBand needs more tiers.")
    assert "InfiniBand" in spoken("It draws more power.")


def test_bullets_below_a_heading_are_of_it() -> None:
    spoken = SpokenOf()
    spoken("**InfiniBand:**")
    assert "InfiniBand" in spoken("\n- Costs more.")
    assert "InfiniBand" in spoken(" Optics are the larger part.")
    assert "InfiniBand" in spoken("\n- Draws more power.")
    assert "InfiniBand" not in spoken("\n\nPrices are signals.")
