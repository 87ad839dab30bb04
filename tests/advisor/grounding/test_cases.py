"""Every case of the YAML files beside this one: what a model writes, and what of it may be shown."""

import pytest

from .evidence import Case, cases, filled, outcome_of

CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=[f"{one.language}-{one.outcome}-{one.says[:70]}" for one in CASES])
def test_what_a_model_says(case: Case) -> None:
    outcome = outcome_of(case)
    if case.outcome == "shown":
        assert outcome.shown == case.shows
    elif case.outcome == "kept":
        assert (outcome.name, " ".join(outcome.shown.split())) == ("kept", " ".join(_expected(case).split()))
    elif case.outcome == "wrong":
        assert outcome.name in {"removed", "contradiction"}
    else:
        assert outcome.name == case.outcome


def _expected(case: Case) -> str:
    """Markers are numbered as they come: a case of one passage shows [1]."""
    import re

    numbers: dict[str, int] = {}
    return re.sub(
        r"\[(\d+)\]", lambda m: f"[{numbers.setdefault(m[1], len(numbers) + 1)}]", filled(case.says, case.language)
    )


def test_there_are_cases_of_every_kind_in_both_languages() -> None:
    kinds = {(one.language, one.outcome) for one in CASES}
    assert len(kinds) == 10
    assert len({(one.says, one.question) for one in CASES}) == len(CASES) >= 120
