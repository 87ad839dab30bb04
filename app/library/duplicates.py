"""Whether two passages say the same: nearly the same words, and exactly the same figures."""

from __future__ import annotations

_ALIKE = 0.9  # share of the words of both that are common to both
_FEWEST = 8  # different words, for a likeness to mean anything


def say_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Of two passages' index words. A revised figure makes another statement, however alike the words are."""
    if one == other:
        return True
    fewer, more = sorted((len(one), len(other)))
    if fewer < _FEWEST or fewer < _ALIKE * more:  # the second says at once what the sets would say below
        return False
    common = len(one & other)
    if common < _ALIKE * (fewer + more - common):
        return False
    return not any(any(character.isdigit() for character in word) for word in one ^ other)
