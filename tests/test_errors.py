"""Every error of the program can be said in Chinese, with all its values filled in."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest

from app.advisor.error_text import chinese_sentences, error_text
from app.errors import AdvisorError
from app.fabric.cost import Design
from app.fabric.terms import default_terms
from app.knowledge import load_catalog

APP = Path(__file__).parent.parent / "app"
CATALOG = load_catalog(APP.parent / "knowledge" / "catalog")
PLACES = (
    "fabric/*.py", "library/**/*.py", "advisor/*.py", "commands/*.py", "knowledge.py", "accelerators.py", "settings.py",
)  # fmt: skip
LOOKED_UP = ("switch", "nic", "gpu", "server", "service", "default")  # kinds of catalog.find, whose code is composed


class Raised(NamedTuple):
    code: str
    keys: frozenset[str]
    place: str


def _raised() -> Iterator[Raised]:
    """Every AdvisorError(..., code="...") of the source, with the keys of its values."""
    for pattern in PLACES:
        for path in sorted(APP.glob(pattern)):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "AdvisorError":
                    given = {one.arg: one.value for one in node.keywords}
                    code, values = given.get("code"), given.get("values")
                    if isinstance(code, ast.Constant):
                        keys = values.keys if isinstance(values, ast.Dict) else []
                        names = frozenset(str(key.value) for key in keys if isinstance(key, ast.Constant))
                        yield Raised(str(code.value), names, f"{path.name}:{node.lineno}")


RAISED = tuple(_raised())


def _names(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def test_the_source_was_read() -> None:
    assert {"bad_value", "gpus_out_of_range", "library_locked", "question_empty", "bad_catalog"} <= {
        one.code for one in RAISED
    }


@pytest.mark.parametrize("raised", RAISED, ids=lambda one: f"{one.code}@{one.place}")
def test_every_code_has_a_chinese_sentence_whose_names_exist(raised: Raised) -> None:
    assert raised.code in chinese_sentences(), raised
    assert _names(chinese_sentences()[raised.code]) <= raised.keys, raised


@pytest.mark.parametrize("kind", LOOKED_UP)
def test_what_is_not_in_the_catalog(kind: str) -> None:
    with pytest.raises(AdvisorError) as caught:
        getattr(CATALOG, kind)("no such thing")
    text = error_text(caught.value, "zh")
    assert caught.value.code == f"unknown_{kind}"
    assert "no such thing" in text and "{" not in text and "There is" not in text


def test_no_sentence_is_left_over() -> None:
    known = {one.code for one in RAISED} | {f"unknown_{kind}" for kind in LOOKED_UP}
    assert set(chinese_sentences()) <= known


@pytest.mark.parametrize(
    ("design", "words"),
    [
        (Design(0, "roce"), ("0 块 GPU", "至少要有 1 块", "524,288")),  # SN5600: 128^3 / 4
        (Design(70_000, "infiniband"), ("70,000 块", "65,536", "q3400", "746,496")),
        (Design(9_000_000, "infiniband"), ("9,000,000", "端口数最多的 q3400")),
        (Design(9_000_000, "infiniband", switch="q3400"), ("746,496", "独立的集群")),
        (Design(64, "roce", switch="qm9700"), ("Quantum-2 QM9700 不是 roce", "sn5600")),
        (Design(64, "infiniband", switch="qm9700", gbps_per_gpu=800), ("没有 800G 端口", "q3400")),
        (Design(64, "roce", planes=0), ("planes 不能是 0", "1 到 16")),
        (Design(64, "roce", nic="pollara-400", gbps_per_gpu=800), ("不支持 800G roce", "connectx-8")),
        (Design(64, "roce", node_leaf_m=1_500), ("1500 m", "SN5600")),
    ],
)
def test_errors_of_designs_in_chinese(design: Design, words: tuple[str, ...]) -> None:
    with pytest.raises(AdvisorError) as caught:
        design.cost(CATALOG)
    text = error_text(caught.value, "zh")
    assert all(word in text for word in words), text
    assert error_text(caught.value, "en") == str(caught.value)


def test_years_and_a_code_without_its_values() -> None:
    with pytest.raises(AdvisorError) as caught:
        default_terms(CATALOG, 64, years=31)
    assert error_text(caught.value, "zh").startswith("年数不能是 31。")
    assert error_text(AdvisorError("Bad row.", "Mend it.", code="bad_catalog"), "zh") == "Bad row. Mend it."
    assert error_text(AdvisorError("Other.", "Mend it."), "zh") == "Other. Mend it."


@pytest.mark.parametrize(
    ("said", "shown"),
    [("Path x not found", "Path x not found. Do y."), ("It is.", "It is. Do y."), ("Is it?", "Is it? Do y.")],
)
def test_message_and_remedy_are_two_sentences(said: str, shown: str) -> None:
    assert str(AdvisorError(said, "Do y.")) == shown
