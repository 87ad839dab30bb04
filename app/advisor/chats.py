"""Keeps chats: what was asked, what was answered, and how it was rated.

In any SQL database that SQLAlchemy speaks; by default one SQLite file in the home folder. A chat's id is its
only key, so ids that we give out cannot be guessed. Answers are kept as they were given, never re-computed.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from app.advisor.answer import Answer
from app.advisor.transcript import to_markdown
from app.errors import AdvisorError
from app.settings import Settings

TITLE_CHARS = 60
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_APPEND_ATTEMPTS = 5

_tables = sa.MetaData()
_chats = sa.Table(
    "chats",
    _tables,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("created_at", sa.String(32), nullable=False),  # ISO 8601, UTC
    sa.Column("updated_at", sa.String(32), nullable=False),
)
_models = sa.Table(  # of chats that use another model than the one set
    "chat_models",
    _tables,
    sa.Column("chat_id", sa.ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("model", sa.String(200), nullable=False),
)
_turns = sa.Table(
    "turns",
    _tables,
    sa.Column("chat_id", sa.ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),  # 1, 2, …
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("answer", sa.JSON, nullable=False),
    sa.Column("changes", sa.JSON, nullable=False),
    sa.Column("created_at", sa.String(32), nullable=False),
)
_feedback = sa.Table(
    "feedback",
    _tables,
    sa.Column("chat_id", sa.ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("turn", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("value", sa.Integer, nullable=False),  # 0 thumbs down, 1 thumbs up
    sa.Column("comment", sa.Text, nullable=False),
    sa.Column("updated_at", sa.String(32), nullable=False),
)


@dataclass(frozen=True, slots=True)
class Summary:
    """A line of the list of chats."""

    id: str
    title: str
    updated_at: str
    turns: int


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer; `changes` are the assumptions that the user edited for it."""

    number: int
    answer: Answer
    changes: Mapping[str, Any] = field(default_factory=dict)
    rating: int | None = None
    comment: str = ""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class ChatStore:
    """Safe to use from several threads and processes. Unusable storage raises AdvisorError."""

    def __init__(self, engine: sa.Engine, now: Callable[[], datetime] = _utc_now):
        self._engine = engine
        self._now = now
        with self._connection() as connection:
            _tables.create_all(connection)

    @classmethod
    def open(cls, settings: Settings, now: Callable[[], datetime] = _utc_now) -> ChatStore:
        """The store at `settings.database_url`, else `HOME/chats.sqlite3`, which is made if needed."""
        if settings.database_url:
            return cls(_engine(settings.database_url), now)
        path = settings.home / "chats.sqlite3"
        try:
            settings.home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AdvisorError(
                f"The home folder cannot be written: {error.strerror}.",
                "Set FABRIC_ADVISOR_HOME to a folder that can be.",
            ) from None
        return cls(_engine(sa.URL.create("sqlite", database=str(path.resolve()))), now)

    def new(self) -> str:
        """Start a chat; its id is url-safe, cannot be guessed, and does not look like an option ("-x")."""
        id = "c" + secrets.token_urlsafe(15)
        with self._connection() as connection:
            connection.execute(_chats.insert().values(id=id, created_at=self._time(), updated_at=self._time()))
        return id

    def exists(self, id: str) -> bool:
        query = sa.select(_chats.c.id).where(_chats.c.id == id)
        with self._connection() as connection:
            return connection.execute(query).first() is not None

    def append(self, id: str, answer: Answer, changes: Mapping[str, Any] | None = None) -> int:
        """Add a turn, starting the chat if there is none with this id; returns the turn's number (from 1)."""
        _check_id(id)
        for attempt in range(_APPEND_ATTEMPTS):
            try:
                return self._append(id, answer, changes or {})
            except IntegrityError:  # somebody else took the number, or made the chat, at the same moment
                if attempt == _APPEND_ATTEMPTS - 1:
                    raise AdvisorError("The chat is being written to by somebody else.", "Try again.") from None
        raise AssertionError("unreachable")

    def turns(self, id: str) -> list[Turn]:
        """The turns in order, with their ratings; empty for an unknown chat."""
        rated = sa.and_(_feedback.c.chat_id == _turns.c.chat_id, _feedback.c.turn == _turns.c.number)
        query = (
            sa.select(_turns.c.number, _turns.c.answer, _turns.c.changes, _feedback.c.value, _feedback.c.comment)
            .select_from(_turns.outerjoin(_feedback, rated))
            .where(_turns.c.chat_id == id)
            .order_by(_turns.c.number)
        )
        with self._connection() as connection:
            return [
                Turn(row.number, Answer.from_json(row.answer), row.changes, row.value, row.comment or "")
                for row in connection.execute(query)
            ]

    def history(self, id: str) -> list[Answer]:
        """What `Advisor.ask` takes as history. Raises AdvisorError if `id` could not be the id of a chat."""
        _check_id(id)
        return [turn.answer for turn in self.turns(id)]

    def chats(self) -> list[Summary]:
        """Chats that have at least one turn, the latest first. The title is the first question, cut."""
        first = sa.and_(_turns.c.chat_id == _chats.c.id, _turns.c.number == 1)
        count = sa.select(sa.func.count()).where(_turns.c.chat_id == _chats.c.id).correlate(_chats).scalar_subquery()
        query = (
            sa.select(_chats.c.id, _turns.c.question, _chats.c.updated_at, count.label("turns"))
            .select_from(_chats.join(_turns, first))
            .order_by(_chats.c.updated_at.desc(), _chats.c.id)
        )
        with self._connection() as connection:
            rows = connection.execute(query).all()
        return [Summary(row.id, _title(row.question), row.updated_at, row.turns) for row in rows]

    def delete(self, id: str) -> None:
        """Delete a chat with its turns and ratings; nothing happens if there is none."""
        with self._connection() as connection:
            for table, column in ((_feedback, "chat_id"), (_models, "chat_id"), (_turns, "chat_id"), (_chats, "id")):
                connection.execute(table.delete().where(table.c[column] == id))

    def model(self, id: str) -> str | None:
        """The model chosen for a chat, which may not be offered any more; None if none was chosen."""
        with self._connection() as connection:
            return connection.execute(sa.select(_models.c.model).where(_models.c.chat_id == id)).scalar()

    def choose_model(self, id: str, model: str) -> None:
        """Have a chat's further questions answered by this model. Raises AdvisorError for an unknown chat."""
        if not self.exists(id):
            raise AdvisorError("There is no such chat.", "Reload the page.")
        with self._connection() as connection:
            connection.execute(_models.delete().where(_models.c.chat_id == id))
            connection.execute(_models.insert().values(chat_id=id, model=model))

    def rate(self, id: str, turn: int, value: int | None, comment: str = "") -> None:
        """Rate a turn 1 (good) or 0 (bad), replacing an earlier rating; None takes the rating back."""
        if value not in (None, 0, 1):
            raise AdvisorError(f"{value!r} is not a rating.", "Rate with 1 (good) or 0 (bad).")
        known = sa.select(_turns.c.number).where(_turns.c.chat_id == id, _turns.c.number == turn)
        with self._connection() as connection:
            if connection.execute(known).first() is None:
                raise AdvisorError(f"There is no turn {turn} in this chat.", "Reload the page.")
            connection.execute(_feedback.delete().where(_feedback.c.chat_id == id, _feedback.c.turn == turn))
            if value is not None:
                connection.execute(
                    _feedback.insert().values(
                        chat_id=id, turn=turn, value=value, comment=comment, updated_at=self._time()
                    )
                )

    def export_markdown(self, id: str) -> str:
        """The whole chat as Markdown, each answer followed by its sources and calculations."""
        return to_markdown([turn.answer for turn in self.turns(id)])

    def _append(self, id: str, answer: Answer, changes: Mapping[str, Any]) -> int:
        with self._connection() as connection:
            touched = connection.execute(_chats.update().where(_chats.c.id == id).values(updated_at=self._time()))
            if touched.rowcount == 0:
                connection.execute(_chats.insert().values(id=id, created_at=self._time(), updated_at=self._time()))
            last = sa.select(sa.func.max(_turns.c.number)).where(_turns.c.chat_id == id)
            number = (connection.execute(last).scalar() or 0) + 1
            connection.execute(
                _turns.insert().values(
                    chat_id=id,
                    number=number,
                    question=answer.question,
                    answer=answer.to_json(),
                    changes=dict(changes),
                    created_at=self._time(),
                )
            )
            return int(number)

    def _time(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="microseconds")

    @contextmanager
    def _connection(self) -> Iterator[sa.Connection]:
        """A transaction. Errors become one line for people; IntegrityError is left to the caller."""
        try:
            with self._engine.begin() as connection:
                yield connection
        except IntegrityError:
            raise
        except SQLAlchemyError as error:
            reason = " ".join(str(getattr(error, "orig", None) or error).split())
            raise AdvisorError(
                f"The chats cannot be read or written: {reason}.",
                "Check FABRIC_ADVISOR_HOME or FABRIC_ADVISOR_DATABASE_URL.",
                code="chat_store",
                values={"reason": reason},
            ) from None


def _engine(url: str | sa.URL) -> sa.Engine:
    try:
        engine = sa.create_engine(url)
    except (ArgumentError, NoSuchModuleError, ImportError, ValueError) as error:
        raise AdvisorError(
            f"The address of the chat store cannot be used: {' '.join(str(error).split())}.",
            "Correct FABRIC_ADVISOR_DATABASE_URL, and install the driver it names.",
        ) from None
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout = 5000")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.close()


def _check_id(id: str) -> None:
    if not _ID.fullmatch(id):
        raise AdvisorError(
            "The conversation id is not usable.",
            "Use 1 to 64 letters, digits, dots, underscores or hyphens.",
            code="bad_conversation",
        )


def _title(question: str) -> str:
    """The question on one line, cut at a word where there is one near the end (Chinese has none)."""
    line = " ".join(question.split())
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[: TITLE_CHARS - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > TITLE_CHARS // 2 else cut) + "…"
