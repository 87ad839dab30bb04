"""Reading cases: what is accepted, and that every fault is named with file, line and field."""

from pathlib import Path

import pytest

from app.errors import AdvisorError
from eval.cases import TAGS, Case, load_cases
from eval.command import QUESTIONS, THRESHOLDS
from eval.relations import Relation
from eval.thresholds import load_thresholds
from eval.user_sets import load_sets

GOOD = """
- id: one
  language: en
  question: RoCE or InfiniBand for 64 GPUs?
  kind: [decision, comparison]
  verdict: roce
  spec: {gpus: 64}
  tools: {required: [compare], forbidden: [training]}
  values:
    size.roce.leaf_switches: 2
    cost.roce.capex_usd: {between: [1, 2], unit: USD}
    collective.roce.busbw: {value: 386.6, unit: GB/s, rel_tol: 0.08, stated: true}
  relations: ["cost.roce.tco_usd > cost.roce.capex_usd"]
  must: [credits, [PFC, ECN]]
  source: by hand
"""


def written(folder: Path, text: str, name: str = "set.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_whole_case(tmp_path: Path) -> None:
    (case,) = load_cases([written(tmp_path, GOOD)])
    assert case.turns == ("RoCE or InfiniBand for 64 GPUs?",)
    assert case.kinds == ("decision", "comparison")
    assert (case.required_tools, case.forbidden_tools) == (("compare",), ("training",))
    assert case.must == (("credits",), ("PFC", "ECN"))
    count, band, speed = case.values
    assert (count.path, count.value, count.rel_tol) == ("size.roce.leaf_switches", 2, 0.0)
    assert band.between == (1.0, 2.0)
    assert (speed.unit, speed.rel_tol, speed.stated) == ("GB/s", 0.08, True)
    assert case.line == 2


@pytest.mark.parametrize(
    ("old", "new", "line", "field"),
    [
        ("  source: by hand\n", "", 2, "source"),
        ("language: en", "language: fr", 3, "language"),
        ("language: en", "language: mixed", 2, "answers_in"),
        ("kind: [decision, comparison]", "kind: [decision, verdict]", 5, "kind"),
        ("verdict: roce", "verdict: ethernet", 6, "verdict"),
        ("verdict: roce", "tags: [quick, quik]", 6, "tags"),
        ("verdict: roce", "vredict: roce", 6, "vredict"),
        ("question: RoCE or InfiniBand for 64 GPUs?", "question: 64", 4, "question"),
        ("must: [credits, [PFC, ECN]]", "must: [[]]", 14, "must"),
        ("{between: [1, 2], unit: USD}", "{between: [2, 1]}", 11, "between"),
        ("{between: [1, 2], unit: USD}", "{value: 1, between: [1, 2]}", 11, "value"),
        ("size.roce.leaf_switches: 2", "leaf_switches: 2", 9, "values"),
        ('"cost.roce.tco_usd > cost.roce.capex_usd"', '"cost.roce.tco_usd"', 13, "relations"),
        ('"cost.roce.tco_usd > cost.roce.capex_usd"', "'exit() > 1'", 13, "relations"),
    ],
)
def test_a_fault_is_named_with_line_and_field(tmp_path: Path, old: str, new: str, line: int, field: str) -> None:
    assert old in GOOD
    with pytest.raises(AdvisorError) as error:
        load_cases([written(tmp_path, GOOD.replace(old, new))])
    assert f"set.yaml, line {line}, field '{field}'" in str(error.value) or (
        field in ("between", "value") and f"line {line}" in str(error.value)
    )


def test_duplicate_ids_name_both_places(tmp_path: Path) -> None:
    first, second = written(tmp_path, GOOD, "a.yaml"), written(tmp_path, GOOD, "b.yaml")
    with pytest.raises(AdvisorError, match=r"b\.yaml, line 2, field 'id'.*a\.yaml, line 2"):
        load_cases([first, second])


def test_agreement_with_nobody_is_a_fault(tmp_path: Path) -> None:
    text = GOOD.replace("  source: by hand", "  agrees_with: two\n  source: by hand")
    with pytest.raises(AdvisorError, match="no other case 'two'"):
        load_cases([written(tmp_path, text)])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("- id: [", "line 1"),
        ("id: one", "must be a list"),
        ("- id: one\n  id: two\n", "line 2: the key 'id' occurs twice"),
        ("- plain", "must be a mapping"),
    ],
)
def test_broken_yaml(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(AdvisorError, match=what):
        load_cases([written(tmp_path, text)])


def test_missing_files_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(AdvisorError, match="no file or folder"):
        load_cases([tmp_path / "none.yaml"])
    with pytest.raises(AdvisorError, match="No questions"):
        load_cases([tmp_path])


def test_relations_compute() -> None:
    values = {"cost.capex": 100.0, "cost.energy": 20.0, "cost.tco": 120.0}
    assert Relation.parse("cost.tco == cost.capex + cost.energy").holds(values.__getitem__)[0]
    assert Relation.parse("cost.energy * 2 < cost.capex / 2").holds(values.__getitem__)[0]
    assert Relation.parse("cost.tco > cost.capex * 1.5").holds(values.__getitem__) == (False, "120 against 150")
    with pytest.raises(KeyError):
        Relation.parse("cost.tco > cost.salary").holds(values.__getitem__)


def test_a_csv_of_users(tmp_path: Path) -> None:
    table = (
        "question,kind,gold,must,tags\n"
        '"What is our MTU?",explanation,handbook.pdf,"9000|9,000;jumbo",\n'
        "我们的 VLAN 是多少？,,,,\n"
    )
    first, second = load_sets([written(tmp_path, table, "ours.csv")])
    assert (first.id, first.language, first.kinds) == ("ours-2", "en", ("explanation",))
    assert first.must == (("9000", "9,000"), ("jumbo",))
    assert first.gold == ("handbook.pdf",)
    assert (second.language, second.tags) == ("zh", ("user-set",))


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("id,kind\n1,decision\n", "no column 'question'"),
        ("question,colour\nhi,red\n", "unknown column colour"),
        ("question\n", "no questions"),
        ("question,kind\nWhat is it?,essay\n", "line 2, field 'kind'"),
    ],
)
def test_faults_of_a_csv(tmp_path: Path, table: str, what: str) -> None:
    with pytest.raises(AdvisorError, match=what):
        load_sets([written(tmp_path, table, "ours.csv")])


def test_thresholds_per_language(tmp_path: Path) -> None:
    path = written(tmp_path, "recall@5: {min: 0.95, per: language}\nunsupported_numbers: {max: 0}\n")
    names = [threshold.metric for threshold in load_thresholds(path)]
    assert names == ["recall@5[en]", "recall@5[zh]", "unsupported_numbers"]
    with pytest.raises(AdvisorError, match="line 1, field 'min'"):
        load_thresholds(written(tmp_path, "verdict: {}\n"))


@pytest.fixture(scope="module")
def shipped() -> list[Case]:
    return load_cases([QUESTIONS])


def test_the_shipped_set_is_large_and_in_both_languages(shipped: list[Case]) -> None:
    share = {name: sum(case.language == name for case in shipped) / len(shipped) for name in ("en", "zh")}
    assert len(shipped) >= 240
    assert 0.45 <= share["en"] <= 0.55
    assert 0.30 <= share["zh"] <= 0.40
    assert load_thresholds(THRESHOLDS)


def test_the_shipped_set_covers_every_tag_and_states_its_sources(shipped: list[Case]) -> None:
    used = {tag for case in shipped for tag in case.tags}
    assert TAGS - used == {"user-set"}
    assert all(len(case.source) >= 5 for case in shipped)


def test_shipped_gold_names_notes_that_exist(shipped: list[Case]) -> None:
    notes = {path.name.split(".")[0] for path in (QUESTIONS.parent.parent / "knowledge" / "notes").glob("*.md")}
    named = {one.partition("#")[0] for case in shipped for gold in case.gold for one in gold.split("|")}
    assert named <= notes
