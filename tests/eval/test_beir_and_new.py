"""Retrieval on other people's corpora, and scaffolds of new cases."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from app.advisor.advisor import Advisor
from app.advisor.chats import ChatStore
from app.errors import AdvisorError
from app.settings import Settings
from eval.beir import read_beir, retrieval_metrics
from eval.beir_library import search_of
from eval.command import evaluate
from eval.scaffold import id_from, scaffold
from tests.eval.answers import answer, calculation, citation, verdict

CORPUS = {
    "d1": ("Otters", "Otters sleep while holding hands so that they do not drift apart in the water."),
    "d2": ("Volcanoes", "A volcano erupts when molten rock rises through the crust of the earth."),
    "d3": ("Bread", "Bread rises because yeast turns sugar into carbon dioxide."),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [{"_id": name, "title": title, "text": text} for name, (title, text) in CORPUS.items()]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    queries = [
        {"_id": "q1", "text": "why do otters hold hands while they sleep"},
        {"_id": "q2", "text": "what makes bread rise"},
    ]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(line) + "\n" for line in queries))
    (tmp_path / "qrels").mkdir()
    rows = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td3\t1\nq2\td2\t0\n"
    (tmp_path / "qrels" / "test.tsv").write_text(rows)
    return tmp_path


def test_reading_beir(folder: Path) -> None:
    data = read_beir(folder)
    assert data.corpus["d3"] == CORPUS["d3"]
    assert data.relevant == {"q1": ["d1"], "q2": ["d3"]}  # a score of 0 is not relevant


def test_metrics_of_a_known_ranking(folder: Path) -> None:
    found = retrieval_metrics(read_beir(folder), lambda query, k: ["d2", "d1", "d3"][:k])
    assert found["recall@1"] == 0.0
    assert found["recall@10"] == 1.0
    assert found["mrr@10"] == pytest.approx((1 / 2 + 1 / 3) / 2)


@pytest.mark.parametrize(
    ("file", "text", "what"),
    [
        ("corpus.jsonl", "nonsense\n", "corpus.jsonl, line 1: not a JSON object"),
        ("corpus.jsonl", '{"_id": "d1"}\n', "corpus.jsonl, line 1, field 'text'"),
        ("qrels/test.tsv", "q1\td9\t1\n", "test.tsv, line 1"),
        ("qrels/test.tsv", "q1\td1\t0\n", "judges nothing"),
    ],
)
def test_faults_of_a_beir_folder(folder: Path, file: str, text: str, what: str) -> None:
    (folder / file).write_text(text)
    with pytest.raises(AdvisorError, match=what):
        read_beir(folder)


def test_the_real_search_on_another_corpus(folder: Path, home: Path) -> None:
    data = read_beir(folder)
    with search_of(data, Settings(home=home, _env_file=None)) as search:  # type: ignore[call-arg]
        assert retrieval_metrics(data, search)["recall@1"] == 1.0


def test_a_missing_corpus_is_exit_2(tmp_path: Path) -> None:
    result = CliRunner().invoke(evaluate, ["retrieval", str(tmp_path)])
    assert result.exit_code == 2
    assert "corpus.jsonl" in result.stderr


def test_a_scaffold_is_yaml_that_lacks_only_judgement() -> None:
    bad = answer(
        "RoCE.",
        question='Say "IB": or RoCE?',
        kind="decision",
        verdict=verdict("roce"),
        calculations=(calculation("size", "roce"),),
        citations=(citation(),),
    )
    text = scaffold("ib-or-roce-en", [answer(question="First?"), bad], comment="wrong\nverdict")
    (case,) = yaml.safe_load(text)
    assert case["turns"] == ["First?", 'Say "IB": or RoCE?']
    assert case["source"] is None
    assert "# answered: kind decision, verdict roce" in text
    assert "# calculated: size roce" in text
    assert "# said of it: wrong verdict" in text
    assert "verdict:" not in "".join(line for line in text.splitlines() if not line.strip().startswith("#"))


def test_ids_are_readable() -> None:
    assert id_from("RoCE vs IB for a 64-GPU cluster?", "en") == "roce-vs-ib-for-a-en"
    assert id_from("为什么？", "zh") == "case-zh"


def test_a_case_from_a_rated_chat(home: Path, monkeypatch: pytest.MonkeyPatch, advisor: Advisor) -> None:
    monkeypatch.setenv("FABRIC_ADVISOR_HOME", str(home))
    store = ChatStore.open(Settings(home=home, _env_file=None))  # type: ignore[call-arg]
    chat = store.new()
    store.append(chat, advisor.answer("How does InfiniBand stay lossless?"))
    store.append(chat, advisor.answer("What's the weather?"))
    store.rate(chat, 1, 0, "says nothing of VL15")
    result = CliRunner().invoke(evaluate, ["new", "--conversation", chat])
    assert result.exit_code == 0, result.output
    (case,) = yaml.safe_load(result.output)
    assert case["question"] == "How does InfiniBand stay lossless?"
    assert "# said of it: says nothing of VL15" in result.output
