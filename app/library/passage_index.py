"""Passages and their words in the manifest, as search reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from app.library.database import Database
from app.library.filters import DocumentFacts
from app.library.pairs import NotePlace
from app.library.passage import Passage
from app.library.word_index import Name, Numbers, WordIndex

_COLUMNS = """p.id, p.document_id, d.name, d.title, d.url, p.section, p.text, p.start, p."end",
    p.language, p.page, d.topic, p.source_refs"""


class Place(NamedTuple):
    """Where a passage belongs."""

    id: str
    document_id: str
    language: str
    kind: str


class PassageIndex:
    def __init__(self, database: Database, words: WordIndex):
        self._db = database
        self._words = words

    def passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        """Passages by id; an id that is not there is left out."""
        wanted = list(dict.fromkeys(ids))
        rows = self._db.rows(
            f"""SELECT {_COLUMNS} FROM passages p JOIN documents d ON d.id = p.document_id
                WHERE p.id IN ({",".join("?" * len(wanted))})""",
            wanted,
        )
        return {row[0]: _passage(row) for row in rows}

    def languages(self, ids: Iterable[str]) -> dict[str, str]:
        wanted = list(dict.fromkeys(ids))
        return dict(
            self._db.rows(f"SELECT id, language FROM passages WHERE id IN ({','.join('?' * len(wanted))})", wanted)
        )

    def note_places(self) -> list[NotePlace]:
        """Where all passages of notes stand."""
        rows = self._db.rows(
            """SELECT p.id, d.topic, d.language, p.section_number, p.part
               FROM documents d JOIN passages p ON p.document_id = d.id WHERE d.kind = 'note'"""
        )
        return [NotePlace(*row) for row in rows]

    def note_passages(self, topic: str, language: str) -> list[Passage]:
        """All passages of a note in one language, in order; empty where there is no such note."""
        rows = self._db.rows(
            """SELECT p.id FROM passages p JOIN documents d ON d.id = p.document_id
               WHERE d.topic = ? AND d.kind = 'note' AND d.language = ? ORDER BY p.section_number, p.part""",
            (topic, language),
        )
        found = self.passages(row[0] for row in rows)
        return [found[row[0]] for row in rows]

    def mentions(self, name: str) -> bool:
        """Whether any passage holds this name, in any case, with or without its hyphens and a plural s."""
        singular = name[:-1] if name.endswith("s") else name
        variants = {singular, singular.replace("-", ""), singular.replace("-", " ")}
        where = " OR ".join("text LIKE ? ESCAPE '\\'" for _ in variants)
        return bool(
            self._db.rows(f"SELECT 1 FROM passages WHERE {where} LIMIT 1", [_containing(one) for one in variants])
        )

    def count(self) -> int:
        return self._words.count()

    def places(self) -> list[Place]:
        """All passages, in order of their numbers."""
        rows = self._db.rows(
            """SELECT p.id, p.document_id, p.language, d.kind
               FROM passages p JOIN documents d ON d.id = p.document_id ORDER BY p.number"""
        )
        return [Place(*row) for row in rows]

    def document_facts(self) -> list[DocumentFacts]:
        rows = self._db.rows("SELECT id, name, path, url, mtime_ns, sources FROM documents")
        return [
            DocumentFacts(id_, name, path, url, mtime_ns, tuple(json.loads(sources).values()))
            for id_, name, path, url, mtime_ns, sources in rows
        ]

    def match(
        self,
        names: Iterable[Name],
        limit: int,
        kind: str | None = None,
        *,
        language: str = "",
        documents: Iterable[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Passage ids and BM25 scores (higher is better, above 0) of those that hold any of the names, best first;
        of a kind, a language and some documents if asked.
        """
        allowed = None
        if kind is not None or language or documents is not None:
            allowed = self._numbers(kind, language, documents)
        best = self._words.best(names, limit, allowed)
        found = self._db.rows(
            f"SELECT number, id FROM passages WHERE number IN ({','.join('?' * len(best))})",
            [number for number, _ in best],
        )
        ids: dict[int, str] = dict(found)
        return [(ids[number], score) for number, score in best if number in ids]

    def _numbers(self, kind: str | None, language: str, documents: Iterable[str] | None) -> Numbers:
        wanted = json.dumps(list(documents)) if documents is not None else None
        rows = self._db.rows(
            """SELECT p.number FROM passages p JOIN documents d ON d.id = p.document_id
               WHERE (?1 IS NULL OR d.kind = ?1) AND (?2 = '' OR p.language = ?2)
               AND (?3 IS NULL OR d.id IN (SELECT value FROM json_each(?3)))""",
            (kind, language, wanted),
        )
        return np.fromiter((row[0] for row in rows), np.int64, len(rows))

    def words_of(self, ids: Iterable[str]) -> dict[str, frozenset[str]]:
        wanted = list(dict.fromkeys(ids))
        rows = self._db.rows(
            f"""SELECT p.id, w.content FROM passages p JOIN words w ON w.rowid = p.number
                WHERE p.id IN ({",".join("?" * len(wanted))})""",
            wanted,
        )
        return {id_: frozenset(words.split()) for id_, words in rows}

    def words_beginning(self, letters: str) -> dict[str, int]:
        """Index words that begin so, with the number of passages that have them."""
        last = letters[:-1] + chr(ord(letters[-1]) + 1)
        return dict(self._db.rows("SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ?", (letters, last)))

    def headings(self, ids: Iterable[str]) -> dict[str, str]:
        """Title and heading path of passages."""
        wanted = list(dict.fromkeys(ids))
        return dict(
            self._db.rows(
                f"""SELECT p.id, d.title || ' ' || p.section FROM passages p JOIN documents d ON d.id = p.document_id
                    WHERE p.id IN ({",".join("?" * len(wanted))})""",
                wanted,
            )
        )

    def document_frequency(self, words: Iterable[str]) -> dict[str, int]:
        """In how many passages each word occurs; a word that is nowhere is left out."""
        return self._words.document_frequency(words)


def _passage(row: Any) -> Passage:
    id_, document_id, name, title, url, section, text, start, end, language, page, topic, source_refs = row
    refs = tuple(json.loads(source_refs))
    return Passage(id_, document_id, name, title, url, section, text, start, end, language, page, topic, refs)


def _containing(text: str) -> str:
    """A LIKE pattern for texts that contain `text`."""
    for special in "\\%_":
        text = text.replace(special, "\\" + special)
    return f"%{text}%"
