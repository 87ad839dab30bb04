"""The result of a run, and its files: run.json, junit.xml, report.md and a report.html to filter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from jinja2 import Environment

from app.errors import AdvisorError
from eval.baseline import Difference
from eval.cases import Case
from eval.console import (
    difference_lines,
    failure_lines,
    group_lines,
    header_lines,
    measure_lines,
    threshold_lines,
)
from eval.record import SCHEMA, Trial
from eval.scoring import Score
from eval.summary import Disagreement, Group, Measure, errored_cases, passed_cases
from eval.thresholds import Outcome

RUN = "run.json"


@dataclass(frozen=True, slots=True)
class Result:
    header: Mapping[str, Any]
    cases: Sequence[Case]
    trials: Sequence[Trial]
    scores: Sequence[Score]
    measures: Mapping[str, Measure]
    groups: Sequence[Group]
    outcomes: Sequence[Outcome]
    disagreements: Sequence[Disagreement]
    flickering: Sequence[str]
    difference: Difference | None = None

    @property
    def reasons_to_fail(self) -> list[str]:
        """Why the exit code is 1; empty for a pass. Cases that failed before count through the thresholds."""
        reasons = [f"{o.threshold.metric} misses {o.threshold.text}" for o in self.outcomes if not o.met]
        if errored := errored_cases(self.scores):
            reasons.append(f"{len(errored)} cases raised an error")
        if self.difference and self.difference.worse:
            reasons.append(f"{len(self.difference.newly_failing)} cases passed before and fail now")
        return reasons

    @property
    def verdict(self) -> str:
        passed = passed_cases(self.scores)
        good = f"{sum(passed.values())} of {len(passed)} cases passed"
        reasons = self.reasons_to_fail
        return f"FAIL: {'; '.join(reasons)} ({good})" if reasons else f"PASS ({good})"


def write_files(folder: Path, result: Result) -> None:
    """Write the four files into an existing folder; each is whole or absent."""
    _write(folder / "junit.xml", junit(result))
    _write(folder / "report.md", markdown(result))
    _write(folder / "report.html", html(result))
    _write(folder / RUN, json.dumps(run_json(result), ensure_ascii=False))


def _write(path: Path, text: str) -> None:
    partial = path.with_suffix(path.suffix + ".part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def run_json(result: Result) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "header": dict(result.header),
        "verdict": result.verdict,
        "measures": {name: one.to_json() for name, one in result.measures.items()},
        "cases": [case_row(case, result) for case in result.cases],
        "trials": [trial.to_json() for trial in result.trials],
    }


def read_run(path: Path) -> dict[str, Any]:
    """A run.json, or the folder of one; raises AdvisorError where it is none or of another version."""
    file = path / RUN if path.is_dir() else path
    try:
        data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        schema = data["schema"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AdvisorError(f"{path} is no finished run ({error}).", "Name the folder of a run.") from None
    if schema != SCHEMA:
        raise AdvisorError(f"{file} has schema {schema}, not {SCHEMA}.", "Run the evaluation again.")
    return data


def case_row(case: Case, result: Result) -> dict[str, Any]:
    """One case with its outcome, for people and for compare."""
    scores = [score for score in result.scores if score.case_id == case.id]
    trials = [trial for trial in result.trials if trial.case_id == case.id]
    worst = next((score for score in scores if not score.passed), scores[0] if scores else None)
    trial = next((t for t in trials if worst and t.repeat == worst.repeat), None)
    answer = trial.answer if trial else None
    return {
        "id": case.id,
        "language": case.language,
        "tags": list(case.tags),
        "turns": list(case.turns),
        "passed": bool(scores) and all(score.passed for score in scores),
        "error": worst.error if worst else "not run",
        "stage": worst.failed_stage if worst else "",
        "kind": answer.kind if answer else "",
        "verdict": answer.verdict.choice if answer and answer.verdict else "",
        "failures": [{"stage": c.stage, "name": c.name, "expected": c.expected, "got": c.got} for c in worst.failures]
        if worst
        else [],
        "answer": answer.text if answer else "",
        "source": case.source,
        "counts": {name: list(pair) for name, pair in worst.counts.items()} if worst else {},
        "ms": round(answer.timings_ms.get("total", 0)) if answer else None,
    }


def junit(result: Result) -> str:
    """One test case a case: failures with the failing checks, errors apart."""
    passed, errored = passed_cases(result.scores), errored_cases(result.scores)
    suite = ElementTree.Element(
        "testsuite",
        name="fabric-advisor evaluate",
        tests=str(len(passed)),
        failures=str(sum(not ok for id, ok in passed.items() if id not in errored)),
        errors=str(len(errored)),
        timestamp=str(result.header["started"]),
    )
    for row in (case_row(case, result) for case in result.cases):
        element = ElementTree.SubElement(
            suite, "testcase", classname=",".join(row["tags"]) or "untagged", name=row["id"],
            time=f"{(row['ms'] or 0) / 1000:.3f}",
        )  # fmt: skip
        if row["error"]:
            ElementTree.SubElement(element, "error", message=row["error"])
        elif not row["passed"]:
            detail = "\n".join(
                f"{f['stage']}: {f['name']}: expected {f['expected']}; got {f['got']}" for f in row["failures"]
            )
            failure = ElementTree.SubElement(element, "failure", message=f"failed first at {row['stage']}")
            failure.text = detail
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def markdown(result: Result) -> str:
    trials = {(trial.case_id, trial.repeat): trial for trial in result.trials}
    cases = {case.id: case for case in result.cases}
    failures = [
        line
        for score in result.scores
        if not score.passed
        for line in failure_lines(cases[score.case_id], trials[score.case_id, score.repeat], score)
    ]
    parts = [
        ("", header_lines(result.header, result.cases)),
        ("Thresholds", threshold_lines(result.outcomes)),
        ("Cases by language and tag", group_lines(result.groups)),
        ("Metrics", measure_lines(result.measures)),
        ("Baseline", difference_lines(result.difference) if result.difference else ["no baseline"]),
        ("Failures", failures or ["none"]),
    ]
    sections = [
        (f"## {title}\n\n" if title else "") + "```text\n" + "\n".join(lines) + "\n```\n" for title, lines in parts
    ]
    return f"# {result.verdict}\n\n" + "\n".join(sections)


def html(result: Result) -> str:
    """One page without any outside file; the cases are data in it, so that the filters work offline."""
    template = (Path(__file__).parent / "report.html.j2").read_text(encoding="utf-8")
    rows = json.dumps([case_row(case, result) for case in result.cases], ensure_ascii=False)
    return (
        Environment(autoescape=True)
        .from_string(template)
        .render(
            verdict=result.verdict,
            header=header_lines(result.header, result.cases),
            outcomes=result.outcomes,
            groups=result.groups,
            measures=result.measures.values(),
            rows=rows.replace("<", "\\u003c"),
        )
    )
