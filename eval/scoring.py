"""One case against one trial: the checks, the stage that failed first, and the counts that metrics add up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from app.advisor.answer import Answer
from eval.cases import Case
from eval.metrics import citations, key_points, refusal, retrieval, support, tools
from eval.metrics.contradictions import misplaced_figures
from eval.metrics.languages import foreign_sentences, is_in_language
from eval.metrics.verdicts import verdict_is_right
from eval.quantities import find_quantities, in_si, says
from eval.record import Trial

Stage = Literal["read", "search", "calculate", "write", "cite"]
# a reference or a template variable that was not filled in, a value that was not there, an empty label
_UNFINISHED = re.compile(r"\{\{?[A-Za-z_][\w. ]*\}?\}|\b(?:None(?! of)|nan|undefined)\b|\*\*\s*[:：]?\s*\*\*")
STAGES: tuple[Stage, ...] = ("read", "search", "calculate", "write", "cite")


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation: what was expected, what came, and the stage of the work that is to blame."""

    stage: Stage
    name: str
    passed: bool
    expected: str = ""
    got: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """`counts` maps a metric to (sum, of how many); a metric is the sum over the cases of both, divided."""

    case_id: str
    repeat: int
    checks: tuple[Check, ...]
    counts: Mapping[str, tuple[float, float]]
    error: str = ""

    @property
    def passed(self) -> bool:
        return not self.error and all(check.passed for check in self.checks)

    @property
    def failures(self) -> list[Check]:
        return [check for check in self.checks if not check.passed]

    @property
    def failed_stage(self) -> str:
        """The first stage with a failed check, "error" where the program raised, "" where all passed."""
        failed = {check.stage for check in self.failures}
        return "error" if self.error else next((stage for stage in STAGES if stage in failed), "")


def score(case: Case, trial: Trial) -> Score:
    """Judge one trial; a trial with an error has no checks and never counts as a wrong answer."""
    if trial.answer is None:
        return Score(case.id, trial.repeat, (), {}, trial.error or "no answer")
    answer = trial.answer
    sources = _Sources.of(case, trial, answer)
    found = [
        *_read(case, answer),
        *_search(case, trial),
        *_calculate(case, answer),
        *_write(case, answer, sources),
        *_cite(case, answer, sources),
    ]
    return Score(case.id, trial.repeat, tuple(found), _counts(case, trial, answer, found, sources))


@dataclass(frozen=True, slots=True)
class _Sources:
    """What was found of the sources of one answer, computed once."""

    stray_numbers: list[str]
    misplaced: list[str]
    invalid: list[str]
    bad_quotes: list[str]
    precision: citations.Share
    recall: citations.Share
    bare_claims: list[str]

    @classmethod
    def of(cls, case: Case, trial: Trial, answer: Answer) -> _Sources:
        recall, bare = citations.citation_recall(answer)
        return cls(
            support.unsupported_numbers(answer, [a.question for a in trial.answers]),
            misplaced_figures(answer),
            citations.invalid_citations(answer),
            list(trial.bad_quotes),
            citations.citation_precision(answer, case.gold),
            recall,
            bare,
        )


def _read(case: Case, answer: Answer) -> Iterator[Check]:
    yield Check("read", "language", answer.language == case.answers_in, case.answers_in, answer.language)
    if case.kinds:
        yield Check("read", "kind", answer.kind in case.kinds, " or ".join(case.kinds), answer.kind)
    for name, expected in case.spec.items():
        got = answer.spec.get(name)
        yield Check("read", f"spec.{name}", got == expected, str(expected), str(got))


def _search(case: Case, trial: Trial) -> Iterator[Check]:
    if case.gold and trial.retrieved is not None:
        hits = trial.retrieved["fused"][:5]
        share = retrieval.recall(case.gold, [hit.found for hit in hits], 5)
        shown = ", ".join(f"{hit.topic or hit.document} {hit.score:.2f}" for hit in hits)
        yield Check("search", "found", share > 0, " or ".join(case.gold) + " in the first 5", shown)


def _calculate(case: Case, answer: Answer) -> Iterator[Check]:
    called = ", ".join(f"{c['tool']} {c['label']}".strip() for c in answer.calculations) or "none"
    if case.required_tools:
        missing = tools.missing_tools(case.required_tools, answer.calculations)
        yield Check("calculate", "tools", not missing, ", ".join(case.required_tools), called)
    if case.forbidden_tools:
        stray = tools.forbidden_tools(case.forbidden_tools, answer.calculations)
        yield Check("calculate", "no_tools", not stray, "no " + ", ".join(case.forbidden_tools), called)
    for value in case.values:
        right, got = tools.value_is_right(value, answer.calculations)
        wanted = value.value if value.between is None else f"{value.between[0]} to {value.between[1]}"
        yield Check("calculate", f"value {value.path}", right, f"{wanted} {value.unit}".strip(), got)
    for relation in case.relations:
        try:
            holds, got = relation.holds(lambda path: tools.number_at(path, answer.calculations))
        except KeyError as error:
            holds, got = False, str(error.args[0])
        yield Check("calculate", "relation", holds, relation.text, got)


def _write(case: Case, answer: Answer, sources: _Sources) -> Iterator[Check]:
    if case.verdicts:
        got = answer.verdict.choice if answer.verdict else "none"
        yield Check("write", "verdict", verdict_is_right(case.verdicts, answer), " or ".join(case.verdicts), got)
    foreign = foreign_sentences(answer.text, case.answers_in, answer.citations)
    right = is_in_language(answer.text, case.answers_in) and not foreign
    yield Check("write", "text_language", right, case.answers_in, " | ".join(foreign) or answer.text[:60])
    for group in case.must:
        missing = key_points.missing_points([group], answer.text)
        yield Check("write", "must", not missing, " or ".join(group), "" if not missing else "not said")
    for phrase in key_points.forbidden_points(case.must_not, answer.text):
        yield Check("write", "must_not", False, f"not: {phrase}", "said")
    for value in case.values:
        if value.stated and not isinstance(value.value, str | None):
            said = _states(answer.text, value.value, value.unit)
            yield Check("write", f"states {value.path}", said, f"{value.value:g} {value.unit}".strip())
    faults = [match[0] for match in _UNFINISHED.finditer(answer.text)]
    yield Check("write", "text is finished", not faults, "no gaps", ", ".join(faults))
    stray = sources.stray_numbers
    yield Check("write", "numbers have sources", not stray, "none without", ", ".join(stray))
    own = answer.grounding.unsupported
    yield Check("write", "numbers have sources (own check)", not own, "none without", ", ".join(own))
    misplaced = sources.misplaced
    yield Check("write", "figures of the right fabric", not misplaced, "none", "; ".join(misplaced))
    contradictions = answer.grounding.contradictions
    yield Check("write", "no contradiction (own check)", not contradictions, "none", "; ".join(contradictions))


def _states(text: str, value: float, unit: str) -> bool:
    si, dimension = in_si(value, unit)
    return any(q.dimension == dimension and says(q, si) for q in find_quantities(text))


def _cite(case: Case, answer: Answer, sources: _Sources) -> Iterator[Check]:
    invalid, untrue = sources.invalid, sources.bad_quotes
    yield Check("cite", "citations exist", not invalid, "every marker has its source", "; ".join(invalid))
    yield Check("cite", "quotes are true", not untrue, "verbatim", "; ".join(untrue))
    if answer.kind == "out_of_scope":
        yield Check("cite", "no source", not answer.citations, "none", f"{len(answer.citations)} citations")
    if case.gold and not case.refuses:
        cited = ", ".join(f"{c.document} › {c.section}" for c in answer.citations) or "none"
        yield Check("cite", "cites the topic", citations.cites_gold(answer, case.gold), " or ".join(case.gold), cited)
    bare = sources.bare_claims
    yield Check("cite", "claims have sources", not bare, f"{sources.recall.n} with a source", " | ".join(bare))


def _counts(
    case: Case, trial: Trial, answer: Answer, found: list[Check], sources: _Sources
) -> dict[str, tuple[float, float]]:
    """Sums of this case for each metric; a metric that does not apply to the case is absent."""

    def passed(*names: str) -> tuple[float, float]:
        checks = [check for check in found if check.name.split(" ")[0].split(".")[0] in names]
        return float(sum(check.passed for check in checks)), float(len(checks))

    stray = {*sources.stray_numbers, *answer.grounding.unsupported}
    counts: dict[str, tuple[float, float]] = {
        "language": passed("language", "text_language"),
        "kind": passed("kind"),
        "spec": passed("spec"),
        "verdict": passed("verdict"),
        "tools": passed("tools", "no_tools"),
        "numbers": passed("value", "relation"),
        "key_points": passed("must", "must_not"),
        "citation_precision": (sources.precision.good, sources.precision.n),
        "citation_recall": (sources.recall.good, sources.recall.n),
        "quotes": (len(answer.citations) - len(trial.bad_quotes), len(answer.citations)),
        "unsupported_numbers": (len(stray), 1),
        "contradictions": (len(sources.misplaced) + len(answer.grounding.contradictions), 1),
        "invalid_citations": (len(sources.invalid), 1),
        "refusal_precision": refusal.precision_count(case.kinds, answer.kind),
        "refusal_recall": refusal.recall_count(case.kinds, answer.kind),
    }
    if case.gold and trial.retrieved is not None:
        for stage, hits in trial.retrieved.items():
            counts |= retrieval_counts(case.gold, [hit.found for hit in hits], "" if stage == "fused" else f" {stage}")
    return {name: (float(a), float(n)) for name, (a, n) in counts.items() if n}


def retrieval_counts(gold: tuple[str, ...], hits: list[Any], suffix: str = "") -> dict[str, tuple[float, float]]:
    return {
        f"recall@1{suffix}": (retrieval.recall(gold, hits, 1), 1.0),
        f"recall@5{suffix}": (retrieval.recall(gold, hits, 5), 1.0),
        f"recall@10{suffix}": (retrieval.recall(gold, hits, 10), 1.0),
        f"mrr{suffix}": (retrieval.reciprocal_rank(gold, hits), 1.0),
        f"ndcg@10{suffix}": (retrieval.ndcg(gold, hits, 10), 1.0),
    }
