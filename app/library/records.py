"""Documents and passages as the manifest stores them: plain records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage to store, with the words it is found by."""

    id: str
    section: str
    section_number: int
    part: int
    start: int
    end: int
    language: str
    page: int | None
    source_refs: tuple[str, ...]
    context: str
    text: str
    words: Sequence[str]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document to store."""

    id: str
    name: str
    path: str
    url: str
    title: str
    language: str
    kind: str
    topic: str
    sha256: str
    size: int
    mtime_ns: int
    revision: str
    sources: dict[str, dict[str, str]]
    text: str
    passages: tuple[PassageRow, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a stored file, to decide whether to read it again."""

    id: str
    name: str
    path: str
    kind: str
    sha256: str
    size: int
    mtime_ns: int
    revision: str
