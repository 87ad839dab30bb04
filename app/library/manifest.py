"""The manifest: what is in the library. It is the source of truth; vectors follow it.

Holds documents with their full text, passages, the word index (FTS5), failures, and a generation number that
grows with every change, by which other processes notice. It knows nothing of files, embeddings or vectors.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from app.library.database import Database
from app.library.document import Document, Failure
from app.library.records import DocumentRow, Known


class Manifest:
    def __init__(self, database: Database):
        self._db = database

    # --- settings of the index --------------------------------------------------------------------

    def setting(self, key: str) -> str:
        rows = self._db.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def set_setting(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def library_id(self) -> str:
        """Random, made once: tells this library from others."""
        if not self.setting("library"):  # asked first: a full disk must not keep anyone from searching
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('library', ?)", (secrets.token_hex(6),))
        return self.setting("library")

    def generation(self) -> int:
        return int(self.setting("generation") or 0)

    def _advance(self) -> None:
        self.set_setting("generation", str(self.generation() + 1))

    # --- documents --------------------------------------------------------------------------------

    def put(self, documents: Iterable[DocumentRow]) -> None:
        """Store documents, each in place of its former version; their vectors must be written before this."""
        with self._db.transaction():
            for document in documents:
                self._drop(document.id)
                self._insert(document)
                self._db.execute("DELETE FROM failures WHERE id = ?", (document.id,))
            self._advance()

    def drop(self, document_ids: Iterable[str]) -> None:
        """Forget documents and failures; their vectors become unsettled."""
        with self._db.transaction():
            for document_id in document_ids:
                self._drop(document_id)
                self._db.execute("DELETE FROM failures WHERE id = ?", (document_id,))
            self._advance()

    def wipe(self) -> None:
        """Take what was dropped off the disk too: words out of the index, pages out of the log."""
        with self._db.transaction():
            self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._db.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _insert(self, document: DocumentRow) -> None:
        d = document
        self._db.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (d.id, d.name, d.path, d.url, d.title, d.language, d.kind, d.topic, len(d.text), d.sha256, d.size,
             d.mtime_ns, d.revision, json.dumps(d.sources, ensure_ascii=False), d.text, _now()),
        )  # fmt: skip
        for p in d.passages:
            number = self._db.execute(
                """INSERT INTO passages (id, document_id, section, section_number, part, start, "end",
                   language, page, source_refs, context, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                (p.id, d.id, p.section, p.section_number, p.part, p.start, p.end, p.language, p.page,
                 json.dumps(p.source_refs), p.context, p.text),
            )  # fmt: skip
            self._db.execute("INSERT INTO words (rowid, content) VALUES (?, ?)", (number, " ".join(p.words)))
        self._db.execute_many("DELETE FROM unsettled WHERE id = ?", [(p.id,) for p in d.passages])

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
        self._db.execute("UPDATE documents SET size = ?, mtime_ns = ? WHERE id = ?", (size, mtime_ns, document_id))

    def known(self) -> dict[str, Known]:
        rows = self._db.rows("SELECT id, name, path, kind, sha256, size, mtime_ns, revision FROM documents")
        return {row[0]: Known(*row) for row in rows}

    def documents(self) -> list[Document]:
        """All documents by name, and the files that failed."""
        reasons = {row[0]: row for row in self._db.rows("SELECT id, name, path, kind, reason, at FROM failures")}
        rows = self._db.rows(
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
        rows = self._db.rows("SELECT text FROM documents WHERE id = ?", (document_id,))
        return str(rows[0][0]) if rows else None

    def sources(self, document_id: str) -> dict[str, dict[str, str]]:
        rows = self._db.rows("SELECT sources FROM documents WHERE id = ?", (document_id,))
        return dict(json.loads(rows[0][0])) if rows else {}

    def failed_paths(self) -> list[str]:
        return [row[0] for row in self._db.rows("SELECT path FROM failures")]

    def forget_failures(self, paths: Iterable[str]) -> None:
        self._db.execute_many("DELETE FROM failures WHERE path = ?", [(path,) for path in paths])

    def forget_failure(self, document_id: str) -> None:
        self._db.execute("DELETE FROM failures WHERE id = ?", (document_id,))

    def record_failure(self, document_id: str, failure: Failure, kind: str) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?)",
            (document_id, failure.name, failure.path, kind, failure.reason, _now()),
        )

    # --- vectors that may exist without a passage -------------------------------------------------

    def unsettled(self) -> list[str]:
        """Ids whose vectors may exist although no passage has them."""
        return [row[0] for row in self._db.rows("SELECT id FROM unsettled WHERE id NOT IN (SELECT id FROM passages)")]

    def add_unsettled(self, ids: Iterable[str]) -> None:
        with self._db.transaction():
            self._db.execute_many("INSERT OR IGNORE INTO unsettled VALUES (?)", [(id_,) for id_ in ids])

    def settle(self, ids: Iterable[str]) -> None:
        with self._db.transaction():
            self._db.execute_many("DELETE FROM unsettled WHERE id = ?", [(id_,) for id_ in ids])

    # --- passages -----------------------------------------------------------------------------------

    def passage_ids(self) -> set[str]:
        return {row[0] for row in self._db.rows("SELECT id FROM passages")}

    def to_embed(self, ids: Iterable[str]) -> Iterator[tuple[str, str, str, str, str, str, str]]:
        """(id, title, section, context, text, kind, language) of passages, for embedding them anew."""
        for id_ in ids:
            yield from self._db.rows(
                """SELECT p.id, d.title, p.section, p.context, p.text, d.kind, p.language
                   FROM passages p JOIN documents d ON d.id = p.document_id WHERE p.id = ?""",
                (id_,),
            )

    def all_texts(self) -> Iterator[tuple[int, str, str, str, str]]:
        """(number, title, section, context, text) of every passage, to index its words anew."""
        yield from self._db.rows(
            """SELECT p.number, d.title, p.section, p.context, p.text
               FROM passages p JOIN documents d ON d.id = p.document_id"""
        )

    def replace_words(self, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        with self._db.transaction():
            self._db.execute("DELETE FROM words")
            self._db.execute_many(
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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
