"""Every word of the page is there in both languages."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from app.advisor.answer import Answer
from app.advisor.spec import ClusterSpec
from app.fabric.calculation import rows_in
from app.fabric.cost import CATEGORIES
from app.fabric.stock import GpuKind, plan_stock
from app.knowledge import load_catalog
from app.settings import knowledge_folder
from app.web import labels as module
from app.web.components.calculations import as_csv
from app.web.labels import labels, resolve_language

WORDS = labels("en").words


def pairs(group: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    return [(key, entry) for key, entry in group.items() if isinstance(entry, dict)]


@pytest.mark.parametrize("group", sorted(set(WORDS) - {"examples", "choices"}))
def test_every_word_has_both_languages_with_the_same_blanks(group: str) -> None:
    for key, entry in pairs(WORDS[group]):
        assert set(entry) == {"en", "zh"}, key
        assert all(isinstance(text, str) and text for text in entry.values()), key
        blanks = [set(re.findall(r"\{(\w+)\}", text)) for text in entry.values()]
        assert blanks[0] == blanks[1], key


def test_every_word_that_the_code_asks_for_exists() -> None:
    code = "\n".join(path.read_text("utf-8") for path in Path(module.__file__).parent.rglob("*.py"))
    asked = set(re.findall(r'(?<!\.)words(?:\[|\.fill\(\s*)"(\w+)"', code))
    assert len(asked) > 50
    assert asked <= set(WORDS["interface"])


def test_every_figure_of_an_answer_has_a_name(decision: Answer) -> None:
    names = {
        name for calculation in decision.calculations for part in ("values", "inputs") for name in calculation[part]
    }
    assert len(names) > 60
    assert names - set(WORDS["values"]) == set()


def test_every_figure_of_growth_on_old_switches_has_a_name() -> None:
    catalog = load_catalog(knowledge_folder() / "catalog")
    kinds = (GpuKind("A100", 200), GpuKind("H200", 400))
    plans = [
        plan_stock(catalog, keep=keep, add_gpus=256, gpus_there=there, oversubscription=3.0, fabric="roce", kinds=kinds)
        for keep, there in (("40x sn4700", 0), ("40x sn4700, 2x sn3700, 2x qm9700", 768), ("3x sn5600", 9_000))
    ]
    calculations = [plan.calculation() for plan in plans]
    names = {name for one in calculations for name in (*one.values, *one.inputs)}
    assert len(names) > 40
    assert names - set(WORDS["values"]) == set()
    columns = {name for one in calculations for row in rows_in(one.rows, "en") for name in row}
    assert columns <= set(WORDS["columns"])


def test_every_field_of_the_cluster_has_a_name_and_every_choice_too() -> None:
    assert {field.name for field in fields(ClusterSpec)} <= set(WORDS["fields"])
    words = {choice for choices in WORDS["choices"].values() for choice in choices if isinstance(choice, str)}
    named_by_themselves = set(WORDS["choices"]["operation"])
    assert words - named_by_themselves <= set(WORDS["options"])


def test_parts_of_the_chart_are_the_categories_of_the_bill() -> None:
    split = {part.removesuffix("_usd") for part in WORDS["parts"]} - {"optics_and_cables"}
    assert split | {"optics", "cables"} == set(CATEGORIES)


@pytest.mark.parametrize(
    ("choice", "locale", "language"),
    [
        ("auto", "zh-CN", "zh"),
        ("auto", "zh", "zh"),
        ("auto", "en-GB", "en"),
        ("auto", "de", "en"),
        ("auto", None, "en"),
        ("en", "zh-CN", "en"),
        ("zh", "en-US", "zh"),
    ],
)
def test_the_language_is_the_chosen_one_else_the_browsers(choice: Any, locale: str | None, language: str) -> None:
    assert resolve_language(choice, locale) == language


def test_rows_are_in_one_language_and_csv_opens_in_spreadsheets() -> None:
    rows = [{"item": "x", "serves": "leaf", "serves_zh": "叶层", "total_usd": 1.5}]
    assert rows_in(rows, "zh") == [{"item": "x", "serves": "叶层", "total_usd": 1.5}]
    assert rows_in(rows, "en") == [{"item": "x", "serves": "leaf", "total_usd": 1.5}]
    assert as_csv(rows_in(rows, "zh")) == "\ufeffitem,serves,total_usd\nx,叶层,1.5\n".encode()
