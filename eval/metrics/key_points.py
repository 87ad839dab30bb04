"""Phrases that an answer must, or must not, contain."""

from __future__ import annotations

import re
from collections.abc import Sequence


def missing_points(must: Sequence[Sequence[str]], text: str) -> list[tuple[str, ...]]:
    """The groups of which no phrase occurs."""
    prose = plain(text)
    return [tuple(group) for group in must if not any(occurs(phrase, prose) for phrase in group)]


def forbidden_points(must_not: Sequence[str], text: str) -> list[str]:
    prose = plain(text)
    return [phrase for phrase in must_not if occurs(phrase, prose)]


def plain(text: str) -> str:
    """Letters in lower case, emphasis and repeated spaces removed."""
    return re.sub(r"\s+", " ", re.sub(r"[*_`]", "", text)).casefold()


def occurs(phrase: str, prose: str) -> bool:
    """Does the phrase stand in the prose, not inside a longer word or number ("32" is not in "320")?"""
    wanted = plain(phrase)
    before = r"(?<![a-z0-9])(?<!\d[.,])" if wanted[0].isascii() and wanted[0].isalnum() else ""
    after = r"(?!\d)(?![.,]\d)" if wanted[-1].isdigit() else ""
    return re.search(before + re.escape(wanted) + after, prose) is not None
