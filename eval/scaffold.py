"""A new case from a question that went wrong: filled in where no judgement is needed, the rest to write.

What the program answered is put in comments only: an expectation comes from a publication or from arithmetic.
"""

from __future__ import annotations

import json
import re

from app.advisor.answer import Answer


def scaffold(case_id: str, answers: list[Answer], comment: str = "") -> str:
    """YAML of one case, to append to a file of eval/questions. `answers`: the turns up to the bad one."""
    last = answers[-1]
    turns = [answer.question for answer in answers]
    called = ", ".join(f"{one['tool']} {one['label']}".strip() for one in last.calculations)
    got = [
        f"answered: kind {last.kind}, verdict {last.verdict.choice if last.verdict else 'none'}",
        f"calculated: {called or 'nothing'}",
        f"cited: {', '.join(sorted({c.document for c in last.citations})) or 'nothing'}",
        *([f"said of it: {comment}"] if comment else []),
    ]
    lines = [
        f"- id: {case_id}",
        f"  language: {last.language}",
        f"  question: {_quoted(turns[0])}" if len(turns) == 1 else "  turns:",
        *([f"    - {_quoted(turn)}" for turn in turns] if len(turns) > 1 else []),
        *[f"  # {_one_line(line)}" for line in got],
        "  tags: []",
        "  kind:",
        "  gold: []",
        "  must: []",
        "  source:",
    ]
    return "\n".join(lines) + "\n"


def id_from(question: str, language: str) -> str:
    """A readable id from the first words of a question."""
    words = re.findall(r"[A-Za-z0-9]+", question.lower())[:5]
    return "-".join([*words, language]) if words else f"case-{language}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a JSON text is a YAML text


def _one_line(text: str) -> str:
    return " ".join(text.split())
