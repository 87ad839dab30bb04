"""Were the right calculators called, the forbidden ones not, and did they compute what the case expects?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.cases import ExpectedValue
from eval.quantities import close, in_si

Calculations = Sequence[Mapping[str, Any]]


def missing_tools(required: Sequence[str], calculations: Calculations) -> list[str]:
    called = {calculation["tool"] for calculation in calculations}
    return [tool for tool in required if tool not in called]


def forbidden_tools(forbidden: Sequence[str], calculations: Calculations) -> list[str]:
    called = {calculation["tool"] for calculation in calculations}
    return [tool for tool in forbidden if tool in called]


def look_up(path: str, calculations: Calculations) -> tuple[float | str, str]:
    """Value and unit at `tool.value` or `tool.label.value`, with .low or .high for an end of a range.

    Raises KeyError, with the reason, where there is no such value or where two calculations differ on it.
    """
    tool, *rest = path.split(".")
    end = rest.pop() if rest[-1] in ("low", "high") else "value"
    name = rest.pop()
    found = {
        (value[end], value["unit"])
        for calculation in calculations
        if calculation["tool"] == tool and (not rest or calculation["label"] == rest[0])
        for value in [calculation["values"].get(name)]
        if value is not None
    }
    if not found:
        raise KeyError(f"no calculation has {path}")
    if len(found) > 1:
        raise KeyError(f"several calculations have {path}: {sorted(map(str, found))}; name the label")
    return found.pop()


def number_at(path: str, calculations: Calculations) -> float:
    """The value at `path` as a number in its own unit; raises KeyError."""
    value, _ = look_up(path, calculations)
    if isinstance(value, str):
        raise KeyError(f"{path} is not a number: {value}")
    return float(value)


def value_is_right(expected: ExpectedValue, calculations: Calculations) -> tuple[bool, str]:
    """Does a calculation have the expected value, in a unit of the same kind? And what it has."""
    try:
        value, unit = look_up(expected.path, calculations)
    except KeyError as error:
        return False, str(error.args[0])
    got = f"{value} {unit}".strip()
    if isinstance(value, str) or isinstance(expected.value, str):
        return value == expected.value, got
    si, dimension = in_si(float(value), unit)
    if expected.unit and in_si(1.0, expected.unit)[1] != dimension:
        return False, got
    if expected.between is not None:
        low, high = (in_si(end, expected.unit or unit)[0] for end in expected.between)
        return low <= si <= high, got
    assert expected.value is not None
    return close(si, in_si(expected.value, expected.unit or unit)[0], expected.rel_tol), got
