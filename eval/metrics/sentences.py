"""The text of an answer cut into the claims that need a source: sentences, list items, table rows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from eval.quantities import find_quantities

MARKER = re.compile(r"\[(\d+(?:\s*[,，、]\s*\d+)*)\]|【(\d+)】|［(\d+)］")
CALCULATION = re.compile(r"(?<![A-Za-z0-9])T\d+(?![A-Za-z0-9])")
_CODE = re.compile(r"```.*?```", re.S)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_END = re.compile(
    r"(?<=[。！？；])(?!\s*(?:\[\d|【\d|［\d))|(?<=[.!?])(?=\s+(?!\[\d))|(?<=\])(?=\s+[A-Z\u4e00-\u9fff])"
)
_NUMBER = re.compile(r"^\s*\d+[.)、]\s")  # of a list item
_LABEL = re.compile(r"^\s*(?:[-*]\s+)?\*\*[^*]*(?:[:：]\s*\*\*|\*\*[:：])\s*")  # "- **How rails work:** …": a heading
_COMPARATIVE = re.compile(
    r"\b(?:\w+er|more|less|worse) (?:\w+ ){0,3}than\b|\b(?:cheapest|fastest|slowest)\b"
    r"|(?:高|低|快|慢|贵|大|小|多|少|优|差)于|比[^，。；\s]{1,12}(?:更|高|低|快|慢|贵|便宜|多|少)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence, list item or table row, with the markers in it and in its paragraph."""

    text: str
    markers: tuple[int, ...]
    nearby: tuple[int, ...]  # markers in its paragraph, list or table, and in the line that introduces it
    calculations: tuple[str, ...]

    @property
    def bare(self) -> str:
        """The claim without markers, ids of calculations and signs of Markdown at its start."""
        text = CALCULATION.sub(" ", MARKER.sub(" ", self.text))
        return re.sub(r"^[\s>#|*-]*", "", text)

    @property
    def needs_source(self) -> bool:
        return bool(find_quantities(self.bare) or _COMPARATIVE.search(self.bare))


def markers_in(text: str) -> tuple[int, ...]:
    """Every citation marker, in order: [1], [1, 2], 【1】 and ［1］; those in code do not count."""
    found: list[int] = []
    for match in MARKER.finditer(_INLINE_CODE.sub(" ", _CODE.sub(" ", text))):
        found += [int(number) for number in re.findall(r"\d+", match[0])]
    return tuple(found)


def squeezed(text: str) -> str:
    """A text without spaces, signs of Markdown and markers, to find a quotation in its passage."""
    return re.sub(r"[\s*_`>|]+|\[\^?[a-z0-9-]+\]", "", text).casefold()


def claims(text: str) -> list[Claim]:
    """The claims of a Markdown text; headings, table rules and fenced code are none."""
    blocks = re.split(r"\n\s*\n", _CODE.sub("\n\n", text))
    found: list[Claim] = []
    for before, block, after in zip(["", *blocks], blocks, [*blocks[1:], ""], strict=False):
        is_table = block.lstrip().startswith("|")
        nearby = markers_in(block)
        if is_table or block.lstrip().startswith(("-", "*")):  # introduced above, or marked on a line below
            nearby += markers_in(before.strip().rpartition("\n")[2])
            nearby += markers_in(after) if not MARKER.sub("", after).strip() else ()
        for line in block.splitlines():
            if not line.strip() or line.lstrip().startswith("#") or re.fullmatch(r"[\s|:\-]*", line):
                continue
            pieces = [line] if is_table else _sentences(_LABEL.sub("", _NUMBER.sub("", line)))
            found += [
                Claim(piece.strip(), markers_in(piece), nearby, tuple(CALCULATION.findall(piece)))
                for piece in pieces
                if piece.strip()
            ]
    return found


def _sentences(line: str) -> list[str]:
    """Sentences of a line; what follows one without words of its own ("*(published)* [4]") stays with it."""
    pieces: list[str] = []
    for piece in _END.split(line):
        own = MARKER.sub("", re.sub(r"\*[^*]+\*", "", piece))
        if pieces and not any(character.isalnum() for character in own):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces
