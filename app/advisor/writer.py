"""The built-in writer: Markdown from evidence by templates, with no model. It must be good enough to be the default.

Everything that depends on the language of the answer is in phrases.yaml and templates/; this module only chooses what
to say. Sentences about facts are quoted from passages, figures come from calculations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from app.advisor.answer import Assumption, Reason, Verdict
from app.advisor.answer_figures import AnswerFigures
from app.advisor.citations import Ledger
from app.advisor.confirmation import confirmation
from app.advisor.error_text import error_text
from app.advisor.evidence import ACCEPTED_WITH, Evidence
from app.advisor.figures import plain, size
from app.advisor.growth_text import growth_context
from app.advisor.job_text import causes, serving_context, training_context
from app.advisor.money_said import held_against
from app.advisor.phrases import phrase, phrases
from app.advisor.quoting import Quoting
from app.fabric.calculation import Language

HERE = Path(__file__).parent
NOTHING_TO_QUOTE = frozenset({"clarification", "out_of_scope", "no_evidence"})


@dataclass(frozen=True, slots=True)
class Draft:
    text: str
    verdict: Verdict | None
    assumptions: tuple[Assumption, ...]
    follow_ups: tuple[str, ...]
    notices: tuple[str, ...] = ()


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )


class BuiltinWriter:
    """Writes one answer. The ledger collects what is cited."""

    def __init__(self, evidence: Evidence, ledger: Ledger):
        self.evidence = evidence
        self.language: Language = evidence.question.language
        self.quoting = Quoting(evidence, ledger)
        self.figures = AnswerFigures(evidence)
        self.spec = evidence.question.spec

    def draft(self) -> Draft:
        kind = self.evidence.kind
        verdict = self.verdict()
        name: str = "decision" if verdict else kind
        if self.evidence.question.grows:
            name = "growth"
        if name in {"comparison", "configuration", "diagnosis"}:
            name = "explanation"
        if name == "cost" and not self.evidence.calculations:
            name = "explanation"
        template = _templates().get_template(f"{name}.{self.language}.md.j2")
        text = template.render(**self._context(verdict)).strip()
        while "\n\n\n" in text:
            text = text.replace("\n\n\n", "\n\n")
        assumptions = self.assumptions()
        if told := confirmation(self.evidence, verdict, assumptions):
            headline, _, rest = text.partition("\n")
            text = f"{headline}\n\n{told}\n{rest}" if self.evidence.calculations else f"{told}\n\n{text}"
        return Draft(text, verdict, assumptions, self.follow_ups(), self._notices())

    def verdict(self) -> Verdict | None:
        """The recommendation, composed from the decision's result; None where none was asked for."""
        decision = self.evidence.decision
        if decision is None:
            return None
        reasons = tuple(
            Reason(
                text=one.text.in_language(self.language),
                provenance=one.rule.provenance,
                favours=one.favours,
                reference=self._reference(one.rule.calculation) or self.quoting.supporting(one).strip(),
            )
            for one in decision.reasons
        )
        flips = tuple(
            f"{text.in_language(self.language)} → {self._phrase('options', option)}"
            for text, option in decision.would_flip
        )
        return Verdict(decision.choice, decision.confidence, reasons, flips)

    def assumptions(self) -> tuple[Assumption, ...]:
        """What was assumed because nobody said it; the spec field is named, so that a reply can change it."""
        kind: str = "decision" if self.evidence.decision else self.evidence.question.job or self.evidence.kind
        kind = "growth" if self.evidence.question.grows else kind
        listed = []
        for field, entry in phrases()["assumptions"].items():
            if self.spec.gpus is None or kind not in entry["kinds"] or field in self.evidence.question.said:
                continue
            listed.append(Assumption(field, entry[self.language].format(value=self._field_text(field))))
        if self.evidence.calculations:
            settled = {"money"} if self._money() else set()  # said in the text
            notes = [one for one in self.evidence.question.notes if one.subject not in settled]
            listed += [Assumption("", one.text.in_language(self.language)) for one in notes]
        return tuple(listed)

    def follow_ups(self) -> tuple[str, ...]:
        kind: str = "decision" if self.evidence.decision and self.evidence.kind == "decision" else self.evidence.kind
        kind = "growth" if self.evidence.question.grows else kind
        table = phrases()["follow_ups"]
        gpus = self.spec.gpus or 64
        asked = self.evidence.question.text
        chosen = table.get(kind, table["out_of_scope" if kind == "no_evidence" else "explanation"])[self.language]
        return tuple(
            text
            for one in chosen
            if (text := one.format(gpus=gpus, next_gpus=gpus * 8 if gpus <= 8192 else gpus // 8)) != asked
        )

    def _context(self, verdict: Verdict | None) -> dict[str, Any]:
        evidence = self.evidence
        decision = evidence.decision
        context: dict[str, Any] = {
            "spec": self.spec,
            "n": plain,
            "v": self.figures.value,
            "t": lambda tool, label="": one.id if (one := evidence.calculation(tool, label)) else "",
            "has": lambda tool: evidence.calculation(tool) is not None,
            "design": self.figures.design,
            "counts": self.figures.counts,
            "switches": self.figures.switches,
            "ids": lambda fabric: ", ".join(one.id for one in evidence.calculations if one.label == fabric),
            "cite": self.quoting.cite,
            "quote": self.quoting.quote,
            "opening": self.quoting.opening,
            "message": size(self.spec.message_bytes),
            "operation": self._phrase("operations", self.spec.operation),
            "tuning": self._phrase("tunings", self.spec.tuning),
            "gpu": self.spec.gpu_model.upper(),
            "searched": "; ".join(evidence.searched),
            "bands": self.figures.bands(),
            "computed": self.figures.computed(),
            "parts": self.figures.bill_parts(),
            "partial": self.figures.partly_filled(),
            "differences": self.figures.differences(),
            "job": training_context(evidence.calculations, self.figures.value, phrases()["job"], self.language),
            "serving": serving_context(
                evidence.calculations, phrases()["serving"], self.language, gpus_said="gpus" in evidence.question.said
            ),
            "causes": causes(evidence.calculations, self.language),
            "growth": growth_context(evidence.calculation("grow"), self.language, asked=self.spec.gpus is not None),
            "money": self._money(),
            "findings": [],
            "lead": "",
            "table": "",
        }
        if evidence.bands:
            ratios = [band.comparison.values["capex_ratio_exact_counts"].value for band in evidence.bands]
            context |= {"band_ratio_low": plain(min(ratios)), "band_ratio_high": plain(max(ratios))}
        if verdict and decision:
            context |= {
                "headline": self._headline(verdict.choice),
                "naas": verdict.choice == "naas",
                "accepted": self.quoting.opening(ACCEPTED_WITH[verdict.choice]),
                "confidence": self._phrase("confidence", verdict.confidence),
                "reasons": [self._reason(reason) for reason in verdict.reasons],
                "flips": [
                    {"text": text.in_language(self.language), "option": self._phrase("options", option)}
                    for text, option in decision.would_flip
                ],
            }
        elif evidence.kind not in NOTHING_TO_QUOTE:
            context |= self.quoting.context()
        return context

    def _money(self) -> str:
        said, calculation = self.evidence.question.money, self.evidence.calculation
        if said is None:
            return ""
        return held_against(
            said,
            lambda fabric: calculation("cost", fabric),
            lambda fabric: self.figures.value("cost", fabric, "capex_usd"),
            self.language,
        )

    def _headline(self, choice: str) -> str:
        return self._phrase("options", choice)[:1].upper() + self._phrase("options", choice)[1:]

    def _reason(self, reason: Reason) -> dict[str, str]:
        cited = reason.reference.startswith("[")
        return {
            "text": reason.text,
            "provenance": self._phrase("provenance", reason.provenance),
            "reference": "" if cited else reason.reference,
            "marker": reason.reference if cited else "",
        }

    def _notices(self) -> tuple[str, ...]:
        if self.evidence.unpriced is not None:
            return (error_text(self.evidence.unpriced, self.language),)
        hits, notices = self.evidence.hits, phrases()["notices"]
        if not hits or self.evidence.calculations:
            return ()
        kinds = {"other_language": hits[0].passage.language != self.language, "weak": hits[0].weak}
        return tuple(notices[kind][self.language] for kind, applies in kinds.items() if applies)

    def _reference(self, tool: str) -> str:
        one = self.evidence.calculation(tool) if tool else None
        return one.id if one else ""

    def _field_text(self, field: str) -> str:
        value = getattr(self.spec, field)
        if field == "model":
            named = (one.inputs.get("model_name") for one in self.evidence.calculations)
            return str(next(filter(None, named), value))
        if field == "message_bytes":
            return size(value)
        if field == "tuning":
            return self._phrase("tunings", value)
        return plain(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value).upper()

    def _phrase(self, group: str, key: str) -> str:
        return phrase(group, key, self.language)
