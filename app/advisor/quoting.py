"""What a built-in answer quotes: the lead paragraph, supporting sentences, tables and lists of the passages found."""

from __future__ import annotations

from typing import Any

from app.advisor.citations import Ledger
from app.advisor.evidence import Evidence
from app.advisor.excerpt import best_quote, best_sentences, items_marked, lists, rank, sentences, tables, terms
from app.advisor.question_kind import CALCULATED
from app.fabric.calculation import Language
from app.fabric.decision import Applied
from app.library.passage import Passage

LEAD_SENTENCES = 4
SUPPORTING_PASSAGES = 3
WHOLE_NOTE_FIT = 0.3  # share of title in question times share of question in title
RELATIVE_SCORE = 0.6  # supporting passages must reach this share of the best hit's score


class Quoting:
    """Quotes passages of one answer's evidence; the ledger collects what is cited."""

    def __init__(self, evidence: Evidence, ledger: Ledger):
        self.evidence = evidence
        self.ledger = ledger
        self.language: Language = evidence.question.language

    def cite(self, topic: str, about: str) -> str:
        """The marker of the passage of a note that speaks most of `about`; nothing where the note is missing."""
        quote = best_quote(self.evidence.note_passages.get(topic, ()), about)
        return self._marked("", quote.passage) if quote else ""

    def supporting(self, reason: Applied) -> str:
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

    def context(self) -> dict[str, Any]:
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
