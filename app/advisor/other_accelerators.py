"""Accelerators that no calculator has figures of (knowledge/catalog/other_accelerators.yaml): their names in a
question, and whether their network is a choice at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

import yaml

from app.fabric.calculation import Bilingual
from app.settings import knowledge_folder

Network = Literal["ethernet", "maker", "nics"]


@dataclass(frozen=True, slots=True)
class OtherAccelerator:
    id: str
    name: Bilingual
    names: str  # regular expression over lower-case text
    network: Network
    note: str = ""  # topic


@cache
def other_accelerators() -> tuple[OtherAccelerator, ...]:
    """KeyError where a row lacks what the head of the file promises."""
    text = (knowledge_folder() / "catalog" / "other_accelerators.yaml").read_text(encoding="utf-8")
    return tuple(
        OtherAccelerator(
            row["id"], Bilingual(row["name"], row["name_zh"]), row["names"], row["network"], row.get("note", "")
        )
        for row in yaml.safe_load(text)["rows"]
    )


@cache
def names_pattern() -> str:
    """All names, without groups around them."""
    return "|".join(f"(?:{one.names})" for one in other_accelerators())


def named_in(low: str) -> OtherAccelerator | None:
    """The first of them that a lower-case text names."""
    for one in other_accelerators():
        if re.search(rf"(?<![a-z0-9])(?:{one.names})s?(?![a-z0-9])", low, re.ASCII):
            return one
    return None


def accelerator(id: str | None) -> OtherAccelerator | None:
    return next((one for one in other_accelerators() if one.id == id), None)
