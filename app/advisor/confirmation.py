"""The paragraph that answers "are you sure?" and "why not RoCE?": what the answer before rests on.

Being asked changes nothing; the same inputs give the same result, and the reader is told on what it depends.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.advisor.answer import Assumption, Reason, Verdict
from app.advisor.evidence import Evidence
from app.advisor.phrases import phrase, phrases
from app.advisor.vocabulary import vocabulary
from app.fabric.calculation import Language

WEIGHTIEST = 2  # reasons repeated; all of them are listed below


def confirmation(evidence: Evidence, verdict: Verdict | None, assumptions: Sequence[Assumption]) -> str:
    """The paragraph, "" where the question asks for no confirmation."""
    question, language = evidence.question, evidence.question.language
    if question.again == "why_not" and verdict:
        return _not_chosen(question.again_text, verdict, language)
    if question.again != "sure":
        return ""
    said = [one.text for one in assumptions]
    joined = ("；" if language == "zh" else "; ").join(said)
    assumed = _confirmed("assumed", language).format(assumptions=joined) if said else ""
    if verdict:
        chosen = [one for one in verdict.reasons if one.favours == verdict.choice]
        weightiest = _sentences(chosen[:WEIGHTIEST], language)
        return _confirmed("verdict", language).format(
            confidence=phrase("confidence", verdict.confidence, language),
            reasons=weightiest or _confirmed("nothing", language),
            assumed=assumed,
        )
    if evidence.calculations:
        return _confirmed("figures", language).format(assumed=assumed)
    return _confirmed("passages", language)


def _not_chosen(asked: str, verdict: Verdict, language: Language) -> str:
    option = next((name for name, pattern in vocabulary().fabrics.items() if pattern.search(asked)), "")
    if not option:
        return ""
    spoken_for = [one for one in verdict.reasons if one.favours == option]
    against = [one for one in verdict.reasons if one.favours not in (option, "either")]
    nothing = _confirmed("nothing", language)
    return _confirmed("not_chosen", language).format(
        option=phrase("options", option, language),
        for_it=_sentences(spoken_for, language) or nothing,
        against_it=_sentences(against, language) or nothing,
    )


def _sentences(reasons: Sequence[Reason], language: Language) -> str:
    return ("" if language == "zh" else " ").join(one.text for one in reasons)


def _confirmed(key: str, language: Language) -> str:
    return str(phrases()["confirmed"][key][language])
