"""Computes the shipped vectors of the notes (scripts/embed-notes); keeps those whose text has not changed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings

from app.library import shipped
from app.library.document_reader import embedding_text
from app.library.embeddings import make_embeddings, model_id
from app.library.formats.plain import read_markdown
from app.library.splitting import split
from app.settings import load_settings


def embedded_texts(notes: Path) -> Iterator[str]:
    """What is embedded for each passage of each note, as ingest does it."""
    for path in sorted(notes.glob("*.md")):
        content = read_markdown(path.read_bytes())
        title = content.title or path.stem
        for piece in split(content.text, title=title):
            body = content.text[piece.start : piece.end]
            yield embedding_text(title, piece.section, piece.context, body)


def embed_notes(knowledge: Path, embeddings: Embeddings, *, afresh: bool = False) -> tuple[int, int]:
    """Write the file of shipped vectors; returns (passages, of them embedded now)."""
    path = shipped.vector_file(knowledge, model_id(embeddings))
    kept = {} if afresh else shipped.load(path)
    texts = {shipped.key(text): text for text in embedded_texts(knowledge / "notes")}
    new = [key for key in texts if key not in kept]
    vectors: dict[str, Any] = {key: kept[key] for key in texts if key in kept}
    vectors |= dict(zip(new, embeddings.embed_documents([texts[key] for key in new]), strict=True))
    shipped.save(path, vectors)
    return len(texts), len(new)


def main() -> None:
    settings = load_settings()
    total, new = embed_notes(settings.knowledge, make_embeddings(settings), afresh="--afresh" in sys.argv[1:])
    sys.stdout.write(f"{total} passages, {new} embedded now, into {settings.knowledge.name}/vectors\n")


if __name__ == "__main__":
    main()
