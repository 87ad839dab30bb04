"""What a search may be restricted to: language of the passage, documents, source, date."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from app.errors import AdvisorError

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Filters:
    """`language`: that the passage is written in. `documents`: names or ids. `source`: a part of the document's
    address or path, or of the title or address of a source that it names. `since`: of its newest source, else of
    its file, as YYYY, YYYY-MM or YYYY-MM-DD.
    """

    language: str = ""
    documents: tuple[str, ...] = ()
    source: str = ""
    since: str = ""

    def __post_init__(self) -> None:
        if self.since and not _is_date(self.since):
            raise AdvisorError(
                f"{self.since!r} is not a date.",
                "Write YYYY, YYYY-MM or YYYY-MM-DD.",
                code="bad_date",
                values={"text": self.since},
            )

    @property
    def of_documents(self) -> bool:
        """Whether any of it is about documents, not only about passages."""
        return bool(self.documents or self.source or self.since)


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What filters ask of a document."""

    id: str
    name: str
    path: str
    url: str
    mtime_ns: int
    sources: tuple[dict[str, str], ...]

    @property
    def date(self) -> str:
        dated = [date for source in self.sources if (date := source.get("date", "")) and _is_date(date)]
        return max(dated, default="") or datetime.fromtimestamp(self.mtime_ns / 1e9, UTC).date().isoformat()


def _is_date(text: str) -> bool:
    """Whether a text is YYYY, YYYY-MM or YYYY-MM-DD, of a day that there is."""
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text + "-01-01"[len(text) - 4 :] if len(text) < 10 else text)
    except ValueError:
        return False
    return True


def chosen(filters: Filters, documents: Iterable[DocumentFacts]) -> frozenset[str]:
    """Ids of the documents that pass."""
    return frozenset(one.id for one in documents if _passes(filters, one))


def _passes(filters: Filters, document: DocumentFacts) -> bool:
    if filters.documents and not {document.id, document.name, document.path} & set(filters.documents):
        return False
    if filters.since and document.date[: len(filters.since)] < filters.since:
        return False
    if filters.source:
        texts = [document.path, document.url]
        texts += [source.get(key, "") for source in document.sources for key in ("title", "url")]
        return any(filters.source.casefold() in text.casefold() for text in texts)
    return True
