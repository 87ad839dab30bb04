"""One design in a line of text: NAME=fabric[:switch][:key=value...], as the command line takes it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, get_args

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual
from app.fabric.checks import bad_value
from app.fabric.cost import Design
from app.fabric.estimate import Estimate
from app.fabric.topology import Fabric

_FORM = "NAME=infiniband|roce[:SWITCH][:KEY=VALUE...]"
_FIXED = ("gpus", "fabric", "switch")
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
LOST = "lost_percent"


def parse_design(text: str, base: Design) -> tuple[str, Design, Estimate | None]:
    """The name of a design, `base` changed as the text says, and the GPU hours it loses, per cent (`lost-percent`).

    Keys are the fields of Design, with - or _; all designs are of as many GPUs. Raises AdvisorError for a text
    of another form, an unknown key, or a value of the wrong kind.
    """
    name, _, rest = text.partition("=")
    fabric, *parts = (part.strip() for part in rest.split(":"))
    name = name.strip()
    if not name or fabric not in get_args(Fabric):
        raise bad_value("design", text[:80], Bilingual(f"Write {_FORM}.", f"请写成 {_FORM}。"))
    changes: dict[str, Any] = {"fabric": fabric, "switch": None}
    lost = None
    kinds = {field.name: str(field.type) for field in fields(Design) if field.name not in _FIXED}
    for part in parts:
        key, given, value = part.partition("=")
        key = key.strip().replace("-", "_")
        if not given:
            changes["switch"] = part
        elif key == LOST:
            lost = parse_range(LOST, value)
        elif key in kinds:
            changes[key] = _typed(key, value.strip(), kinds[key])
        else:
            known = ", ".join((*kinds, LOST))
            raise bad_value("design", part[:80], Bilingual(f"Keys: {known}.", f"可用的键：{known}。"))
    return name, replace(base, **changes), lost


def parse_factor(text: str) -> tuple[str, float]:
    """`RULE=FACTOR`. Raises AdvisorError for anything else."""
    rule, _, factor = text.partition("=")
    try:
        return rule.strip(), float(factor)
    except ValueError:
        form = Bilingual("Write RULE=FACTOR, for example no-team=0.5.", "请写成 规则=系数，例如 no-team=0.5。")
        raise bad_value("weight", text[:80], form) from None


def parse_range(name: str, text: str) -> Estimate:
    """`5`, or `2/5/10` for low, typical and high. Raises AdvisorError for anything else."""
    try:
        points = [float(point) for point in text.split("/")]
        if len(points) == 1:
            return Estimate.exact(points[0])
        low, typical, high = points
        return Estimate(low, typical, high)
    except ValueError:
        raise bad_value(
            name,
            text[:40],
            Bilingual("Write a number, or low/typical/high in rising order.", "请写一个数，或按升序写 低/典型/高。"),
        ) from None


def _typed(key: str, text: str, kind: str) -> bool | int | float | str:
    try:
        if kind == "bool":
            return _WORDS[text.lower()]
        if kind.startswith("int"):
            return int(text)
        return float(text) if kind.startswith("float") else text
    except (KeyError, ValueError):
        wanted = {"b": ("yes or no", "yes 或 no"), "i": ("a whole number", "整数"), "f": ("a number", "数字")}[kind[0]]
        raise _wrong(key, text, *wanted) from None


def _wrong(key: str, text: str, en: str, zh: str) -> AdvisorError:
    return bad_value(key, text[:40], Bilingual(f"Give {en}.", f"请给出{zh}。"))
