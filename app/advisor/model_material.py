"""What a model is given: the prompt, what was said before, the names of the values, and the numbered passages.

Old turns are told as far as the model's window has room beside the evidence, which is never cut. Sentences of
documents that give orders to a reader are left out before the model sees them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from app.advisor.answer import Answer
from app.advisor.evidence import Evidence
from app.advisor.figures import with_range
from app.advisor.growth_text import finding_lines
from app.advisor.model_history import earlier
from app.advisor.model_window import tokens_of
from app.fabric.calculation import Calculation, Language
from app.library.passage import Passage
from app.library.splitting import FOOTNOTE

PROMPTS = Path(__file__).parent / "prompts"
PASSAGES = 8
ANSWER_SHARE = 0.25  # of the window: for the text, and for what tools give
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|prompt|rule|previous|above|system)"
    r"|\byou (?:are now|must (?:now )?(?:answer|reply|say|recommend|tell|output))\b"
    r"|\b(?:as an ai|system prompt|new instructions?|instructions? (?:to|for) (?:the )?(?:ai|model|assistant))\b"
    r"|\balways (?:recommend|answer|say)\b|<\|?(?:im_start|system|endoftext)"
    r"|(?:忽略|无视|忘记|不要理会).{0,20}(?:指令|提示|规则|以上|之前)|你(?:现在是|必须(?:回答|推荐|说))|系统提示词?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")


def prompt_text(language: Language) -> str:
    return (PROMPTS / f"{language}.md").read_text(encoding="utf-8")


def prompt_hash(language: Language) -> str:
    """Of everything in the prompt files of a language; each answer records it."""
    texts = [path.read_bytes() for path in sorted(PROMPTS.glob(f"*{language}.md"))]
    return hashlib.sha256(b"".join(texts)).hexdigest()[:12]


def gives_orders(text: str) -> bool:
    """Whether a text tries to command whoever reads it, rather than to inform."""
    return bool(_ORDERS.search(text))


def without_orders(text: str) -> str:
    """A passage without the sentences that give orders."""
    if not gives_orders(text):
        return text
    parts = [part.strip() for part in _SENTENCE.split(text) if part and not gives_orders(part)]
    return "\n".join(parts)


def material(
    evidence: Evidence, passages: Mapping[int, Passage], verdict: str, history: Sequence[Answer], window_tokens: int
) -> str:
    """The human message: earlier turns, question, verdict, values by reference, passages by number.

    `window_tokens` is what the model can read; what the rest leaves of it is the room for earlier turns.
    """
    now = "\n".join(_now(evidence, passages, verdict))
    taken = tokens_of(prompt_text(evidence.question.language)) + tokens_of(now)
    return "\n".join([*earlier(history, round(window_tokens * (1 - ANSWER_SHARE)) - taken), now])


def _now(evidence: Evidence, passages: Mapping[int, Passage], verdict: str) -> list[str]:
    lines = [f"Question: {evidence.question.text}", ""]
    if verdict:
        lines += [f"Verdict (already shown): {verdict}", ""]
    if evidence.calculations:
        lines.append("Calculations (write the reference, not the value):")
        lines += value_lines(evidence.calculations)
        lines.append("")
    lines.append("Passages:")
    return lines + [passage_text(number, passage) for number, passage in passages.items()]


def value_lines(calculations: Sequence[Calculation]) -> Iterator[str]:
    """`{T3.capex_usd} = $412k | cost infiniband` for each value that a sentence may want."""
    for one in calculations:
        for name, value in one.values.items():
            told_elsewhere = one.tool == "compare" and name.startswith(("infiniband_", "roce_"))
            if value.unit == "points" or one.tool == "decision" or told_elsewhere or value.value in (0, 0.0):
                continue
            yield f"{{{one.id}.{name}}} = {with_range(value.to_json(), 'en')} | {one.tool} {one.label}".rstrip()
        yield from finding_lines(one)


def passage_text(number: int, passage: Passage) -> str:
    return f"[{number}] {passage.title} › {passage.section}\n{FOOTNOTE.sub('', without_orders(passage.text))}"
