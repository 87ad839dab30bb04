"""The vectors, in Chroma: embedded in this process by default, or on a Chroma server.

One embedded client a folder serves the whole process. Its files are for one process at a time: Chroma crashes when
another one writes what it reads, and does not see what that one has written (chromadb 1.5.9). So each use holds a
lock between processes, and a client is opened anew if another process was there since, or the manifest's generation
has moved on. Which of the vectors count is decided by the manifest, not here.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from app.errors import AdvisorError
from app.library.lock import alone

_AT_ONCE = 1000  # Chroma takes up to 5,461 in one call
_clients: dict[str, _Client] = {}
_lock = threading.RLock()


@dataclass(slots=True)
class _Client:
    api: Any
    generation: int
    collections: dict[str, Any] = field(default_factory=dict)


class VectorStore:
    """Vectors of one library and one embedding model, by passage id, compared by cosine.

    `library` is an id of its own, since several libraries may share a server.
    """

    def __init__(
        self, folder: Path, library: str, model_id: str, generation: Callable[[], int], url: str | None = None
    ):
        self._folder = folder
        self._generation = generation
        self._url = url
        self._family = f"passages-{library}-"
        self._name = self._family + hashlib.sha256(model_id.encode()).hexdigest()[:12]

    def upsert(
        self, ids: Sequence[str], vectors: Sequence[Sequence[float]], metadata: Sequence[Mapping[str, str]]
    ) -> None:
        with self._collection() as collection:
            for start in range(0, len(ids), _AT_ONCE):
                part = slice(start, start + _AT_ONCE)
                collection.upsert(ids=ids[part], embeddings=vectors[part], metadatas=metadata[part])

    def delete(self, ids: Sequence[str]) -> None:
        with self._collection() as collection:
            for start in range(0, len(ids), _AT_ONCE):
                collection.delete(ids=list(ids[start : start + _AT_ONCE]))

    def ids(self) -> set[str]:
        with self._collection() as collection:
            return set(collection.get(include=[])["ids"])

    def count(self) -> int:
        with self._collection() as collection:
            return int(collection.count())

    def vectors(self, ids: Sequence[str]) -> tuple[list[str], NDArray[np.float32]]:
        """Those of the ids that have a vector, and their vectors as rows."""
        with self._collection() as collection:
            found = collection.get(ids=list(ids), include=["embeddings"])
            return list(found["ids"]), np.asarray(found["embeddings"], np.float32)

    def wrote(self, generation: int) -> None:
        """This process has brought the library to that generation: its client has seen the change."""
        with _lock:
            client = _clients.get(self._key)
            if client and client.generation == generation - 1:
                client.generation = generation

    def forget(self) -> None:
        """Drop all vectors of this library, of whichever model. The folder of an embedded store goes whole: it may be
        damaged, or hold the vectors of a manifest that is lost.
        """
        if self._url:
            with self._client() as client:
                client.collections.clear()
                for collection in client.api.list_collections():
                    if collection.name.startswith(self._family):
                        client.api.delete_collection(collection.name)
            return
        with _lock:
            self.close()
            try:
                with self._alone():
                    if self._folder.is_dir():
                        shutil.rmtree(self._folder)
                    else:
                        self._folder.unlink(missing_ok=True)
            except OSError as error:
                raise self._error(error) from error

    def close(self) -> None:
        with _lock:
            client = _clients.pop(self._key, None)
            if client:
                client.api.close()

    @property
    def _key(self) -> str:
        return self._url or str(self._folder.resolve())

    @contextmanager
    def _collection(self) -> Iterator[Any]:
        with self._client() as client:
            if self._name not in client.collections:
                client.collections[self._name] = client.api.get_or_create_collection(
                    self._name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
                )
            yield client.collections[self._name]

    @contextmanager
    def _client(self) -> Iterator[_Client]:
        """The client of this process, for as long as the block lasts alone on its files."""
        with _lock:
            try:
                with self._alone() as same:
                    yield self._present(same)
            except AdvisorError:
                raise
            except BaseException as error:  # a panic of Chroma's Rust code is no Exception
                if not _from_chroma(error):
                    raise
                raise self._error(error) from error

    def _present(self, same: bool) -> _Client:
        """The client, opened anew if another process has used the files or changed the library since."""
        generation = self._generation()
        client = _clients.get(self._key)
        if client and self._url and client.generation != generation:
            client.generation = generation  # a server shows every change; only a collection made anew has another id
            client.collections.clear()
        elif client and not (self._url or (same and client.generation == generation)):
            del _clients[self._key]
            client.api.close()
            client = None
        if client is None:
            client = _clients[self._key] = _Client(self._open(), generation)
        return client

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether no other process has used the files since this one. A server looks after itself."""
        if self._url:
            yield True
            return
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        with alone(self._folder.with_name("chroma.lock")) as same:
            yield same

    def _open(self) -> Any:
        import chromadb
        from chromadb.api.shared_system_client import SharedSystemClient
        from chromadb.config import Settings

        logging.getLogger("chromadb").setLevel(logging.ERROR)
        settings = Settings(anonymized_telemetry=False)
        if self._url:
            parts = urlsplit(self._url)
            secure = parts.scheme == "https"
            port = parts.port or (443 if secure else 8000)
            return chromadb.HttpClient(parts.hostname or self._url, port, ssl=secure, settings=settings)
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            return chromadb.PersistentClient(str(self._folder), settings=settings)
        except BaseException:
            # Chroma keeps what it failed to start, and would hand it out at the next try (chromadb 1.5.9).
            SharedSystemClient._identifier_to_system.pop(str(self._folder), None)
            raise

    def _error(self, error: BaseException) -> AdvisorError:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if self._url:
            return AdvisorError(
                f"The Chroma server at {self._url} does not answer: {reason}.",
                "Start it (chroma run), or unset FABRIC_ADVISOR_CHROMA_URL to keep the vectors in HOME.",
            )
        return AdvisorError(
            f"The vector store {self._folder} does not work: {reason}.",
            "Check that it is writable and has free space; if it is damaged, `fabric-advisor ingest --reindex` "
            "makes it anew.",
            code="damaged_vectors",
        )


def _from_chroma(error: BaseException) -> bool:
    module = type(error).__module__.split(".")[0]
    return module in ("chromadb", "chromadb_rust_bindings", "pyo3_runtime", "httpx", "httpcore") or isinstance(
        error, OSError | ValueError | RuntimeError
    )
