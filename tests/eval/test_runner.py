"""Running cases: turns, errors, the journal, stopping, threads."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import AdvisorError
from eval.cases import Case
from eval.record import FoundPassage, Trial
from eval.runner import read_journal, run_case, run_cases
from tests.eval.answers import NOTE, ScriptedSubject, answer, citation


def case(id: str, *turns: str, **fields: object) -> Case:
    return Case(id, "en", "en", turns or (id,), "by hand", **fields)  # type: ignore[arg-type]


def opened(subject: ScriptedSubject) -> Callable[[], ScriptedSubject]:
    return lambda: subject


def test_turns_are_asked_with_the_answers_before_them() -> None:
    subject = ScriptedSubject({"one": answer("1"), "two": answer("2"), "three": answer("3")})
    trial = run_case(case("chat", "one", "two", "three"), 0, subject)
    assert subject.asked == [("one", 0), ("two", 1), ("three", 2)]
    assert [one.text for one in trial.answers] == ["1", "2", "3"]
    assert trial.answer is not None and trial.answer.text == "3"


def test_what_the_program_raises_is_recorded_not_raised() -> None:
    subject = ScriptedSubject({"bad": AdvisorError("0 GPUs.", "Name some."), "worse": ZeroDivisionError("x")})
    assert run_case(case("bad"), 0, subject).error == "AdvisorError: 0 GPUs. Name some."
    crash = run_case(case("worse"), 0, subject)
    assert crash.answer is None
    assert crash.error.startswith("ZeroDivisionError at answers.py:")


def test_hits_and_quotes_are_recorded() -> None:
    hits = [FoundPassage("pfc.en.md", "pfc", "Lead", 0.9)]
    subject = ScriptedSubject({"q": answer("It has 64 ports. [1]", citations=(citation(start=1),))}, hits, text=NOTE)
    trial = run_case(case("q", gold=("pfc",)), 0, subject)
    assert trial.retrieved == {"fused": tuple(hits)}
    assert trial.bad_quotes == ("[1] is not what switches.en.md says there",)
    assert run_case(case("q"), 0, subject).retrieved is None  # no gold, nothing to measure


def test_the_answer_carries_a_time_even_if_the_advisor_gives_none() -> None:
    trial = run_case(case("q"), 0, ScriptedSubject({"q": answer(timings_ms={})}))
    assert trial.answer is not None and trial.answer.timings_ms["total"] >= 0


def test_a_trial_survives_its_journal() -> None:
    subject = ScriptedSubject(
        {"q": answer("Text. [1]", citations=(citation(),))}, [FoundPassage("pfc.en.md", "pfc", "", 0.5, 0.9, 0.1)]
    )
    trial = run_case(case("q", gold=("pfc",)), 2, subject)
    assert Trial.from_json(json.loads(json.dumps(trial.to_json()))) == trial


def test_an_interrupted_run_carries_on(tmp_path: Path) -> None:
    journal = tmp_path / "cases.jsonl"
    cases = [case("a"), case("b"), case("c")]
    first = ScriptedSubject({name: answer(name) for name in "abc"})
    running = run_cases(cases, opened(first), journal)
    next(running)
    next(running)
    running.close()
    with journal.open("a", encoding="utf-8") as file:
        file.write('{"case_id": "c", "repe')  # killed while writing
    second = ScriptedSubject({name: answer(name) for name in "abc"})
    trials = list(run_cases(cases, opened(second), journal))
    assert [trial.case_id for trial in trials] == ["a", "b", "c"]
    assert second.asked == [("c", 0)]
    assert set(read_journal(journal)) == {("a", 0), ("b", 0), ("c", 0)}


def test_repeats_and_stopping(tmp_path: Path) -> None:
    subject = ScriptedSubject({"a": answer("a"), "b": answer("b")})
    trials = list(run_cases([case("a"), case("b")], opened(subject), tmp_path / "1.jsonl", repeat=2))
    assert [(trial.case_id, trial.repeat) for trial in trials] == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    stopped = run_cases(
        [case("a"), case("b")], opened(subject), tmp_path / "2.jsonl", stop=lambda trial: trial.case_id == "a"
    )
    assert [trial.case_id for trial in stopped] == ["a"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_case_is_asked_once_whatever_the_number_of_jobs(tmp_path: Path, jobs: int) -> None:
    names = [f"case-{number}" for number in range(20)]
    subject = ScriptedSubject({name: answer(name) for name in names})
    trials = list(run_cases([case(name) for name in names], opened(subject), tmp_path / "j.jsonl", jobs=jobs))
    assert sorted(trial.case_id for trial in trials) == sorted(names)
    assert sorted(question for question, _ in subject.asked) == sorted(names)


def test_jobs_stop_too(tmp_path: Path) -> None:
    names = [f"case-{number}" for number in range(50)]
    subject = ScriptedSubject({name: answer(name) for name in names})
    trials = list(
        run_cases([case(name) for name in names], opened(subject), tmp_path / "j.jsonl", jobs=2, stop=lambda _: True)
    )
    assert len(trials) == 1
    assert len(subject.asked) < 10
