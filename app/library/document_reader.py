"""A source file as a document with passages: read, split, and the words of each passage found."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from app.errors import AdvisorError
from app.library.archives import unpacked
from app.library.formats.content import Content, UnreadableError
from app.library.language import detect_language
from app.library.reading import read
from app.library.records import DocumentRow, Known, PassageRow
from app.library.sources import READING_VERSION, SourceFile, is_changed
from app.library.splitting import split, without_footnotes
from app.library.web_page import fetched
from app.library.words import Words


@dataclass(frozen=True, slots=True)
class Seen:
    """The file is the one that is stored; `state` is its size and time if those look different."""

    state: tuple[int, int] | None = None


class DocumentReader:
    """Safe to use from several threads; writes nothing."""

    def __init__(self, words: Words, max_bytes: int):
        self._words = words
        self._max_bytes = max_bytes

    def document(self, file: SourceFile, before: Known | None, *, afresh: bool = False) -> DocumentRow | Seen:
        """The file as a document without a name yet, or that it is stored already. Raises UnreadableError."""
        if file.problem:
            raise UnreadableError(file.problem)
        if before and not afresh and not is_changed(file, before):
            return Seen()
        try:
            return self._read(file, before, afresh)
        except (UnreadableError, AdvisorError):
            raise
        except RecursionError:
            raise UnreadableError("its parts are nested too deeply to be read") from None
        except Exception as error:  # files are untrusted and parsers many: a fault of one must not end the batch
            detail = " ".join(f"{type(error).__name__}: {error}".split())[:120].rstrip(": ")
            raise UnreadableError(f"reading it failed ({detail})") from error

    def _read(self, file: SourceFile, before: Known | None, afresh: bool) -> DocumentRow | Seen:
        try:
            state = None if file.url else file.state()
            with self._opened(file) as path:
                if not path.is_file():  # a pipe or a device would be read for ever
                    raise UnreadableError("it is not a regular file")
                state = state or (path.stat().st_size, time.time_ns())
                sha256 = _sha256(path) if state[0] <= self._max_bytes else ""
                revision = f"{READING_VERSION}-{sha256}"
                if before and before.revision == revision and not afresh:
                    return Seen(state)
                content = read(path, max_bytes=self._max_bytes)
        except OSError as error:
            raise UnreadableError(f"it cannot be opened ({error.strerror or error})") from None
        title = content.title or PurePath(file.name).stem
        return DocumentRow(
            id=file.id,
            name="",
            path=file.path.name if file.kind == "note" else file.location,
            url=content.url or file.url,
            title=title,
            language=content.language or detect_language(content.text),
            kind=file.kind,
            topic=content.topic if file.kind == "note" else "",
            sha256=sha256,
            size=state[0],
            mtime_ns=state[1],
            revision=revision,
            sources=dict(content.sources),
            text=content.text,
            passages=tuple(self._passages(file, content, title, revision)),
        )

    @contextmanager
    def _opened(self, file: SourceFile) -> Iterator[Path]:
        if file.url:
            with fetched(file.url, max_bytes=self._max_bytes) as path:
                yield path
        elif file.member:
            with unpacked(file.path, file.member.stored, max_bytes=self._max_bytes) as path:
                yield path
        else:
            yield file.path

    def _passages(self, file: SourceFile, content: Content, title: str, revision: str) -> Iterator[PassageRow]:
        text = content.text
        language = content.language if file.kind == "note" else ""
        version = hashlib.sha256(revision.encode()).hexdigest()[:10]
        for number, piece in enumerate(split(text, title=title, page_starts=content.page_starts)):
            body = text[piece.start : piece.end]
            yield PassageRow(
                id=f"{file.id}-{version}-{number}",
                section=piece.section,
                section_number=piece.section_number,
                part=piece.part,
                start=piece.start,
                end=piece.end,
                language=language or piece.language,
                page=piece.page,
                source_refs=piece.source_refs,
                context=piece.context,
                text=body,
                words=self._words.of(embedding_text(title, piece.section, piece.context, body)),
            )


def embedding_text(title: str, section: str, context: str, text: str) -> str:
    """What is embedded and indexed for a passage: its title and headings lift what is found (measured)."""
    heading = " › ".join(part for part in (title, section) if part)
    return "\n".join(part for part in (heading, context, without_footnotes(text)) if part)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
