"""Our own retrieval set: queries with the passages that answer them, and the documents they are searched in.

Gold names passages by English heading; a note's Chinese version has the same headings in the same order, so each
`topic#heading` is met by the Chinese passage too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from app.errors import AdvisorError
from eval.located_yaml import Fields, read_yaml

HERE = Path(__file__).parent / "retrieval"
INTRODUCTION = "introduction"  # the passage before a note's first heading
LANGUAGES = ("en", "zh")
PARTS = ("tune", "report", "blind")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_HEADING = re.compile(r"^## +(.+?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Query:
    """`gold`: what has to be found, as eval.metrics.retrieval reads it, alternatives between bars."""

    id: str
    text: str
    language: str
    gold: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def half(self) -> str:
        """`tune`: may be used to improve the search; `report`: only measured. By the id, so that it never changes.
        `blind`: a third part, written later without a look at any ranking, only measured too.
        """
        if "blind" in self.tags:
            return "blind"
        if "known" in self.tags:
            return "tune"
        return ("tune", "report")[hashlib.sha256(self.id.encode()).digest()[0] & 1]


@dataclass(frozen=True)
class RetrievalSet:
    queries: tuple[Query, ...]
    documents: Path  # folder of documents that some queries ask for
    distractors: Path

    @cached_property
    def answering(self) -> frozenset[str]:
        return frozenset(path.name for path in self.documents.iterdir())


def load_retrieval_set(notes: Path, folder: Path = HERE) -> RetrievalSet:
    """Raises AdvisorError that names the line of a query with an unknown topic, heading or document, or of a twice
    used id.
    """
    path = folder / "queries.yaml"
    documents, distractors = folder / "documents", folder / "distractors"
    headings = _headings(notes)
    known = frozenset(one.name for one in documents.iterdir())
    queries: list[Query] = []
    for entry in read_yaml(path) or []:
        fields = Fields(entry, path.name, line=getattr(entry, "line", 1), known=_FIELDS, what="query")
        query = _query(fields, headings, known)
        if query.id in {other.id for other in queries}:
            raise AdvisorError(f"{path.name}: the id {query.id} occurs twice.", "Give every query an id of its own.")
        queries.append(query)
    return RetrievalSet(tuple(queries), documents, distractors)


_FIELDS = ("id", "query", "language", "tags", "gold")


def _query(fields: Fields, headings: Mapping[str, list[tuple[str, str]]], documents: frozenset[str]) -> Query:
    gold = fields.data.get("gold")
    if not isinstance(gold, list) or not gold or not all(isinstance(item, list) and item for item in gold):
        fields.fail("gold", "must be a list of lists of passages")
    if fields.data.get("language") not in LANGUAGES:
        fields.fail("language", "must be en or zh")
    items = []
    for item in gold:
        names: list[str] = []
        for name in item:
            names += _spelt_out(str(name), fields, headings, documents)
        items.append("|".join(names))
    text, language = str(fields.data.get("query", "")), str(fields.data["language"])
    if not text.strip():
        fields.fail("query", "is missing")
    tags = tuple(str(tag) for tag in fields.data.get("tags") or ())
    return Query(str(fields.data.get("id", "")), text, language, tuple(items), tags)


def _spelt_out(
    name: str, fields: Fields, headings: Mapping[str, list[tuple[str, str]]], documents: frozenset[str]
) -> Iterator[str]:
    topic, _, heading = name.partition("#")
    if name in documents or (topic in headings and heading in ("", INTRODUCTION)):
        yield name
        return
    if topic not in headings:
        fields.fail("gold", f"there is no note or document '{topic}'")
    pair = next((pair for pair in headings[topic] if pair[0] == heading), None)
    if pair is None:
        fields.fail("gold", f"the note {topic} has no heading '{heading}'")
    yield from (f"{topic}#{one}" for one in pair)


def _headings(notes: Path) -> dict[str, list[tuple[str, str]]]:
    """English and Chinese headings of every note, in order."""
    found: dict[str, list[tuple[str, str]]] = {}
    for english in sorted(notes.glob("*.en.md")):
        topic = english.name.removesuffix(".en.md")
        both: list[list[str]] = []
        for path in (english, notes / f"{topic}.zh.md"):
            both.append(_HEADING.findall(_FRONT_MATTER.sub("", path.read_text(encoding="utf-8"))))
        if len(both[0]) != len(both[1]):
            raise AdvisorError(
                f"{english.name} has {len(both[0])} headings and its Chinese version {len(both[1])}.",
                "Make the two versions alike.",
            )
        found[topic] = list(zip(*both, strict=True))
    return found


def of_half(queries: tuple[Query, ...], half: str) -> tuple[Query, ...]:
    """The queries of a half or part; all for ``all``."""
    return queries if half == "all" else tuple(query for query in queries if query.half == half)


def counts(queries: tuple[Query, ...]) -> dict[str, Any]:
    """Queries by language and part, for the report."""
    return {
        language: {half: sum(one.language == language for one in of_half(queries, half)) for half in PARTS}
        for language in LANGUAGES
    }
