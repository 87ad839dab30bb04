"""Brings files into the library: one path for the shipped notes, the command line and the page.

Order of writes, so that a kill at any point loses nothing and leaves nothing behind: ids of the new vectors
are noted as unsettled, the vectors are written, then one transaction makes the documents ready, and last the
vectors that nothing needs any more are deleted. `repair` settles what an interrupted run has left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from langchain_core.embeddings import Embeddings

from app.library import shipped
from app.library.document import Failure, IngestReport, Progress
from app.library.document_reader import DocumentReader, Seen, embedding_text
from app.library.formats.content import UnreadableError
from app.library.manifest import Manifest
from app.library.read_ahead import read_ahead
from app.library.records import DocumentRow, Known
from app.library.sources import SourceFile
from app.library.store import VectorStore
from app.library.words import Words

_PASSAGES_AT_ONCE = 64
Status = Literal["added", "updated", "unchanged", "failed", "removed"]


@dataclass(slots=True)
class _Outcome:
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)

    def report(self, dry_run: bool) -> IngestReport:
        return IngestReport(
            added=tuple(self.added),
            updated=tuple(self.updated),
            unchanged=tuple(self.unchanged),
            removed=tuple(self.removed),
            failed=tuple(self.failed),
            dry_run=dry_run,
        )


class Ingester:
    """Writes to manifest and vector store; the caller holds the library's lock."""

    def __init__(
        self,
        manifest: Manifest,
        store: VectorStore,
        embeddings: Embeddings,
        words: Words,
        *,
        shipped_vectors: Callable[[], Mapping[str, Any]],
        max_bytes: int,
    ):
        self._manifest = manifest
        self._store = store
        self._embeddings = embeddings
        self._reader = DocumentReader(words, max_bytes)
        self._shipped = shipped_vectors

    def run(
        self,
        files: Sequence[SourceFile],
        gone: Sequence[Known] = (),
        *,
        on_progress: Callable[[Progress], None] | None = None,
        dry_run: bool = False,
        workers: int = 1,
        afresh: bool = False,
    ) -> IngestReport:
        """Ingest `files` and remove the documents `gone`. Skips unchanged files (unless `afresh`), records
        failures. Files are read by `workers` threads ahead of their turn; the result does not depend on it.
        """
        outcome = _Outcome()
        started = time.monotonic()
        known = self._manifest.known()
        names = {entry.name: entry.id for entry in known.values()}
        waiting: list[DocumentRow] = []
        embedded = 0

        def tell(number: int, name: str, status: Status) -> None:
            if on_progress:
                elapsed = time.monotonic() - started
                pending = 0 if dry_run else len(waiting)
                on_progress(Progress(number, len(files), name, status, embedded, elapsed, pending))

        def store(number: int) -> None:
            """Write what waits, telling after every few passages: one large file may take minutes."""
            nonlocal embedded, waiting
            whole = sum(len(one.passages) for one in waiting)
            before = embedded
            for done in self._store_documents(waiting):
                embedded = before + done
                if on_progress:
                    elapsed, pending = time.monotonic() - started, len(waiting) * (1 - done / whole)
                    name = waiting[-1].name
                    part = (done, whole)
                    on_progress(Progress(number, len(files), name, "embedding", embedded, elapsed, pending, part))
            waiting = []

        def read_one(file: SourceFile) -> DocumentRow | Seen:
            return self._reader.document(file, known.get(file.id), afresh=afresh)

        for number, (file, result) in enumerate(read_ahead(files, read_one, workers), 1):
            before = known.get(file.id)
            if isinstance(result, UnreadableError):
                failure = Failure(file.name, file.location, str(result))
                outcome.failed.append(failure)
                if not dry_run:
                    self._manifest.record_failure(file.id, failure, file.kind)
                tell(number, failure.name, "failed")
                continue
            if isinstance(result, Seen):
                if result.state and not dry_run:
                    self._manifest.touch(file.id, *result.state)
                name = before.name if before else file.name
                outcome.unchanged.append(name)
                tell(number, name, "unchanged")
                continue
            document = replace(result, name=before.name if before else _free_name(file, names))
            names[document.name] = document.id
            (outcome.updated if before else outcome.added).append(document.name)
            waiting.append(document)
            tell(number, document.name, "updated" if before else "added")
            if not dry_run and sum(len(one.passages) for one in waiting) >= _PASSAGES_AT_ONCE:
                store(number)
        if not dry_run:
            store(len(files))
            self.remove([entry.id for entry in gone])
        outcome.removed += [entry.name for entry in gone]
        return outcome.report(dry_run)

    def remove(self, document_ids: Sequence[str]) -> None:
        if document_ids:
            self._manifest.drop(document_ids)
            self._store.wrote(self._manifest.generation())
            self._delete_unsettled()

    def repair(self, *, thorough: bool = False) -> None:
        """Settle what an interrupted run left: delete vectors without a passage, embed passages without a
        vector. Not thorough, equal numbers of both are taken as a sign that all is well.
        """
        self._delete_unsettled()
        passages = self._manifest.passage_ids()
        if not thorough and self._store.count() == len(passages):
            return
        vectors = self._store.ids()
        orphans, missing = sorted(vectors - passages), sorted(passages - vectors)
        if orphans:
            self._store.delete(orphans)
        for start in range(0, len(missing), _PASSAGES_AT_ONCE):
            self.embed_again(missing[start : start + _PASSAGES_AT_ONCE])

    def embed_again(self, passage_ids: Sequence[str]) -> None:
        """Write the vectors of passages that the manifest has."""
        rows = list(self._manifest.to_embed(passage_ids))
        texts = [embedding_text(title, section, context, text) for _, title, section, context, text, _, _ in rows]
        metadata = [_metadata(row[5], row[6]) for row in rows]
        self._store.upsert([row[0] for row in rows], self._vectors(texts), metadata)

    def unshipped(self, passage_ids: Sequence[str]) -> int:
        """How many of these passages have no shipped vector, and so have to be embedded."""
        vectors = self._shipped()
        rows = self._manifest.to_embed(passage_ids)
        return sum(shipped.key(embedding_text(*row[1:5])) not in vectors for row in rows)

    def _store_documents(self, documents: Sequence[DocumentRow]) -> Iterator[int]:
        """Write them, all at once as a reader sees it; yields how many of their passages are embedded."""
        if not documents:
            return
        passages = [(passage, document) for document in documents for passage in document.passages]
        texts = [embedding_text(d.title, p.section, p.context, p.text) for p, d in passages]
        ids = [passage.id for passage, _ in passages]
        self._manifest.add_unsettled(ids)
        metadata = [_metadata(document.kind, passage.language) for passage, document in passages]
        for start in range(0, len(ids), _PASSAGES_AT_ONCE):
            part = slice(start, start + _PASSAGES_AT_ONCE)
            self._store.upsert(ids[part], self._vectors(texts[part]), metadata[part])
            yield min(start + _PASSAGES_AT_ONCE, len(ids))
        self._manifest.put(documents)
        self._store.wrote(self._manifest.generation())
        self._delete_unsettled()

    def _delete_unsettled(self) -> None:
        ids = self._manifest.unsettled()
        if ids:
            self._store.delete(ids)
            self._manifest.settle(ids)

    def _vectors(self, texts: Sequence[str]) -> list[Any]:
        vectors = self._shipped()
        found = [vectors.get(shipped.key(text)) for text in texts] if vectors else [None] * len(texts)
        unknown = [text for text, vector in zip(texts, found, strict=True) if vector is None]
        fresh = iter(self._embeddings.embed_documents(unknown) if unknown else [])
        return [next(fresh) if vector is None else vector.tolist() for vector in found]


def _metadata(kind: str, language: str) -> dict[str, str]:
    """What search filters by."""
    return {"kind": kind, "language": language}


def _free_name(file: SourceFile, names: Mapping[str, str]) -> str:
    """The file's name, with as many of its folders as it takes to tell it from the others."""
    parts = file.parts
    for count in range(1, len(parts) + bool(file.url)):
        name = "/".join(parts[-count:])
        if names.get(name, file.id) == file.id:
            return name
    return file.location
