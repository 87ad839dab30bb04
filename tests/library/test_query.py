"""How a query is understood: slips mended, sides of a comparison, what counts as a term of our field."""

from pathlib import Path

import pytest

from app.library.glossary import Glossary, Term
from app.library.pairs import NotePlace, pairs_of
from app.library.query import QueryReader, is_swapped, one_slip_apart
from app.library.words import Words

GLOSSARY = Glossary(
    [
        Term(("InfiniBand", "无限带宽", "IB")),
        Term(("priority flow control", "优先级流控", "PFC")),
        Term(("credit-based flow control", "信用流控", "credits")),
        Term(("GPU", "显卡", "卡")),
        Term(("network interface card", "网卡", "NIC")),
        Term(("hang", "挂死", "卡死"), general=True),
        Term(("supplier", "供应商"), general=True),
    ]
)
INDEX = {"infiniband": 40, "latency": 12, "train": 30, "tray": 3, "dcqcn": 9, "across": 5, "portxmitwait": 2}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> QueryReader:
    return QueryReader(
        Words(GLOSSARY, tmp_path_factory.mktemp("jieba")),
        GLOSSARY,
        lambda words: {word: INDEX[word] for word in words if word in INDEX},
        lambda letters: {word: count for word, count in INDEX.items() if word.startswith(letters)},
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("whats the latancy of infinband", "whats the latency of infiniband"),  # a wrong and a missing letter
        ("traning", "train"),  # the commonest of the words a slip away: not "tray"
        ("DCQNC", "dcqcn"),  # two letters swapped, in an abbreviation
        ("DCQCM", "DCQCM"),  # another abbreviation, not a slip
        ("latency NCCL_IB_HCAS infiniband", "latency NCCL_IB_HCAS infiniband"),  # codes are left alone
        ("weather", "weather"),
    ],
)
def test_slips_are_mended_by_what_the_library_has(reader: QueryReader, typed: str, meant: str) -> None:
    query = reader.read(typed)
    assert query is not None
    assert query.text == meant


def test_one_slip_is_a_letter_missing_added_wrong_or_swapped() -> None:
    for other in ("spin", "spines", "spime", "psine", "sspine"):
        assert one_slip_apart("spine", other), other
    for other in ("spine", "spi", "spinal", "pisne", "leaf"):
        assert not one_slip_apart("spine", other), other
    assert is_swapped("ab", "ba")
    assert not is_swapped("ab", "cb")


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("credits vs PFC", ["credits", "PFC"]),
        ("InfiniBand versus PFC?", ["InfiniBand", "PFC"]),
        ("difference between InfiniBand and PFC", ["InfiniBand", "PFC"]),
        ("信用流控和PFC有什么区别？", ["信用流控", "PFC"]),
        ("cats vs dogs", []),  # neither is of our field
        ("PFC watchdog", []),
    ],
)
def test_what_a_question_compares(reader: QueryReader, text: str, sides: list[str]) -> None:
    query = reader.read(text)
    assert query is not None
    assert [side.text for side in query.sides] == sides


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("PFC on InfiniBand", 2),
        ("which supplier", 0),  # half a term: a word of every trade
        ("supplier hang", 1),
        ("PortXmitWait climbs", 2),  # a counter that some passage names
        ("NoSuchCounter climbs", 0),
        ("网卡", 1),  # the 卡 in it is no GPU
        ("48张卡", 1),
        ("", None),
        ("?!", None),
    ],
)
def test_terms_of_our_field(reader: QueryReader, text: str, terms: int | None) -> None:
    query = reader.read(text)
    assert (query.terms if query else None) == terms


def test_passages_at_the_same_heading_belong_together() -> None:
    places = [
        NotePlace("e0", "pfc", "en", 1, 0),
        NotePlace("e1", "pfc", "en", 2, 0),
        NotePlace("e2", "pfc", "en", 2, 1),
        NotePlace("z1", "pfc", "zh", 2, 0),
        NotePlace("z2", "pfc", "zh", 2, 1),
        NotePlace("other", "mtu", "zh", 2, 0),
    ]
    pairs = pairs_of(places)
    assert pairs["e2"] == ("en", ("z2", "z1"))
    assert pairs["z1"] == ("zh", ("e1", "e2"))
    assert pairs["e0"].others == pairs["other"].others == ()


def test_the_shipped_glossary_names_each_thing_once() -> None:
    """A name in two terms would count twice in a query."""
    glossary = Glossary.load(Path(__file__).parents[2] / "knowledge" / "glossary.yaml")
    seen: dict[str, str] = {}
    twice = []
    for term in glossary.terms:
        for name in {name.lower() for name in term.names}:
            if name in seen:
                twice.append((name, seen[name], term.names[0]))
            seen[name] = term.names[0]
    assert twice == []
