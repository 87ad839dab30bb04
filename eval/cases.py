"""The typed case: a question as people type it, and what publications and hand arithmetic say of the answer.

A case never holds what the program happened to answer; `source` says where each expectation comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from app.advisor.answer import Choice, Kind
from app.errors import AdvisorError
from eval.located_yaml import Fields, Located, read_yaml
from eval.relations import Relation

KINDS = frozenset(get_args(Kind))
CHOICES = frozenset(get_args(Choice))
_TAGS = """
quick decision comparison sizing cost power performance training configuration diagnosis explanation market
multi-turn ambiguity false-premise near-miss out-of-scope injection nonsense unit-trap typo paraphrase
number-words small medium large article constraint naas operations storage inference security china user-set
heldout heldout2 heldout3 heldout4 heldout4
"""
TAGS = frozenset(_TAGS.split())
REFUSALS = frozenset({"out_of_scope", "no_evidence"})
_FIELDS = """
id language answers_in question turns tags kind verdict spec values relations tools gold must must_not
agrees_with source
"""


@dataclass(frozen=True, slots=True)
class ExpectedValue:
    """A value that a calculation must have: `path` is tool.value or tool.label.value (.low, .high: the ends).

    Exactly one of `value` (with a relative tolerance) and `between` is set. `stated`: the text must say it.
    """

    path: str
    value: float | str | None
    unit: str = ""
    rel_tol: float = 0.0
    between: tuple[float, float] | None = None
    stated: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    language: str  # "en" | "zh" | "mixed"
    answers_in: str  # "en" | "zh"
    turns: tuple[str, ...]
    source: str
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()  # any of these is right; () = not judged
    verdicts: tuple[str, ...] = ()  # any of these is right; () = not judged
    spec: Mapping[str, Any] = field(default_factory=dict)
    values: tuple[ExpectedValue, ...] = ()
    relations: tuple[Relation, ...] = ()
    required_tools: tuple[str, ...] = ()
    forbidden_tools: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()  # "topic" or "topic#heading"
    must: tuple[tuple[str, ...], ...] = ()  # groups: one phrase of each must occur
    must_not: tuple[str, ...] = ()
    agrees_with: str = ""
    file: str = ""
    line: int = 0

    @property
    def question(self) -> str:
        return self.turns[-1]

    @property
    def refuses(self) -> bool:
        return bool(self.kinds) and set(self.kinds) <= REFUSALS


def load_cases(paths: Iterable[Path]) -> list[Case]:
    """Every case of the YAML files (a folder counts as its *.yaml), ids unique, references resolved."""
    cases: list[Case] = []
    for path in _files(paths):
        content = read_yaml(path)
        if not isinstance(content, list) or not content:
            raise AdvisorError(f"{path.name}, line 1: must be a list of cases.", "See eval/README.md.")
        cases += [parse_case(item, path.name) for item in content]
    return checked(cases)


def checked(cases: list[Case]) -> list[Case]:
    """The cases themselves, once ids are unique and every `agrees_with` is the id of another case."""
    by_id: dict[str, Case] = {}
    for case in cases:
        if case.id in by_id:
            first = by_id[case.id]
            raise AdvisorError(
                f"{case.file}, line {case.line}, field 'id': '{case.id}' is already used "
                f"in {first.file}, line {first.line}.",
                "Give each case an id of its own.",
            )
        by_id[case.id] = case
    for case in cases:
        if case.agrees_with and (case.agrees_with not in by_id or case.agrees_with == case.id):
            raise AdvisorError(
                f"{case.file}, line {case.line}, field 'agrees_with': there is no other case '{case.agrees_with}'.",
                "Name the id of the case that asks the same.",
            )
    return cases


def parse_case(item: Any, file: str) -> Case:
    """One case from YAML read with lines; raises AdvisorError that names file, line and field."""
    fields = Fields(item, file, known=_FIELDS.split())
    language = fields.text("language")
    if language not in ("en", "zh", "mixed"):
        fields.fail("language", "must be en, zh or mixed")
    if language == "mixed" and "answers_in" not in fields.data:
        fields.fail("answers_in", "is missing: say in which language a mixed question is to be answered")
    answers_in = fields.text("answers_in", language)
    if answers_in not in ("en", "zh"):
        fields.fail("answers_in", "must be en or zh")
    if ("question" in fields.data) == ("turns" in fields.data):
        fields.fail("question", "give either question or turns")
    tools = _tools(fields)
    return Case(
        id=fields.text("id"),
        language=language,
        answers_in=answers_in,
        turns=(fields.text("question"),) if "question" in fields.data else fields.texts("turns"),
        source=fields.text("source"),
        tags=fields.each("tags", TAGS.__contains__, f"is no tag; known are {', '.join(sorted(TAGS))}"),
        kinds=fields.each("kind", KINDS.__contains__, f"is no kind; known are {', '.join(sorted(KINDS))}"),
        verdicts=fields.each("verdict", CHOICES.__contains__, "is no choice"),
        spec=dict(fields.mapping("spec")),
        values=_values(fields),
        relations=tuple(_relation(fields, text) for text in fields.texts("relations")),
        required_tools=tools[0],
        forbidden_tools=tools[1],
        gold=fields.texts("gold"),
        must=_groups(fields),
        must_not=fields.texts("must_not"),
        agrees_with=fields.text("agrees_with", ""),
        file=file,
        line=fields.data.line,
    )


def _files(paths: Iterable[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(path.glob("*.yaml"))
        elif path.is_file():
            files.append(path)
        else:
            raise AdvisorError(f"There is no file or folder {path}.", "Name a YAML or CSV file of questions.")
    if not files:
        raise AdvisorError("No questions were found.", "Name a YAML file, a CSV file or a folder of YAML files.")
    return files


def _tools(fields: Fields) -> tuple[tuple[str, ...], tuple[str, ...]]:
    tools = Fields(fields.mapping("tools"), fields.file, known=("required", "forbidden"), what="field 'tools'")
    return tools.texts("required"), tools.texts("forbidden")


def _groups(fields: Fields) -> tuple[tuple[str, ...], ...]:
    value = fields.data.get("must", [])
    groups = [[value]] if isinstance(value, str) else value
    if not isinstance(groups, list):
        fields.fail("must", "must be a list; each item a phrase, or a list of phrases of which one must occur")
    found = []
    for group in groups:
        phrases = [group] if isinstance(group, str) else group
        if not isinstance(phrases, list) or not phrases or not all(isinstance(p, str) and p for p in phrases):
            fields.fail("must", "each item must be a phrase or a list of phrases (quote numbers)")
        found.append(tuple(phrases))
    return tuple(found)


def _relation(fields: Fields, text: str) -> Relation:
    try:
        return Relation.parse(text)
    except ValueError as error:
        fields.fail("relations", str(error))


def _values(fields: Fields) -> tuple[ExpectedValue, ...]:
    expected = []
    values = fields.mapping("values")
    for path, content in values.items():
        if len(path.split(".")) not in (2, 3, 4):
            fields.fail("values", f"'{path}' must be tool.value or tool.label.value")
        expected.append(_value(path, content, values, fields.file))
    return tuple(expected)


def _value(path: str, content: Any, values: Located, file: str) -> ExpectedValue:
    if isinstance(content, int | float | str):  # short form: a count, exact
        return ExpectedValue(path, content)
    known = ("value", "unit", "rel_tol", "between", "stated")
    one = Fields(content, file, line=values.lines[path], known=known, what=f"value '{path}'")
    if ("value" in one.data) == ("between" in one.data):
        one.fail("value", f"give either value or between for '{path}'")
    between = one.data.get("between")
    if between is not None:
        if not isinstance(between, list) or len(between) != 2 or not between[0] <= between[1]:
            one.fail("between", "must be two numbers, the lower first")
        between = (float(between[0]), float(between[1]))
    value = one.data.get("value")
    if value is not None and not isinstance(value, str):
        value = one.number("value")
    return ExpectedValue(path, value, one.text("unit", ""), one.number("rel_tol", 0.0), between, one.flag("stated"))
