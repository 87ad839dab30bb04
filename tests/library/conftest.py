from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.library.e5 import E5OnnxEmbeddings
from app.library.library import Library
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings

NOTE = """---
title: {title}
topic: {topic}
language: {language}
updated: 2026-12-01
sources:
  paper:
    title: A paper
    url: https://example.org/paper
    date: 2024-08
    trust: paper
related: []
---
# {title}

{lead}[^paper]

## {heading}

{body}[^paper]
"""


def write_pair(knowledge: Path, topic: str, english: tuple[str, ...], chinese: tuple[str, ...]) -> None:
    """A note pair; each version is (title, lead, heading, body)."""
    folder = knowledge / "notes"
    folder.mkdir(parents=True, exist_ok=True)
    for language, parts in (("en", english), ("zh", chinese)):
        names = dict(zip(("title", "lead", "heading", "body"), parts, strict=True))
        text = NOTE.format(topic=topic, language=language, **names)
        (folder / f"{topic}.{language}.md").write_text(text, encoding="utf-8")


@pytest.fixture
def knowledge(tmp_path: Path) -> Path:
    """Two note pairs and a glossary of two terms."""
    folder = tmp_path / "knowledge"
    write_pair(
        folder,
        "pfc-deadlock",
        ("PFC deadlock", "A PFC deadlock is a ring of paused switches.", "What prevents it?", "Watchdogs."),
        ("PFC死锁", "PFC死锁是一圈互相暂停的交换机。", "如何预防？", "看门狗。"),
    )
    write_pair(
        folder,
        "optics",
        ("Optics", "Transceivers turn light into bits.", "How much do they cost?", "A lot."),
        ("光模块", "光模块把光变成比特。", "多少钱？", "很多。"),
    )
    (folder / "glossary.yaml").write_text(
        "- {en: priority flow control, zh: 优先级流控, abbreviations: [PFC]}\n"
        "- {en: transceiver, zh: 光模块, en_variants: [optics]}\n",
        encoding="utf-8",
    )
    return folder


@pytest.fixture
def settings(home: Path, knowledge: Path) -> Settings:
    return Settings(home=home, knowledge=knowledge, _env_file=None)  # type: ignore[call-arg]


@pytest.fixture
def embeddings() -> HashEmbeddings:
    return HashEmbeddings()


@pytest.fixture
def library(settings: Settings, embeddings: HashEmbeddings) -> Iterator[Library]:
    opened = Library.open(settings, embeddings=embeddings)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def e5(model_home: Path) -> E5OnnxEmbeddings:
    return E5OnnxEmbeddings(model_home)


@pytest.fixture(scope="session")
def notes_library(tmp_path_factory: pytest.TempPathFactory, e5: E5OnnxEmbeddings) -> Iterator[Library]:
    """The shipped notes, with the default model."""
    settings = Settings(home=tmp_path_factory.mktemp("notes-home"), _env_file=None)  # type: ignore[call-arg]
    opened = Library.open(settings, embeddings=e5)
    opened.ensure_notes()
    yield opened
    opened.close()
