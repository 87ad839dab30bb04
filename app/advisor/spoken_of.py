"""Which fabric a sentence goes on to speak of without naming it: "It costs …", the latter, 后者, a row of a table.

`SpokenOf` is fed the sentences of a text in order and gives each back with the names put in, for the checks only.
"""

from __future__ import annotations

import re

from app.advisor.both_fabrics import named_in

_NAME = {"infiniband": "InfiniBand", "roce": "RoCE"}
_OTHER = {"infiniband": "roce", "roce": "infiniband"}
_FORMER = re.compile(r"\b(?:the former|the first(?: one)?)\b|前者", re.IGNORECASE)
_LATTER = re.compile(r"\b(?:the latter|the second(?: one)?)\b|后者", re.IGNORECASE)
_PRONOUN = re.compile(
    r"^(\W*)(?:(?:it|its|this|that|the) (?=network|fabric|option|price|cost)"
    r"|it(?!(?:'s| is) \w+ (?:that|to)\b)\b|its\b|they\b|它的?|其(?!他|中|实|余)|该(?:网络|方案|架构)|此方案)",
    re.IGNORECASE,
)
_LATER_PRONOUN = re.compile(
    r"([,，]\s*)(?:it|它)((?:'s)?(?: (?:is|costs?|has|takes|draws)\b|[\u4e00-\u9fff]))", re.IGNORECASE
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s")
_LEADS = re.compile(r"^\s*#{1,6}\s|[:：]\**\s*$")


class SpokenOf:
    def __init__(self) -> None:
        self._named: list[str] = []  # in the sentence before
        self._lead = ""  # the fabric that a heading, or a line with a colon at its end, announces
        self._after_lead = False
        self._in_list = False
        self._columns: list[str] = []

    def __call__(self, sentence: str) -> str:
        line = sentence.strip()
        if line.startswith("|"):
            return self._row(line)
        self._columns = []
        text = self._with_former_and_latter(sentence)
        named = named_in(text)
        bullet = bool(_BULLET.match(sentence.lstrip("\n")))
        new_line = "\n" in sentence[: len(sentence) - len(sentence.lstrip())]
        if self._in_list and new_line and not bullet:
            self._after_lead = False  # the list under the heading has ended
        self._in_list = bullet or (self._in_list and not new_line)
        if not named or (len(self._named) == 1 and named == [_OTHER[self._named[0]]]):
            text = self._continued(text, bullet=bullet, alone=not named)
        if _LEADS.search(line):
            self._lead = named[0] if len(named) == 1 else ""
            self._after_lead = True
        else:
            self._after_lead = self._after_lead and self._in_list
        self._named = named_in(text)
        return text

    def _with_former_and_latter(self, text: str) -> str:
        first = _FORMER.search(text) or _LATTER.search(text)
        if first is None:
            return text
        here = named_in(text[: first.start()])
        two = here if len(here) == 2 else self._named
        if len(here) == len(self._named) == 1 and here != self._named:
            two = [*self._named, *here]
        if len(two) != 2:
            return text
        return _LATTER.sub(f" {_NAME[two[1]]} ", _FORMER.sub(f" {_NAME[two[0]]} ", text))

    def _continued(self, text: str, *, bullet: bool, alone: bool) -> str:
        """`alone`: no fabric is named; else it is the other one ("It costs …, against … for InfiniBand")."""
        if alone and self._lead and self._after_lead:
            return f"{_NAME[self._lead]} {text.strip()}"
        if not alone:
            text = _LATER_PRONOUN.sub(rf"\1{_NAME[self._named[0]]}\2", text)
        if len(self._named) == 1 and (_PRONOUN.match(text) or bullet):
            return _PRONOUN.sub(rf"\1{_NAME[self._named[0]]} ", text) if _PRONOUN.match(text) else text
        return text

    def _row(self, line: str) -> str:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not self._columns:
            self._columns = [named[0] if len(named := named_in(cell)) == 1 else "" for cell in cells]
            return line
        if not any(self._columns) or named_in(line):
            return line
        row = [f"{_NAME.get(column, '')} {cell}" for column, cell in zip(self._columns, cells, strict=False) if column]
        return "; ".join(row)
