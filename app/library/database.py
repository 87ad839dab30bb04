"""The SQLite file of the library: opening, transactions, and errors that say what to do."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.errors import AdvisorError

_SCHEMA = Path(__file__).with_name("schema.sql")
_SCHEMA_VERSION = 1


class Database:
    """One connection, shared by the threads of a process."""

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
        self._db.execute("PRAGMA secure_delete = ON")  # what is removed is not left in free pages
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            with self.transaction():
                for statement in _statements(_SCHEMA.read_text(encoding="utf-8")):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        elif version != _SCHEMA_VERSION:
            raise sqlite3.DatabaseError(f"it has format {version}, this program knows {_SCHEMA_VERSION}")
        self._db.execute("CREATE VIRTUAL TABLE temp.occurrences USING fts5vocab (main, words, instance)")

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

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        with self._lock:
            return self._db.execute(query, parameters).fetchall()

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """One change; returns the id of the row that it inserted, if it did."""
        with self._lock:
            try:
                return self._db.execute(statement, parameters).lastrowid or 0
            except sqlite3.Error as error:
                raise _storage_error(error) from None

    def execute_many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> None:
        with self._lock:
            try:
                self._db.executemany(statement, parameters)
            except sqlite3.Error as error:
                raise _storage_error(error) from None

    def close(self) -> None:
        with self._lock:
            self._db.close()


def _storage_error(error: sqlite3.Error) -> AdvisorError:
    if "locked" in str(error):
        return AdvisorError("The library is busy: another program is writing to it.", "Try again in a moment.")
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
