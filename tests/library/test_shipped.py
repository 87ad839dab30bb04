"""The vectors in knowledge/vectors are those of the notes as they are (if not: run scripts/embed-notes)."""

import random
from pathlib import Path

import numpy as np
import pytest

from app.library import shipped
from app.library.e5 import MODEL_ID, E5OnnxEmbeddings
from app.library.embed_notes import embed_notes, embedded_texts
from app.library.library import Library
from app.settings import Settings, knowledge_folder
from tests.library.hash_embeddings import HashEmbeddings

KNOWLEDGE = knowledge_folder()


def test_the_shipped_vectors_are_current(e5: E5OnnxEmbeddings) -> None:
    vectors = shipped.load(shipped.vector_file(KNOWLEDGE, MODEL_ID))
    texts = {shipped.key(text): text for text in embedded_texts(KNOWLEDGE / "notes")}
    assert set(vectors) == set(texts), "run scripts/embed-notes"
    keys = random.Random(0).sample(sorted(texts), 12)
    fresh = np.array(e5.embed_documents([texts[key] for key in keys]))
    stored = np.array([vectors[key] for key in keys])
    cosines = (fresh * stored).sum(axis=1) / np.linalg.norm(stored, axis=1)
    assert cosines.min() >= 0.999


def test_a_first_start_embeds_nothing_that_is_shipped(settings: Settings) -> None:
    embeddings = HashEmbeddings()
    assert embed_notes(settings.knowledge, embeddings) == (8, 8)
    assert embed_notes(settings.knowledge, embeddings) == (8, 0)
    counted = embeddings.embedded
    library = Library.open(settings, embeddings=embeddings)
    assert len(library.ensure_notes().added) == 4
    assert embeddings.embedded == counted
    ids, vectors = library._parts.store.vectors(sorted(library._parts.store.ids()))
    assert set(ids) == library._parts.manifest.passage_ids()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-2)
    # An edited note is embedded, the others are not.
    path = settings.knowledge / "notes" / "optics.en.md"
    path.write_text(path.read_text().replace("into bits", "into symbols"))
    library.ensure_notes()
    assert embeddings.embedded == counted + 1
    library.close()


def test_equal_vectors_make_an_equal_file(tmp_path: Path) -> None:
    vectors = {shipped.key(word): [0.6, 0.8] for word in ("leaf", "spine")}
    shipped.save(tmp_path / "a.npz", vectors)
    shipped.save(tmp_path / "b.npz", dict(reversed(vectors.items())))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert shipped.load(tmp_path / "a.npz").keys() == vectors.keys()
    (tmp_path / "b.npz").write_bytes(b"PK broken")
    assert shipped.load(tmp_path / "b.npz") == {}
    assert shipped.load(tmp_path / "none.npz") == {}
