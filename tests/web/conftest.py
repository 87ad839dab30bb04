"""The page on a real library and a real chat store; only the advisor's answers are scripted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.advisor.answer import Answer, Assumption, Citation, Event, Reason, Step, Text, Verdict
from app.advisor.chats import ChatStore
from app.advisor.evidence import collectives, compare
from app.advisor.spec import ClusterSpec
from app.advisor.tools import load_tools
from app.library.library import Library
from app.library.passage import Passage
from app.settings import Settings
from app.web import resources
from tests.library.hash_embeddings import HashEmbeddings

MAIN = str(Path(resources.__file__).parent / "main.py")
NOTE = """# Small clusters

A cluster under 100 GPUs needs two switches.

## What they cost

Two switches cost **$72,000** to $100,000 <script>alert(1)</script> :red[all] of it.
"""


@dataclass
class ScriptedAdvisor:
    """Gives the queued replies in turn; `asked` keeps what came in. An error as a reply is raised."""

    library: Library
    tools: Any
    replies: list[Answer | Exception] = field(default_factory=list)
    asked: list[tuple[str, tuple[Answer, ...], Mapping[str, object] | None]] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)

    def ask(
        self,
        question: str,
        history: Sequence[Answer] = (),
        *,
        changes: Mapping[str, object] | None = None,
        language: str = "auto",
    ) -> Iterator[Event]:
        self.languages.append(language)
        self.asked.append((question, tuple(history), changes))
        yield Step("read")
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        yield Step("write")
        yield Text(reply.text)
        yield replace(reply, question=question)


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings(home=home, max_file_mb=1, _env_file=None)  # type: ignore[call-arg]


@pytest.fixture
def library(settings: Settings, tmp_path: Path) -> Iterator[Library]:
    """One document: NOTE, as small-clusters.md."""
    opened = Library.open(settings, embeddings=HashEmbeddings())
    document = tmp_path / "small-clusters.md"
    document.write_text(NOTE, encoding="utf-8")
    opened.ingest([document])
    yield opened
    opened.close()


@pytest.fixture
def chats(settings: Settings) -> ChatStore:
    return ChatStore.open(settings)


@pytest.fixture
def scripted(library: Library, settings: Settings) -> ScriptedAdvisor:
    return ScriptedAdvisor(library, load_tools(settings.knowledge))


@pytest.fixture
def open_page(
    monkeypatch: pytest.MonkeyPatch, scripted: ScriptedAdvisor, chats: ChatStore, settings: Settings
) -> Callable[..., AppTest]:
    """Opens the page as a new browser session, at an address with the given query."""
    monkeypatch.setattr(resources, "advisor", lambda: scripted)
    monkeypatch.setattr(resources, "chats", lambda: chats)
    monkeypatch.setattr(resources, "settings", lambda: settings)
    monkeypatch.setattr(resources, "advisor_for", lambda model: scripted)

    def open_(page: str = "", **query: str) -> AppTest:
        app = AppTest.from_file(MAIN, default_timeout=30)
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        return app.switch_page(page).run() if page else app

    return open_


@pytest.fixture
def passage(library: Library) -> Passage:
    """The passage of NOTE about cost."""
    hits = library.search("what two switches cost", k=5)
    return next(hit.passage for hit in hits if "$72,000" in hit.passage.text)


@pytest.fixture
def decision(passage: Passage, settings: Settings) -> Answer:
    """An answer as the real advisor gives it: real calculations, a citation of a real passage."""
    tools = load_tools(settings.knowledge)
    spec = ClusterSpec(gpus=64)
    compared = compare(spec, tools.catalog)
    runs = [
        *compared.sizes.values(),
        *compared.costs.values(),
        compared.calculation(),
        *(one.calculation() for one in collectives(spec, tools.accelerators).values()),
    ]
    citation = Citation(
        marker=1,
        document=passage.document,
        document_id=passage.document_id,
        passage_id=passage.id,
        title=passage.title,
        url="",
        section=passage.section,
        passage=passage.text,
        start=passage.start,
        end=passage.end,
        sources=({"title": "A sheet", "url": "https://example.org/s", "date": "2024", "trust": "secondary"},),
    )
    return Answer(
        question="RoCE vs IB for a 64-GPU cluster",
        language="en",
        kind="decision",
        spec=spec.to_json(),
        verdict=Verdict("roce", "medium", (Reason("cheaper", "calculator", "roce", "T5"),), ()),
        text="**RoCE** for 64 GPUs, at $412k rather than $427k [1].",
        citations=(citation,),
        calculations=tuple(run.with_id(f"T{at}").to_json("en") for at, run in enumerate(runs, 1)),
        assumptions=(
            Assumption("years", "5 years of operation"),
            Assumption("tuning", "RoCE fabric: tuned"),
            Assumption("hybrid", "one site"),
            Assumption("", "InfiniBand software is included"),
        ),
        follow_ups=("What about 512?", "How do I keep RoCE lossless?"),
        timings_ms={"total": 120.0},
    )
