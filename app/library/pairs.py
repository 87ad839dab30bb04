"""Which passages of a note's two versions say the same: those at the same heading."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class NotePlace(NamedTuple):
    """Where a passage of a note stands in it."""

    id: str
    topic: str
    language: str
    section_number: int
    part: int


def pairs_of(places: Iterable[NotePlace]) -> Mapping[str, tuple[str, ...]]:
    """For each passage of a note those at the same heading in other languages, the one at the same place first."""
    sections: dict[tuple[str, int], list[NotePlace]] = defaultdict(list)
    for place in places:
        sections[place.topic, place.section_number].append(place)
    found = {}
    for section in sections.values():
        for mine in section:
            others = [one for one in section if one.language != mine.language]
            found[mine.id] = tuple(one.id for one in sorted(others, key=lambda one: abs(one.part - mine.part)))
    return found
