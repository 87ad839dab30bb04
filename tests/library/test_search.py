"""Search over the shipped notes with the default model."""

import json
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.library.library import Library
from app.library.nearest import Near, Nearest
from app.library.relevance import PROBES, Limits, is_relevant, limits_from_probes
from app.library.retriever import LibraryRetriever
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings

CASES: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("relevance.yaml").read_text(encoding="utf-8"))


def test_answerable_questions_find_their_note(notes_library: Library) -> None:
    """All find something; at most one in fifteen misses the note that was meant among its first five."""
    missed = {}
    for case in CASES["answerable"]:
        topics = [hit.passage.topic for hit in notes_library.search(case["query"], k=5)]
        assert topics, case["query"]
        if case["topic"] not in topics:
            missed[case["query"]] = topics
    assert len(missed) <= len(CASES["answerable"]) // 15, missed


def test_other_questions_find_nothing(notes_library: Library) -> None:
    found = {
        query: [(hit.dense, hit.lexical, hit.passage.document) for hit in hits]
        for query in CASES["unanswerable"]
        if (hits := notes_library.search(query))
    }
    assert found == {}


@pytest.mark.parametrize("query", ["", "   ", "?!。", "🚀🚀", "\x00\x01", '-- " OR * NEAR(', "a" * 100_000])
def test_odd_queries_do_no_harm(notes_library: Library, query: str) -> None:
    assert notes_library.search(query) == []


def test_a_question_of_thousands_of_words_is_searched_like_any_other(notes_library: Library) -> None:
    words = " ".join(f"port{number}" for number in range(3000))
    hits = notes_library.search("PFC死锁是怎么产生的？" + words, k=3)
    assert all(hit.passage.topic for hit in hits)
    chinese = "交换机网络丢包时延带宽拥塞控制流控死锁看门狗收敛比胖树光模块线缆" * 300
    assert len(notes_library.search(chinese, k=3)) == 3


def test_the_language_of_the_pair_follows_the_question_or_the_wish(notes_library: Library) -> None:
    for query, language in (("PFC deadlock", "en"), ("PFC死锁", "zh")):
        assert {hit.passage.language for hit in notes_library.search(query, k=5)} == {language}
    wished = notes_library.search("PFC deadlock", k=5, language="zh")
    assert wished[0].passage.topic == "pfc-deadlock"
    assert {hit.passage.language for hit in wished} == {"zh"}


def test_code_like_terms_are_exact(notes_library: Library) -> None:
    assert "NCCL_IB_GID_INDEX" in notes_library.search("NCCL_IB_GID_INDEX", k=1)[0].passage.text


def test_hits_are_ordered_and_scored_for_people(notes_library: Library) -> None:
    hits = notes_library.search("InfiniBand vs RoCE latency", k=5)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert len({hit.passage.id for hit in hits}) == 5
    assert notes_library.search("InfiniBand vs RoCE latency", k=0) == []


def test_a_question_crosses_languages_and_kinds(home: Path, tmp_path: Path, e5: Any) -> None:
    """An English question finds a document that exists in Chinese only, and the reverse."""
    (tmp_path / "机房.md").write_text("# 机房制冷\n\n液冷机柜的进水温度不得超过40摄氏度。\n", encoding="utf-8")
    (tmp_path / "warranty.md").write_text("# Warranty\n\nThe switches have a warranty of five years.\n")
    library = Library.open(Settings(home=home, _env_file=None), embeddings=e5)  # type: ignore[call-arg]
    library.ingest([tmp_path / "机房.md", tmp_path / "warranty.md"])
    library.ensure_notes()
    english = library.search("liquid cooling water temperature", k=3)
    assert english[0].passage.document == "机房.md"
    chinese = library.search("交换机的保修期是几年？", k=5)
    assert "warranty.md" in {hit.passage.document for hit in chinese}
    notes = library.search("交换机的保修期是几年？", only="notes", k=5)
    assert {hit.passage.topic for hit in notes}.isdisjoint({""})
    only = library.search("warranty of the switches", only="documents", k=5)
    assert {hit.passage.document for hit in only} == {"warranty.md"}
    library.close()


def test_langchain_retriever(notes_library: Library) -> None:
    documents = LibraryRetriever(library=notes_library, k=2).invoke("PFC deadlock")
    assert len(documents) == 2
    first = documents[0]
    assert first.metadata["document"] == "pfc-deadlock.en.md"
    text = notes_library.text(first.metadata["document_id"])
    assert text[first.metadata["start"] : first.metadata["end"]] == first.page_content


def test_relevance_rules() -> None:
    limits = Limits(sure_en=0.87, sure_zh=0.88, possible=0.82, contrast=0.05)

    def near(similarity: float, contrast: float = 0.0) -> Near:
        return Near(similarity, similarity, contrast)

    assert is_relevant(near(0.875), 0.0, False, "en", limits)
    assert not is_relevant(near(0.875), 0.0, False, "zh", limits)
    assert is_relevant(near(0.80, contrast=0.06), 0.0, False, "zh", limits)
    assert is_relevant(near(0.83), 0.5, True, "zh", limits)
    assert not is_relevant(near(0.83), 0.5, False, "zh", limits)
    assert not is_relevant(near(0.81), 0.7, 1, "en", limits)
    assert is_relevant(near(0.81), 0.8, 1, "en", limits)  # nearly all the words of a question of our field
    assert not is_relevant(near(0.81), 1.0, 0, "en", limits)
    assert not is_relevant(near(0.79), 1.0, 3, "en", limits)
    assert limits.spread(0.82, "en") == 0
    assert limits.spread(0.87, "en") == pytest.approx(0.5)


def test_limits_of_another_model_lie_above_what_strange_questions_reach() -> None:
    reached = {probe: (number / 100, number / 1000) for number, probe in enumerate(PROBES)}
    limits = limits_from_probes(reached.__getitem__)
    assert limits.sure_en == pytest.approx(0.06 + 0.02)  # the first seven are English
    assert limits.sure_zh == pytest.approx(0.13 + 0.02)
    assert limits.possible == pytest.approx(0.03)
    assert limits.contrast == pytest.approx(0.013 + 0.01)


def test_limits_of_another_model_are_kept_with_the_index(library: Library, embeddings: HashEmbeddings) -> None:
    library.ensure_notes()
    library.search("deadlock")
    assert json.loads(library._parts.manifest.setting("limits:hash-test")) == [*astuple(library._parts.limits)]
    assert library._parts.limits.sure_en > library._parts.limits.possible


def test_similarity_is_made_comparable_between_languages() -> None:
    """Chinese passages get 0.05 less whatever they say; the one that stands out in Chinese wins all the same."""

    class Similarities:
        def best(self, count: int, *, language: str) -> object:
            crowd, best = (0.80, 0.82) if language == "en" else (0.75, 0.81)
            return [(f"{language}0", best)] + [(f"{language}{n}", crowd) for n in range(1, count)]

    near = Nearest(Similarities(), "en").best(None)  # type: ignore[arg-type]
    assert near["en0"].similarity == pytest.approx(0.82)
    assert near["en0"].contrast == pytest.approx(0.02)
    assert near["zh0"].cosine == 0.81
    assert near["zh0"].similarity == pytest.approx(0.86)
    assert near["zh0"].contrast == pytest.approx(0.06)
