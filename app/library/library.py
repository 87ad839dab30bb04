"""The library: everything that can be cited, how it gets in, and how it is found.

Opening is cheap; models, dictionaries and the vector store are loaded when first needed. Safe to share
between threads, and between processes on one HOME.
"""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from langchain_core.embeddings import Embeddings

from app.errors import AdvisorError
from app.fabric.calculation import Language
from app.library.document import Document, IngestReport, Progress
from app.library.document_reader import embedding_text
from app.library.filters import Filters
from app.library.ingest import Ingester
from app.library.lock import writer_lock
from app.library.parts import Parts
from app.library.passage import Hit, Passage
from app.library.search import Searcher
from app.library.sources import SourceFile, files_of, gone_from, is_changed, no_longer_failing, note_files
from app.library.store import VectorStore
from app.settings import UPLOADS, Settings

_KINDS = {"notes": "note", "documents": "document", None: None}
_WAIT_S = 60.0
_MOST_WORKERS = 4
_MENDED_IN_A_SEARCH = 64  # passages, some five seconds of embedding


class Library:
    def __init__(self, settings: Settings, embeddings: Embeddings | None):
        self._settings = settings
        self._parts = Parts(settings, embeddings)
        self._manifest = self._parts.manifest
        self._index = self._parts.index

    @classmethod
    def open(cls, settings: Settings, *, embeddings: Embeddings | None = None) -> Library:
        """The library of settings.home, made if missing. `embeddings` default to settings.embeddings."""
        return cls(settings, embeddings)

    # --- finding ----------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        language: Language | None = None,
        only: Literal["notes", "documents"] | None = None,
        filters: Filters | None = None,
        weak: bool = False,
    ) -> list[Hit]:
        """The k most relevant passages, best first; none when nothing is relevant: with `weak`, then the nearest,
        marked as weak, if the query has a term of our field or some passage half of its words.

        Of a note's English and Chinese version, the one in `language` (default: the query's) is returned.
        """
        if not self._index.count():
            return []
        self._check_model()
        self._check_vectors()
        searcher: Searcher = self._parts.searcher
        return searcher.search(query, k, language, _KINDS[only], filters, weak=weak)

    @property
    def searcher(self) -> Searcher:
        """The search itself, to measure its stages one by one."""
        searcher: Searcher = self._parts.searcher
        return searcher

    @property
    def model_id(self) -> str:
        """Of the embeddings that the library is searched with."""
        return self._parts.model_id

    def documents(self) -> list[Document]:
        """All documents, and the files that could not be read until they can or are removed."""
        return self._manifest.documents()

    def document(self, name_or_id: str) -> Document:
        """One document by name, id or path; AdvisorError with close matches if there is none."""
        documents = self.documents()
        for field in ("id", "name", "path"):
            for document in documents:
                if getattr(document, field) == name_or_id:
                    return document
        close = difflib.get_close_matches(name_or_id, [document.name for document in documents], 3, 0.5)
        remedy = f"Did you mean {', '.join(close)}?" if close else "See `fabric-advisor documents list`."
        raise AdvisorError(f"There is no document {name_or_id!r}.", remedy, code="unknown_document")

    def text(self, document_id: str) -> str:
        """The full text that start and end of the document's passages refer to."""
        text = self._manifest.text(document_id)
        return text if text is not None else self._text_of(self.document(document_id))

    def _text_of(self, document: Document) -> str:
        text = self._manifest.text(document.id)
        if text is None:
            raise AdvisorError(f"{document.name} could not be read: {document.error}.", "Ingest a corrected file.")
        return text

    def passage(self, passage_id: str) -> Passage:
        """A passage by its id; AdvisorError if its document has been changed or removed since."""
        found = self._index.passages([passage_id])
        if not found:
            raise AdvisorError(
                f"There is no passage {passage_id!r}; its document has been changed or removed.",
                "Ask the question again.",
                code="unknown_passage",
            )
        return found[passage_id]

    def passages(self) -> list[Passage]:
        """All passages of all documents, in order: to compare other ways of searching them."""
        return list(self._index.passages(place.id for place in self._index.places()).values())

    def note_passages(self, topic: str, language: Language) -> list[Passage]:
        """All passages of a shipped note, in order; empty where there is no note on the topic."""
        return self._index.note_passages(topic, language)

    def mentions(self, name: str) -> bool:
        """Whether any passage holds this name, in any case, with or without its hyphens and a plural s."""
        return self._index.mentions(name)

    def note_sources(self, document_id: str) -> dict[str, dict[str, str]]:
        """Sources of a note by footnote id (title, url, date, trust); empty for other documents."""
        return self._manifest.sources(document_id)

    def generation(self) -> int:
        """Grows with every change of the library, by whichever process."""
        return self._manifest.generation()

    # --- changing ---------------------------------------------------------------------------------

    def ensure_notes(self, on_progress: Callable[[str], None] | None = None) -> IngestReport:
        """Bring the index in step with knowledge/notes; quick when nothing has changed."""
        files = note_files(self._settings.knowledge / "notes")
        if not files or not self._notes_changed(files):  # no notes at all: a wrong folder, not a wish
            return IngestReport(unchanged=tuple(file.path.name for file in files))

        def tell(progress: Progress) -> None:
            if on_progress and progress.status not in ("unchanged", "embedding"):
                on_progress(f"{progress.done}/{progress.total} {progress.name}: {progress.status}")

        with self._writing(on_progress):
            present = {file.id for file in files}
            known = [one for one in self._manifest.known().values() if one.kind == "note"]
            ingester: Ingester = self._parts.ingester
            return ingester.run(files, [one for one in known if one.id not in present], on_progress=tell)

    def ingest(
        self,
        paths: Sequence[str | Path],
        *,
        on_progress: Callable[[Progress], None] | None = None,
        dry_run: bool = False,
        workers: int | None = None,
        afresh: bool = False,
    ) -> IngestReport:
        """Bring files, folders, zip files and http(s) addresses in: new and changed ones are read (`afresh`: all
        of them), unchanged ones skipped, and documents whose files have vanished from a given folder or zip file
        are removed. Failures are in the report, not raised. `workers` threads read ahead, by default one a core.
        """
        workers = workers or min(_MOST_WORKERS, os.cpu_count() or 1)
        with self._writing():
            files = files_of(paths, self._settings.knowledge / "notes")
            known = list(self._manifest.known().values())
            gone, failures = gone_from(paths, known, files)
            if not dry_run:
                self._manifest.forget_failures(no_longer_failing(paths, self._manifest.failed_paths()))
            ingester: Ingester = self._parts.ingester
            report = ingester.run(files, gone, on_progress=on_progress, dry_run=dry_run, workers=workers, afresh=afresh)
            return replace(report, failed=(*report.failed, *failures))

    def remove(self, name_or_id: str) -> Document:
        """Forget a document: its vectors, words and text, and the copy of an uploaded file; none of it stays on disk.
        A failed file is taken off the list.
        """
        document = self.document(name_or_id)
        if document.kind == "note" and document.status == "ready":
            raise AdvisorError(
                f"{document.name} is a note that comes with the program; it would be back at the next start.",
                f"Delete or edit {self._settings.knowledge / 'notes' / document.name} instead.",
                code="shipped_note",
            )
        with self._writing():
            self._parts.ingester.remove([document.id])
            self._manifest.wipe()
            file = Path(document.path)
            if document.kind == "document" and file.parent == self.uploads.resolve():
                file.unlink(missing_ok=True)
        return document

    @property
    def uploads(self) -> Path:
        """The folder of the files that were handed in on the page, and that go with their documents."""
        return self._settings.home / UPLOADS

    def dismiss(self, name_or_id: str) -> Document:
        """Take a file that could not be read off the list of failures; an older version of it stays."""
        document = self.document(name_or_id)
        if not document.error:
            raise AdvisorError(
                f"{document.name} has not failed.", f"To remove it: `fabric-advisor documents remove {document.name}`."
            )
        self._manifest.forget_failure(document.id)
        return document

    def reindex(self, on_progress: Callable[[Progress], None] | None = None) -> int:
        """Embed every passage anew with the present model; returns their number. `on_progress` counts passages."""
        with writer_lock(self._settings.home / "ingest.lock", wait_s=_WAIT_S):
            self._parts.store.forget()
            self._parts.table.forget()
            self._manifest.set_setting("model", self._parts.model_id)
            ids = sorted(self._manifest.passage_ids())
            started = time.monotonic()
            for start in range(0, len(ids), 64):
                self._parts.ingester.embed_again(ids[start : start + 64])
                if on_progress:
                    done = min(start + 64, len(ids))
                    on_progress(Progress(done, len(ids), "", "updated", done, time.monotonic() - started))
            self._index_words_again()
            self._parts.store.wrote(self._manifest.generation())
            self._parts.table.forget()
        return len(ids)

    def close(self) -> None:
        """Release the files; the library cannot be used afterwards."""
        self._parts.close()

    # --- keeping the index in order ---------------------------------------------------------------

    @contextmanager
    def _writing(self, on_progress: Callable[[str], None] | None = None) -> Iterator[None]:
        """Be the only writer, on an index that is whole and of the present model and glossary."""
        wait = (lambda: on_progress("waiting for another ingest to finish")) if on_progress else None
        with writer_lock(self._settings.home / "ingest.lock", wait_s=_WAIT_S, on_wait=wait):
            if not self._index.count():
                self._parts.store.forget()  # of a manifest that was lost, or of a first ingest that was killed
                self._manifest.set_setting("model", self._parts.model_id)
            self._check_model()
            if self._manifest.setting("words") != self._parts.words.version:
                self._index_words_again()
            self._parts.ingester.repair()
            yield

    def _index_words_again(self) -> None:
        """The glossary helps to find words; after a change of it, all passages' words are found anew."""
        texts = self._manifest.all_texts()
        self._manifest.replace_words((number, self._parts.words.of(embedding_text(*text))) for number, *text in texts)
        self._manifest.set_setting("words", self._parts.words.version)
        self._parts.store.wrote(self._manifest.generation())

    def _notes_changed(self, files: Sequence[SourceFile]) -> bool:
        """Whether any shipped note differs from what is stored, by size and time of its file, or work is
        left.
        """
        known = {one.id: one for one in self._manifest.known().values() if one.kind == "note"}
        if {file.id for file in files} != set(known) or self._manifest.unsettled():
            return True
        if self._manifest.setting("words") != self._parts.words.version:
            return True
        if self._manifest.setting("model") == self._parts.model_id and self._vectors_are_missing():
            return True
        return any(is_changed(file, known[file.id]) for file in files)

    def _vectors_are_missing(self) -> bool:
        """As when the folder of vectors was deleted, or the address of the Chroma server changed."""
        store: VectorStore = self._parts.store
        return store.count() < self._index.count()

    def _check_vectors(self) -> None:
        """Vectors that are lost while the program runs are made again, if few or shipped; else say how."""
        missing = self._parts.table.rows().missing
        if not missing:
            return
        if self._parts.ingester.unshipped(missing) > _MENDED_IN_A_SEARCH:
            raise AdvisorError(
                f"{len(missing)} passages have lost their vectors.",
                "Run `fabric-advisor ingest` to make them again.",
                code="no_vectors",
            )
        with self._writing():
            self._parts.ingester.repair(thorough=True)
            self._parts.table.forget()

    def _check_model(self) -> None:
        built_with = self._manifest.setting("model")
        if built_with and built_with != self._parts.model_id:
            raise AdvisorError(
                f"The index was built with the embeddings {built_with}, not {self._parts.model_id}.",
                "Run `fabric-advisor ingest --reindex`, or set FABRIC_ADVISOR_EMBEDDINGS back.",
                code="other_embeddings",
            )
