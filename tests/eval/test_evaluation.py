"""A whole evaluation with scripted answers: output, files, exit codes, baseline, resuming, comparing."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from app.errors import AdvisorError
from app.settings import Settings
from eval.baseline import read_baseline
from eval.command import evaluate
from eval.compare import compare_runs
from eval.evaluation import Plan, evaluate_sets, rescore, select
from eval.report import read_run
from eval.user_sets import load_sets
from tests.eval.answers import ScriptedSubject, answer, calculation, verdict

QUESTIONS = """
- id: which
  language: en
  question: RoCE or InfiniBand for 64 GPUs?
  tags: [decision, quick]
  kind: decision
  verdict: roce
  source: article
- id: size
  language: en
  question: How many leaves for 512 GPUs?
  tags: [sizing]
  kind: sizing
  values: {size.leaf_switches: 16}
  source: NVIDIA
- id: weather
  language: en
  question: What's the weather?
  tags: [out-of-scope]
  kind: out_of_scope
  source: issue 2
"""
GOOD = {
    "RoCE or InfiniBand for 64 GPUs?": answer("RoCE.", kind="decision", verdict=verdict("roce")),
    "How many leaves for 512 GPUs?": answer(
        "It takes 16 leaves (T1).", kind="sizing", calculations=(calculation(leaf_switches=16),)
    ),
    "What's the weather?": answer("That is outside what I know.", kind="out_of_scope"),
}
SWAPPED = GOOD | {
    "RoCE or InfiniBand for 64 GPUs?": answer("InfiniBand.", kind="decision", verdict=verdict("infiniband"))
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", _env_file=None)  # type: ignore[call-arg]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "set.yaml").write_text(QUESTIONS, encoding="utf-8")
    limits = tmp_path / "limits.yaml"
    limits.write_text("verdict: {min: 0.97}\nnumbers: {min: 1}\n", encoding="utf-8")
    return Plan(sets=(tmp_path / "set.yaml",), thresholds=limits, runs=tmp_path / "runs", out=tmp_path / "out")


def changed(plan: Plan, **fields: object) -> Plan:
    from dataclasses import replace

    return replace(plan, **fields)  # type: ignore[arg-type]


def run(plan: Plan, settings: Settings, answers: object) -> tuple[int, ScriptedSubject]:
    subject = ScriptedSubject(answers)  # type: ignore[arg-type]
    return evaluate_sets(plan, settings, lambda: subject), subject


def test_a_good_run(plan: Plan, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = run(plan, settings, GOOD)
    out = capsys.readouterr().out
    assert code == 0
    assert out.rstrip().splitlines()[-1] == "PASS (3 of 3 cases passed)"
    assert "Evaluating 3 cases × 1, git " in out
    assert "model builtin, embedding e5-small" in out
    assert sorted(file.name for file in (plan.out or Path()).iterdir()) == [
        "cases.jsonl", "junit.xml", "plan.json", "report.html", "report.md", "run.json",
    ]  # fmt: skip


def test_a_missed_threshold_is_exit_1_and_names_the_stage(
    plan: Plan, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = run(plan, settings, SWAPPED)
    out = capsys.readouterr().out
    assert code == 1
    assert "✗ which  (set.yaml:2)  failed first at: write" in out
    assert "expected roce" in out and "got      infiniband" in out
    assert out.rstrip().splitlines()[-1] == "FAIL: verdict misses ≥ 0.97 (2 of 3 cases passed)"


def test_an_error_fails_the_run_without_counting_as_a_wrong_verdict(plan: Plan, settings: Settings) -> None:
    code, _ = run(plan, settings, GOOD | {"What's the weather?": KeyError("weather")})
    data = read_run(plan.out or Path())
    assert code == 1
    assert data["verdict"] == "FAIL: 1 cases raised an error (2 of 3 cases passed)"
    assert data["measures"]["verdict"]["value"] == 1.0
    junit = ElementTree.parse((plan.out or Path()) / "junit.xml").getroot()
    assert (junit.get("tests"), junit.get("failures"), junit.get("errors")) == ("3", "0", "1")


def test_junit_holds_failures_for_ci(plan: Plan, settings: Settings) -> None:
    run(plan, settings, SWAPPED)
    junit = ElementTree.parse((plan.out or Path()) / "junit.xml").getroot()
    (failure,) = junit.iter("failure")
    assert failure.get("message") == "failed first at write"
    assert failure.text == "write: verdict: expected roce; got infiniband"


def test_the_html_report_needs_nothing_from_outside_and_escapes(plan: Plan, settings: Settings) -> None:
    evil = answer("</script><script>alert(1)</script>", kind="out_of_scope")
    run(plan, settings, GOOD | {"What's the weather?": evil})
    page = ((plan.out or Path()) / "report.html").read_text(encoding="utf-8")
    assert "http" not in page.replace("http-equiv", "")
    assert page.count("</script>") == 2
    assert "alert(1)" in page


def test_only_by_id_and_tag(plan: Plan, settings: Settings) -> None:
    _, subject = run(changed(plan, only=("weather", "sizing")), settings, GOOD)
    assert [question for question, _ in subject.asked] == [
        "How many leaves for 512 GPUs?", "What's the weather?",
    ]  # fmt: skip
    with pytest.raises(AdvisorError, match="no case and no tag 'wether'"):
        run(changed(plan, only=("wether",), out=None), settings, GOOD)


def test_held_out_cases_run_only_when_they_are_named(plan: Plan) -> None:
    set_of = plan.sets[0].with_name("held.yaml")
    set_of.write_text(QUESTIONS.replace("tags: [sizing]", "tags: [sizing, heldout]"), encoding="utf-8")
    cases = load_sets([set_of])

    def ids(*only: str) -> list[str]:
        return [case.id for case in select(cases, only)]

    assert ids() == ["which", "weather"]
    with pytest.raises(AdvisorError, match="No case is left"):
        ids("sizing")
    assert ids("heldout") == ids("size") == ["size"]
    assert ids("heldout", "quick") == ["which", "size"]


def test_fail_fast(plan: Plan, settings: Settings) -> None:
    code, subject = run(changed(plan, fail_fast=True), settings, SWAPPED)
    assert (code, len(subject.asked)) == (1, 1)


def test_against_a_baseline(plan: Plan, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    lenient = plan.thresholds.parent / "none.yaml"
    lenient.write_text("verdict: {min: 0}\n", encoding="utf-8")
    baseline = plan.thresholds.parent / "baseline.json"
    plan = changed(plan, thresholds=lenient)
    assert run(changed(plan, new_baseline=baseline), settings, GOOD)[0] == 0
    assert read_baseline(baseline).cases["size"]["values"] == {"size.leaf_switches": 16.0}
    code, _ = run(changed(plan, baseline=baseline), settings, SWAPPED)
    out = capsys.readouterr().out
    assert code == 1
    assert "newly failing: which" in out
    assert "changed: which: verdict roce → infiniband" in out
    assert "FAIL: 1 cases passed before and fail now" in out
    assert run(changed(plan, baseline=baseline), settings, GOOD)[0] == 0


def test_a_case_that_failed_before_is_no_regression(plan: Plan, settings: Settings) -> None:
    lenient = plan.thresholds.parent / "none.yaml"
    lenient.write_text("verdict: {min: 0}\n", encoding="utf-8")
    baseline = plan.thresholds.parent / "baseline.json"
    plan = changed(plan, thresholds=lenient)
    run(changed(plan, new_baseline=baseline), settings, SWAPPED)
    assert run(changed(plan, baseline=baseline), settings, SWAPPED)[0] == 0


@pytest.mark.parametrize("text", ["{}", "not json", '{"schema": 99, "header": {}, "measures": {}, "cases": {}}'])
def test_a_baseline_of_another_kind_is_bad_input(plan: Plan, settings: Settings, text: str) -> None:
    path = plan.thresholds.parent / "baseline.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AdvisorError, match="baseline"):
        run(changed(plan, baseline=path), settings, GOOD)


def test_an_interrupted_run_resumes_in_the_same_folder(plan: Plan, settings: Settings) -> None:
    plan = changed(plan, out=None)
    subject = ScriptedSubject(GOOD | {"What's the weather?": KeyboardInterrupt()})  # type: ignore[dict-item]

    def interrupted(question: str, history: object) -> object:
        if question == "What's the weather?":
            raise KeyboardInterrupt
        return ScriptedSubject.ask(subject, question, history)  # type: ignore[arg-type]

    subject.ask = interrupted  # type: ignore[method-assign, assignment]
    with pytest.raises(KeyboardInterrupt):
        evaluate_sets(plan, settings, lambda: subject)
    (folder,) = plan.runs.iterdir()
    code, second = run(plan, settings, GOOD)
    assert code == 0
    assert second.asked == [("What's the weather?", 0)]
    assert list(plan.runs.iterdir()) == [folder]
    run(plan, settings, GOOD)  # a finished run is not touched again
    assert len(list(plan.runs.iterdir())) == 2


def test_a_folder_of_something_else_is_refused(plan: Plan, settings: Settings) -> None:
    folder = plan.out or Path()
    folder.mkdir()
    (folder / "plan.json").write_text('{"fingerprint": "other"}', encoding="utf-8")
    (folder / "cases.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(AdvisorError, match="interrupted run of something else"):
        run(plan, settings, GOOD)


def test_rescoring_asks_nothing_and_follows_changed_expectations(
    plan: Plan, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    run(plan, settings, GOOD)
    folder = plan.out or Path()
    assert rescore(folder, plan.sets, plan.thresholds) == 0
    plan.sets[0].write_text(QUESTIONS.replace("verdict: roce", "verdict: naas"), encoding="utf-8")
    assert rescore(folder, plan.sets, plan.thresholds) == 1
    assert "expected naas" in capsys.readouterr().out


def test_comparing_two_runs(plan: Plan, settings: Settings) -> None:
    folders = [plan.thresholds.parent / name for name in ("a", "b")]
    for folder, answers in zip(folders, (SWAPPED, GOOD), strict=True):
        run(changed(plan, out=folder), settings, answers)
    first, second = (read_run(folder) for folder in folders)
    comparison = compare_runs(first, second)
    assert (comparison.fixed, comparison.broken) == (["which"], [])
    assert comparison.p_value == 1.0  # one discordant pair shows nothing
    assert comparison.verdict == "no evidence"
    assert ("verdict", 0.0, 1.0) in comparison.measures


def test_a_significant_comparison() -> None:
    def made(passed: bool) -> dict[str, object]:
        rows = [{"id": str(n), "passed": passed, "kind": "", "verdict": ""} for n in range(8)]
        return {"cases": rows, "measures": {}, "header": {"model": str(passed)}}

    better = compare_runs(made(False), made(True))
    assert better.p_value == pytest.approx(2 / 2**8)
    assert better.verdict == "better"
    assert better.settings == ["model: False → True"]
    assert compare_runs(made(True), made(False)).verdict == "worse"


def test_the_command_reports_bad_input_with_exit_2(plan: Plan, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("- id: x\n  language: en\n  question: y\n", encoding="utf-8")
    result = CliRunner().invoke(evaluate, [str(broken), "--out", str(tmp_path / "o")])
    assert result.exit_code == 2
    assert result.stderr == (
        "fabric-advisor: broken.yaml, line 1, field 'source': is missing. Correct the case and run again.\n"
    )
    assert CliRunner().invoke(evaluate, ["compare", str(tmp_path), str(tmp_path)]).exit_code == 2


def test_the_command_has_its_subcommands() -> None:
    help_text = CliRunner().invoke(evaluate, ["--help"]).output
    assert all(name in help_text for name in ("compare", "retrieval", "new", "rescore", "run"))
    options = CliRunner().invoke(evaluate, ["run", "--help"]).output
    for option in ("only", "model", "repeat", "jobs", "baseline", "update-baseline", "out", "fail-fast"):
        assert f"--{option}" in options


def test_the_fingerprint_follows_what_is_measured(plan: Plan, settings: Settings) -> None:
    from eval.provenance import header

    files = [plan.sets[0]]
    one = header(settings, files, repeat=1, only=())
    assert one["fingerprint"] == header(settings, files, repeat=1, only=())["fingerprint"]
    assert one["fingerprint"] != header(settings, files, repeat=2, only=())["fingerprint"]
    files[0].write_text(QUESTIONS + "\n", encoding="utf-8")
    assert one["fingerprint"] != header(settings, files, repeat=1, only=())["fingerprint"]
    assert json.dumps(one)


def test_nothing_left_to_ask_is_no_pass() -> None:
    blind = load_sets((Path("eval/questions/heldout2.yaml"),))
    with pytest.raises(AdvisorError, match="--only: heldout, heldout2"):
        select(blind, ())
    assert len(select(blind, ("heldout2",))) == 60
