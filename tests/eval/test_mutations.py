"""The gate can fail: the shipped questions catch five ways of breaking the real advisor.

Each mutation breaks the program or its knowledge in one place; the cases named pass before and fail after it.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import jinja2
import pytest

from app.advisor import writer
from app.advisor.advisor import Advisor
from app.advisor.tools import load_tools
from app.settings import Settings
from eval.cases import Case
from eval.command import QUESTIONS
from eval.runner import run_case
from eval.scoring import Score, score
from eval.subject import AdvisorSubject
from eval.user_sets import load_sets

KNOWLEDGE = QUESTIONS.parent.parent / "knowledge"
TEMPLATES = writer.HERE / "templates"


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.id: case for case in load_sets([QUESTIONS])}


def judged(advisor: Advisor, case: Case) -> Score:
    return score(case, run_case(case, 0, AdvisorSubject(advisor)))


def failing(advisor: Advisor, case: Case) -> set[str]:
    """Names of the failed checks; an error is no catch."""
    result = judged(advisor, case)
    assert not result.error
    return {check.name for check in result.failures}


@pytest.mark.parametrize(
    "id",
    ["cost-1024-en", "cost-1024-zh", "size-3su-en", "size-3su-zh", "size-b300-4su-en", "exp-pfc-deadlock-en",
     "exp-pfc-deadlock-zh", "dec-64-en", "dec-64-zh", "dec-comparison-zh"],
)  # fmt: skip
def test_unbroken_the_cases_pass(advisor: Advisor, cases: dict[str, Case], id: str) -> None:
    assert failing(advisor, cases[id]) == set()


@pytest.fixture
def knowledge(tmp_path: Path) -> Path:
    """A copy that a test may break."""
    return shutil.copytree(KNOWLEDGE, tmp_path / "knowledge")


@pytest.fixture
def clear_caches() -> Iterator[None]:
    """Results that the calculators keep must not outlive a mutation, in either direction."""

    def clear() -> None:
        for name, module in list(sys.modules.items()):
            if name.startswith("app."):
                for one in vars(module).values():
                    if callable(getattr(one, "cache_clear", None)):
                        one.cache_clear()

    clear()
    yield
    clear()


@pytest.mark.parametrize("id", ["cost-1024-en", "cost-1024-zh"])
def test_swapped_prices_are_caught(
    advisor: Advisor, cases: dict[str, Case], knowledge: Path, clear_caches: None, id: str
) -> None:
    prices = knowledge / "catalog" / "prices.yaml"
    text = prices.read_text(encoding="utf-8")
    swap = {"qm9700": "sn5600", "sn5600": "qm9700"}
    swapped = re.sub(r"(?<=\{item: )(qm9700|sn5600)(?=,)", lambda match: swap[match[0]], text)
    assert swapped != text
    prices.write_text(swapped, encoding="utf-8")
    broken = Advisor(advisor.settings, advisor.library, load_tools(knowledge))
    found = failing(broken, cases[id])
    assert {"value cost.infiniband.switches_usd", "value cost.roce.switches_usd"} <= found


@pytest.mark.parametrize("id", ["size-3su-en", "size-3su-zh", "size-b300-4su-en"])
def test_a_wrong_spine_rule_is_caught(
    advisor: Advisor, cases: dict[str, Case], clear_caches: None, monkeypatch: pytest.MonkeyPatch, id: str
) -> None:
    from app.fabric import tree

    monkeypatch.setattr(tree, "smallest_divisor", lambda number, at_least: at_least)  # plain rounding up
    assert "value size.infiniband.spine_switches" in failing(advisor, cases[id])


def changed_template(monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[str], str]) -> None:
    before = (TEMPLATES / name).read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    loader = jinja2.ChoiceLoader([jinja2.DictLoader({name: after}), jinja2.FileSystemLoader(TEMPLATES)])
    environment = writer._templates().overlay(loader=loader, cache_size=0)
    monkeypatch.setattr(writer, "_templates", lambda: environment)


@pytest.mark.parametrize(
    ("id", "template", "sentence"),
    [
        ("dec-64-en", "decision.en.md.j2", "\n\nRoCE saves 37% here.\n"),
        ("dec-64-zh", "decision.zh.md.j2", "\n\n这里 RoCE 可节省 37%。\n"),
    ],
)
def test_an_unsourced_number_is_caught(
    advisor: Advisor,
    cases: dict[str, Case],
    monkeypatch: pytest.MonkeyPatch,
    id: str,
    template: str,
    sentence: str,
) -> None:
    changed_template(monkeypatch, template, lambda text: text + sentence)
    assert {"numbers have sources", "claims have sources"} <= failing(advisor, cases[id])


def test_a_dropped_note_is_caught(cases: dict[str, Case], knowledge: Path, home: Path) -> None:
    for language in ("en", "zh"):
        (knowledge / "notes" / f"pfc-deadlock.{language}.md").unlink()
    broken = Advisor.open(Settings(home=home, knowledge=knowledge, _env_file=None))  # type: ignore[call-arg]
    try:
        for id in ("exp-pfc-deadlock-en", "exp-pfc-deadlock-zh"):
            assert {"found", "cites the topic"} <= failing(broken, cases[id])
    finally:
        broken.library.close()


def _swap_columns(text: str) -> str:
    names = {"infiniband": "roce", "roce": "infiniband"}
    return re.sub(r'(?<=v\("cost", ")(infiniband|roce)(?=")', lambda match: names[match[0]], text)


def test_a_translation_with_the_columns_swapped_is_caught(
    advisor: Advisor, cases: dict[str, Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    changed_template(monkeypatch, "fabrics_table.zh.md.j2", _swap_columns)
    assert "figures of the right fabric" in failing(advisor, cases["dec-comparison-zh"])


def test_a_template_in_the_wrong_language_is_caught(
    advisor: Advisor, cases: dict[str, Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    english = (TEMPLATES / "cost.en.md.j2").read_text(encoding="utf-8")
    changed_template(monkeypatch, "cost.zh.md.j2", lambda _: english)
    assert "text_language" in failing(advisor, cases["cost-1024-zh"])
