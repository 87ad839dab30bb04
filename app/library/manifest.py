"""The manifest: one SQLite file that says what is in the library. It is the source of truth; vectors follow
it.

Holds documents with their full text, passages, the word index (FTS5), failures, and a generation number that
grows with every change, by which other processes notice. It knows nothing of files, embeddings or vectors.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.errors import AdvisorError
from app.library.document import Document, Failure
from app.library.passage import Passage

_SCHEMA = Path(__file__).with_name("schema.sql")
_SCHEMA_VERSION = 1
_PASSAGE_COLUMNS = """p.id, p.document_id, d.name, d.title, d.url, p.section, p.text, p.start, p."end",
    p.language, p.page, d.topic, p.source_refs"""


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


class Manifest:
    def __init__(self, path: Path):
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise AdvisorError(
                f"The library {path} cannot be opened: {error}.",
                "Set FABRIC_ADVISOR_HOME to a writable folder; delete a damaged file and ingest again.",
            ) from None

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            with self.transaction():
                for statement in _statements(_SCHEMA.read_text(encoding="utf-8")):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        elif version != _SCHEMA_VERSION:
            raise sqlite3.DatabaseError(f"it has format {version}, this program knows {_SCHEMA_VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; disk full and the like become one clear error."""
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                raise _storage_error(error) from None
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException as error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise _storage_error(error) from None
                raise

    def _rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        with self._lock:
            return self._db.execute(query, parameters).fetchall()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # --- settings of the index --------------------------------------------------------------------

    def setting(self, key: str) -> str:
        rows = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def set_setting(self, key: str, value: str) -> None:
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def generation(self) -> int:
        return int(self.setting("generation") or 0)

    def _advance(self) -> None:
        self.set_setting("generation", str(self.generation() + 1))

    # --- documents --------------------------------------------------------------------------------

    def put(self, documents: Iterable[DocumentRow]) -> None:
        """Store documents, each in place of its former version; their vectors must be written before this."""
        with self.transaction():
            for document in documents:
                self._drop(document.id)
                self._insert(document)
                self._db.execute("DELETE FROM failures WHERE id = ?", (document.id,))
            self._advance()

    def drop(self, document_ids: Iterable[str]) -> None:
        """Forget documents and failures; their vectors become unsettled."""
        with self.transaction():
            for document_id in document_ids:
                self._drop(document_id)
                self._db.execute("DELETE FROM failures WHERE id = ?", (document_id,))
            self._advance()

    def _insert(self, document: DocumentRow) -> None:
        d = document
        self._db.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (d.id, d.name, d.path, d.url, d.title, d.language, d.kind, d.topic, len(d.text), d.sha256, d.size,
             d.mtime_ns, d.revision, json.dumps(d.sources, ensure_ascii=False), d.text, _now()),
        )  # fmt: skip
        for p in d.passages:
            cursor = self._db.execute(
                """INSERT INTO passages (id, document_id, section, section_number, part, start, "end",
                   language, page, source_refs, context, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                (p.id, d.id, p.section, p.section_number, p.part, p.start, p.end, p.language, p.page,
                 json.dumps(p.source_refs), p.context, p.text),
            )  # fmt: skip
            self._db.execute(
                "INSERT INTO words (rowid, content) VALUES (?, ?)", (cursor.lastrowid, " ".join(p.words))
            )
        self._db.executemany("DELETE FROM unsettled WHERE id = ?", [(p.id,) for p in d.passages])

    def _drop(self, document_id: str) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO unsettled SELECT id FROM passages WHERE document_id = ?", (document_id,)
        )
        self._db.execute(
            "DELETE FROM words WHERE rowid IN (SELECT number FROM passages WHERE document_id = ?)",
            (document_id,),
        )
        self._db.execute("DELETE FROM passages WHERE document_id = ?", (document_id,))
        self._db.execute("DELETE FROM documents WHERE id = ?", (document_id,))

    def touch(self, document_id: str, size: int, mtime_ns: int) -> None:
        """The file looks different but says the same."""
        with self._lock:
            self._db.execute(
                "UPDATE documents SET size = ?, mtime_ns = ? WHERE id = ?", (size, mtime_ns, document_id)
            )

    def known(self) -> dict[str, Known]:
        rows = self._rows("SELECT id, name, path, kind, sha256, size, mtime_ns, revision FROM documents")
        return {row[0]: Known(*row) for row in rows}

    def documents(self) -> list[Document]:
        """All documents by name, and the files that failed."""
        reasons = {row[0]: row for row in self._rows("SELECT id, name, path, kind, reason, at FROM failures")}
        rows = self._rows(
            """SELECT d.id, d.name, d.title, d.path, d.url, d.language, d.kind,
                      (SELECT count(*) FROM passages p WHERE p.document_id = d.id),
                      d.characters, d.sha256, d.added_at, d.topic FROM documents d"""
        )
        found = []
        for row in rows:
            failure = reasons.pop(row[0], None)
            found.append(_document(row, failure[4] if failure else ""))
        for id_, name, path, kind, reason, at in reasons.values():
            found.append(Document(id_, name, name, path, "", "", kind, 0, 0, "", "failed", reason, at, ""))
        return sorted(found, key=lambda document: (document.kind, document.name))

    def text(self, document_id: str) -> str | None:
        rows = self._rows("SELECT text FROM documents WHERE id = ?", (document_id,))
        return str(rows[0][0]) if rows else None

    def sources(self, document_id: str) -> dict[str, dict[str, str]]:
        rows = self._rows("SELECT sources FROM documents WHERE id = ?", (document_id,))
        return dict(json.loads(rows[0][0])) if rows else {}

    def record_failure(self, document_id: str, failure: Failure, kind: str) -> None:
        with self._lock:
            self._db.execute(
                "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?)",
                (document_id, failure.name, failure.path, kind, failure.reason, _now()),
            )

    # --- passages ---------------------------------------------------------------------------------

    def passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        """Passages by id; an id that is not there is left out."""
        wanted = list(dict.fromkeys(ids))
        rows = self._rows(
            f"""SELECT {_PASSAGE_COLUMNS} FROM passages p JOIN documents d ON d.id = p.document_id
                WHERE p.id IN ({",".join("?" * len(wanted))})""",
            wanted,
        )
        return {row[0]: _passage(row) for row in rows}

    def positions(self, ids: Iterable[str]) -> dict[str, tuple[str, int, int]]:
        """(kind of document, section number, part) of passages."""
        wanted = list(dict.fromkeys(ids))
        rows = self._rows(
            f"""SELECT p.id, d.kind, p.section_number, p.part
                FROM passages p JOIN documents d ON d.id = p.document_id
                WHERE p.id IN ({",".join("?" * len(wanted))})""",
            wanted,
        )
        return {row[0]: (row[1], row[2], row[3]) for row in rows}

    def counterparts(self, topic: str, language: str, section_number: int) -> list[str]:
        """Ids of the passages of a note pair's section in one language, in order."""
        rows = self._rows(
            """SELECT p.id FROM passages p JOIN documents d ON d.id = p.document_id
               WHERE d.topic = ? AND d.kind = 'note' AND d.language = ? AND p.section_number = ?
               ORDER BY p.part""",
            (topic, language, section_number),
        )
        return [row[0] for row in rows]

    def note_passages(self, topic: str, language: str) -> list[Passage]:
        """All passages of a note in one language, in order; empty where there is no such note."""
        rows = self._rows(
            """SELECT p.id FROM passages p JOIN documents d ON d.id = p.document_id
               WHERE d.topic = ? AND d.kind = 'note' AND d.language = ? ORDER BY p.section_number, p.part""",
            (topic, language),
        )
        found = self.passages(row[0] for row in rows)
        return [found[row[0]] for row in rows]

    def passage_ids(self) -> set[str]:
        return {row[0] for row in self._rows("SELECT id FROM passages")}

    def passage_count(self) -> int:
        return int(self._rows("SELECT count(*) FROM passages")[0][0])

    def to_embed(self, ids: Iterable[str]) -> Iterator[tuple[str, str, str, str, str, str]]:
        """(id, title, section, context, text, kind) of passages, for embedding them anew."""
        for id_ in ids:
            yield from self._rows(
                """SELECT p.id, d.title, p.section, p.context, p.text, d.kind
                   FROM passages p JOIN documents d ON d.id = p.document_id WHERE p.id = ?""",
                (id_,),
            )

    # --- vectors that may exist without a passage -------------------------------------------------

    def unsettled(self) -> list[str]:
        """Ids whose vectors may exist although no passage has them."""
        return [
            row[0] for row in self._rows("SELECT id FROM unsettled WHERE id NOT IN (SELECT id FROM passages)")
        ]

    def add_unsettled(self, ids: Iterable[str]) -> None:
        with self.transaction():
            self._db.executemany("INSERT OR IGNORE INTO unsettled VALUES (?)", [(id_,) for id_ in ids])

    def settle(self, ids: Iterable[str]) -> None:
        with self.transaction():
            self._db.executemany("DELETE FROM unsettled WHERE id = ?", [(id_,) for id_ in ids])

    # --- words ------------------------------------------------------------------------------------

    def match(self, query: str, limit: int, kind: str | None = None) -> list[tuple[str, float]]:
        """Passage ids and BM25 scores (higher is better, above 0) for an FTS5 query, best first."""
        rows = self._rows(
            """SELECT p.id, -bm25(words) FROM words JOIN passages p ON p.number = words.rowid
               JOIN documents d ON d.id = p.document_id
               WHERE words MATCH ? AND (? IS NULL OR d.kind = ?) ORDER BY bm25(words) LIMIT ?""",
            (query, kind, kind, limit),
        )
        return [(id_, score) for id_, score in rows if score > 0]

    def words_of(self, ids: Iterable[str]) -> dict[str, frozenset[str]]:
        wanted = list(dict.fromkeys(ids))
        rows = self._rows(
            f"""SELECT p.id, w.content FROM passages p JOIN words w ON w.rowid = p.number
                WHERE p.id IN ({",".join("?" * len(wanted))})""",
            wanted,
        )
        return {id_: frozenset(words.split()) for id_, words in rows}

    def document_frequency(self, words: Iterable[str]) -> dict[str, int]:
        """In how many passages each word occurs."""
        wanted = list(dict.fromkeys(words))
        rows = self._rows(
            f"SELECT term, doc FROM vocabulary WHERE term IN ({','.join('?' * len(wanted))})", wanted
        )
        return dict(rows)

    def all_texts(self) -> Iterator[tuple[int, str, str, str, str]]:
        """(number, title, section, context, text) of every passage, to index its words anew."""
        yield from self._rows(
            """SELECT p.number, d.title, p.section, p.context, p.text
               FROM passages p JOIN documents d ON d.id = p.document_id"""
        )

    def replace_words(self, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        with self.transaction():
            self._db.execute("DELETE FROM words")
            self._db.executemany(
                "INSERT INTO words (rowid, content) VALUES (?, ?)",
                ((number, " ".join(w)) for number, w in rows),
            )
            self._advance()


def _document(row: Any, error: str) -> Document:
    id_, name, title, path, url, language, kind, passages, characters, sha256, added_at, topic = row
    return Document(
        id_,
        name,
        title,
        path,
        url,
        language,
        kind,
        passages,
        characters,
        sha256,
        "ready",
        error,
        added_at,
        topic,
    )


def _passage(row: Any) -> Passage:
    id_, document_id, name, title, url, section, text, start, end, language, page, topic, source_refs = row
    refs = tuple(json.loads(source_refs))
    return Passage(id_, document_id, name, title, url, section, text, start, end, language, page, topic, refs)


def _storage_error(error: sqlite3.Error) -> AdvisorError:
    if "locked" in str(error):
        return AdvisorError(
            "The library is busy: another program is writing to it.", "Try again in a moment."
        )
    return AdvisorError(
        f"The library cannot be written: {error}.",
        "Check that FABRIC_ADVISOR_HOME is writable and has free space.",
    )


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
