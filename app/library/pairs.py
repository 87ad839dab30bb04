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


class Paired(NamedTuple):
    """The language of a note, and the passages at the same heading in other languages, the nearest place first."""

    language: str
    others: tuple[str, ...]


def pairs_of(places: Iterable[NotePlace]) -> Mapping[str, Paired]:
    """For each passage of a note what says the same in other languages."""
    sections: dict[tuple[str, int], list[NotePlace]] = defaultdict(list)
    for place in places:
        sections[place.topic, place.section_number].append(place)
    found = {}
    for section in sections.values():
        for mine in section:
            others = [one for one in section if one.language != mine.language]
            nearest = sorted(others, key=lambda one: abs(one.part - mine.part))
            found[mine.id] = Paired(mine.language, tuple(one.id for one in nearest))
    return found
