"""The built-in writer: Markdown from evidence by templates, with no model. It must be good enough to be the default.

Everything that depends on the language of the answer is in phrases.yaml and templates/; this module only chooses what
to say. Sentences about facts are quoted from passages, figures come from calculations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import yaml

from app.advisor.answer import Assumption, Reason, Verdict
from app.advisor.citations import Ledger
from app.advisor.error_text import error_text
from app.advisor.evidence import ACCEPTED_WITH, FABRICS, Evidence
from app.advisor.excerpt import best_quote, best_sentences, items_marked, lists, rank, sentences, tables, terms
from app.advisor.figures import money, plain, size, with_range
from app.advisor.job_text import causes, serving_context, training_context
from app.advisor.question import CALCULATED
from app.advisor.references import marked
from app.fabric.calculation import Calculation, Language
from app.fabric.decision import Applied
from app.library.passage import Passage

HERE = Path(__file__).parent
LEAD_SENTENCES = 4
SUPPORTING_PASSAGES = 3
NOTHING_TO_QUOTE = frozenset({"clarification", "out_of_scope", "no_evidence"})
WHOLE_NOTE_FIT = 0.3  # share of title in question times share of question in title
RELATIVE_SCORE = 0.6  # supporting passages must reach this share of the best hit's score


@dataclass(frozen=True, slots=True)
class Draft:
    text: str
    verdict: Verdict | None
    assumptions: tuple[Assumption, ...]
    follow_ups: tuple[str, ...]
    notices: tuple[str, ...] = ()


@cache
def phrases() -> Mapping[str, Any]:
    data: Mapping[str, Any] = yaml.safe_load((HERE / "phrases.yaml").read_text(encoding="utf-8"))
    return data


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
        self.ledger = ledger
        self.language: Language = evidence.question.language
        self.spec = evidence.question.spec

    def draft(self) -> Draft:
        kind = self.evidence.kind
        verdict = self.verdict()
        name = "decision" if verdict else kind
        if name in {"comparison", "configuration", "diagnosis"}:
            name = "explanation"
        if name == "cost" and not self.evidence.calculations:
            name = "explanation"
        template = _templates().get_template(f"{name}.{self.language}.md.j2")
        text = template.render(**self._context(verdict)).strip()
        while "\n\n\n" in text:
            text = text.replace("\n\n\n", "\n\n")
        return Draft(text, verdict, self.assumptions(), self.follow_ups(), self._notices())

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
                reference=self._reference(one.rule.calculation) or self._supporting(one).strip(),
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
        kind = "decision" if self.evidence.decision else self.evidence.question.job or self.evidence.kind
        listed = []
        for field, entry in phrases()["assumptions"].items():
            if self.spec.gpus is None or kind not in entry["kinds"] or field in self.evidence.question.said:
                continue
            listed.append(Assumption(field, entry[self.language].format(value=self._field_text(field))))
        return tuple(listed)

    def follow_ups(self) -> tuple[str, ...]:
        kind = "decision" if self.evidence.decision and self.evidence.kind == "decision" else self.evidence.kind
        table = phrases()["follow_ups"]
        gpus = self.spec.gpus or 64
        asked = self.evidence.question.text
        chosen = table.get(kind, table["out_of_scope" if kind == "no_evidence" else "explanation"])[self.language]
        return tuple(
            text
            for one in chosen
            if (text := one.format(gpus=gpus, next_gpus=gpus * 8 if gpus <= 8192 else gpus // 8)) != asked
        )

    def cite(self, topic: str, about: str) -> str:
        """The marker of the passage of a note that speaks most of `about`; nothing where the note is missing."""
        quote = best_quote(self.evidence.note_passages.get(topic, ()), about)
        return self._marked("", quote.passage) if quote else ""

    def _supporting(self, reason: Applied) -> str:
        """The marker of the passage that a rule names as its support."""
        passages = self.evidence.note_passages.get(reason.rule.note, ())
        if reason.rule.section is not None:
            sections = list(dict.fromkeys(passage.section for passage in passages))
            named = sections[reason.rule.section : reason.rule.section + 1]
            passages = [passage for passage in passages if passage.section in named] or passages
        quote = best_quote(passages, reason.text.in_language(self.language))
        return self.ledger.cite(quote.passage) if quote else ""

    def _marked(self, text: str, passage: Passage) -> str:
        """A text with its source behind it, in the spacing of the language."""
        return f"{text}{'' if self.language == 'zh' else ' '}{self.ledger.cite(passage)}"

    def quote(self, topic: str, about: str) -> str:
        quote = best_quote(self.evidence.note_passages.get(topic, ()), about)
        return self._marked(quote.text, quote.passage) if quote else ""

    def opening(self, topic: str, most: int = 2) -> str:
        """The first sentences of a note, which say what its topic is."""
        passages = self.evidence.note_passages.get(topic, ())
        found = sentences(passages[0].text)[:most] if passages else []
        joiner = "" if self.language == "zh" else " "
        return self._marked(joiner.join(found), passages[0]) if found else ""

    def _context(self, verdict: Verdict | None) -> dict[str, Any]:
        evidence = self.evidence
        decision = evidence.decision
        context: dict[str, Any] = {
            "spec": self.spec,
            "n": plain,
            "v": self._value,
            "t": lambda tool, label="": one.id if (one := evidence.calculation(tool, label)) else "",
            "has": lambda tool: evidence.calculation(tool) is not None,
            "design": self._design,
            "counts": self._counts,
            "switches": self._switches,
            "ids": lambda fabric: ", ".join(one.id for one in evidence.calculations if one.label == fabric),
            "cite": self.cite,
            "quote": self.quote,
            "opening": self.opening,
            "message": size(self.spec.message_bytes),
            "operation": self._phrase("operations", self.spec.operation),
            "tuning": self._phrase("tunings", self.spec.tuning),
            "gpu": self.spec.gpu_model.upper(),
            "searched": "; ".join(evidence.searched),
            "bands": self._bands(),
            "computed": self._computed(),
            "partial": self._partly_filled(),
            "differences": self._differences(),
            "job": training_context(evidence.calculations, self._value, phrases()["job"], self.language),
            "serving": serving_context(evidence.calculations, phrases()["serving"], self.language),
            "causes": causes(evidence.calculations, self.language),
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
                "accepted": self.opening(ACCEPTED_WITH[verdict.choice]),
                "confidence": self._phrase("confidence", verdict.confidence),
                "reasons": [self._reason(reason) for reason in verdict.reasons],
                "flips": [
                    {"text": text.in_language(self.language), "option": self._phrase("options", option)}
                    for text, option in decision.would_flip
                ],
            }
        elif evidence.kind not in NOTHING_TO_QUOTE:
            context |= self._quotes()
        return context

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

    def _quotes(self) -> dict[str, Any]:
        """The lead paragraph, supporting sentences, and the table or list that belongs to them."""
        hits = self.evidence.hits
        if not hits:
            return {}
        calculated = bool(self.evidence.calculations) and self.evidence.kind in CALCULATED
        about = self.evidence.question.text
        first = self._lead_passage()
        lead = "" if calculated else self._lead(first, about)
        block = "" if calculated else self._whole_block(first)
        seen = lead + block
        findings: list[str] = []
        colon = "：" if self.language == "zh" else ": "
        for passage in self._supporting_passages():
            if len(findings) == SUPPORTING_PASSAGES:
                break
            quote = best_sentences(passage, about, 2)
            shown = (lead and passage.id == first.id) or (block and f"**{self._heading(passage)}**" in block)
            if not quote.sentences or shown or quote.text in seen:
                continue
            seen += quote.text
            findings.append(self._marked(f"**{self._heading(passage)}**{colon}{quote.text}", passage))
        return {"lead": lead, "findings": findings, "table": block}

    def _supporting_passages(self) -> list[Passage]:
        """Good hits first, then the rest of the note that the best hit comes from, where there is room."""
        hits = self.evidence.hits
        best = max(hit.score for hit in hits)
        good = [hit.passage for hit in hits if hit.score >= RELATIVE_SCORE * best]
        if self.evidence.calculations and self.evidence.kind in CALCULATED:
            return good
        rest = list(self.evidence.note_passages.get(hits[0].passage.topic, ()))
        scores = [max(rank(sentences(passage.text), self.evidence.question.text), default=0.0) for passage in rest]
        ranked = [passage for _, passage in sorted(zip(scores, rest, strict=True), key=lambda pair: -pair[0])]
        return good + [passage for passage in ranked if passage.id not in {one.id for one in good}]

    def _whole_block(self, first: Passage) -> str:
        """A table or list of the lead passage or of the best hits on its subject, whole, with its source."""
        near = [hit.passage for hit in self.evidence.hits[:3]]
        for passage in (first, *(one for one in near if one is near[0] or one.document_id == first.document_id)):
            for block in tables(passage.text):
                return f"**{self._heading(passage)}**\n\n{block}\n\n{self.ledger.cite(passage)}"
            for block in lists(passage.text):
                return f"**{self._heading(passage)}**\n\n{items_marked(block, self.ledger.cite(passage))}"
        return ""

    def _heading(self, passage: Passage) -> str:
        return (passage.section.split(" › ")[-1] or passage.title).rstrip("?？:：")

    def _lead_passage(self) -> Passage:
        """What to open with: the opening of the note that the question is about as a whole, else the best hit."""
        asked = terms(self.evidence.question.text)
        best, fit = self.evidence.hits[0].passage, 0.0
        for passages in self.evidence.note_passages.values():
            if not passages:
                continue
            title = terms(passages[0].title)
            shared = sum(1 for term in title if term in asked)
            if title and asked and (found := shared / len(title) * shared / len(asked)) > max(fit, WHOLE_NOTE_FIT):
                best, fit = passages[0], found
        return best

    def _lead(self, passage: Passage, about: str) -> str:
        every = sentences(passage.text)
        short = len(every) <= LEAD_SENTENCES
        quote = best_sentences(passage, about, len(every) if short else LEAD_SENTENCES, lead=True)
        return self._marked(quote.text, passage) if quote.sentences else ""

    def _notices(self) -> tuple[str, ...]:
        if self.evidence.unpriced is not None:
            return (error_text(self.evidence.unpriced, self.language),)
        hits, notices = self.evidence.hits, phrases()["notices"]
        if not hits or self.evidence.calculations:
            return ()
        kinds = {"other_language": hits[0].passage.language != self.language, "weak": hits[0].weak}
        return tuple(notices[kind][self.language] for kind, applies in kinds.items() if applies)

    def _value(self, tool: str, label: str, name: str) -> str:
        calculation = self.evidence.calculation(tool, label)
        if calculation is None or name not in calculation.values:
            return "–"
        return marked(with_range(calculation.values[name].to_json(), self.language), calculation.id, name)

    def _design(self, fabric: str) -> str:
        one = self._size_of(fabric)
        layout = self._phrase("layouts", str(one.values["layout"].value))
        name = one.values["switch"].value
        return f"{layout}（{name}）" if self.language == "zh" else f"{layout}, {name}"

    def _counts(self, fabric: str, *names: str) -> str:
        one = self._size_of(fabric)
        return " / ".join(marked(plain(one.values[name].value), one.id, name) for name in names)

    def _switches(self, fabric: str) -> str:
        one = self._size_of(fabric)
        return plain(sum(int(one.values[f"{tier}_switches"].value) for tier in ("leaf", "spine", "core")))

    def _size_of(self, fabric: str) -> Calculation:
        one = self.evidence.calculation("size", fabric)
        if one is None:
            raise LookupError(f"no sizing of {fabric} was made")
        return one

    def _bands(self) -> list[dict[str, Any]]:
        rows = []
        for band in self.evidence.bands:
            values = band.comparison.values
            rows.append(
                {
                    "gpus": band.gpus,
                    "option": self._phrase("options", band.decision.choice),
                    "ratio": marked(
                        with_range(values["capex_ratio_exact_counts"].to_json(), self.language),
                        band.comparison.id,
                        "capex_ratio_exact_counts",
                    ),
                    "id": band.comparison.id,
                }
                | {
                    f"{fabric}_capex": marked(
                        money(float(values[f"{fabric}_capex_usd"].value), self.language),
                        band.comparison.id,
                        f"{fabric}_capex_usd",
                    )
                    for fabric in FABRICS
                }
            )
        return rows

    def _computed(self) -> list[str]:
        """Lines for the results of the calculators that have no table of their own."""
        lines = []
        colon, pattern = ("：", "{}（{}）") if self.language == "zh" else (": ", "{} ({})")
        for one in self.evidence.calculations:
            inputs = {key: plain_input(value) for key, value in one.inputs.items()}
            for name, entry in phrases()["computed"].get(one.tool, {}).items():
                if name in one.values:
                    value = one.values[name].to_json()
                    shown = with_range(value | {"unit": entry.get("unit", value["unit"])}, self.language)
                    shown = marked(shown, one.id, name)
                    lines.append(pattern.format(entry[self.language].format_map(inputs) + colon + shown, one.id))
        return lines

    def _partly_filled(self) -> bool:
        """Whether a fabric is built in whole units for more GPUs than there are, which bends the ratio of prices."""
        sizes = [one for one in self.evidence.calculations if one.tool == "size"]
        return any(one.values["sized_for_gpus"].value != self.spec.gpus for one in sizes)

    def _differences(self) -> str:
        """The two parts of the bill that make most of the difference, InfiniBand less RoCE."""
        one = self.evidence.calculation("compare")
        if one is None:
            return ""
        parts = {
            name: float(value.value)
            for name, value in one.values.items()
            if name.startswith("difference_") and abs(float(value.value)) >= 1
        }
        largest = sorted(parts.items(), key=lambda part: -abs(part[1]))[:2]
        comma = "，" if self.language == "zh" else ", "
        return comma.join(
            f"{self._phrase('parts', name)} {'+' if usd > 0 else '−'}"
            + marked(money(abs(usd), self.language), one.id, name)
            for name, usd in largest
        )

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
        return str(phrases()[group][key][self.language])


def plain_input(value: Any) -> str:
    return plain(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
