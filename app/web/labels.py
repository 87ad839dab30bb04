"""The words of the page in the reader's language, from labels.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from app.fabric.calculation import Language

Choice = Literal["auto", "en", "zh"]


@dataclass(frozen=True, slots=True)
class Labels:
    """`labels["sources"]` is a word of the interface; `name(group, key)` one of another group of the file."""

    language: Language
    words: Mapping[str, Any]

    def __getitem__(self, key: str) -> str:
        return str(self.words["interface"][key][self.language])

    def fill(self, key: str, **values: object) -> str:
        return self[key].format(**values)

    def count(self, key: str, number: int) -> str:
        """A label of so many; `key_one` of one."""
        return self[f"{key}_one"] if number == 1 else self.fill(key, count=f"{number:,}")

    def name(self, group: str, key: str) -> str:
        """The name of a thing; where the file has none, its own key in words (`capex_usd` -> `capex usd`)."""
        found = self.words[group].get(key)
        return str(found[self.language]) if found else key.replace("_", " ")

    @property
    def examples(self) -> Sequence[str]:
        return tuple(self.words["examples"])

    def choices(self, field: str) -> Sequence[Any]:
        return tuple(self.words["choices"].get(field, ()))


@cache
def labels(language: Language) -> Labels:
    words = yaml.safe_load((Path(__file__).parent / "labels.yaml").read_text(encoding="utf-8"))
    return Labels(language, words)


def resolve_language(choice: Choice, locale: str | None) -> Language:
    """The language to show: as chosen, or on `auto` as the browser asks (`zh-CN` -> zh, all others -> en)."""
    if choice != "auto":
        return choice
    return "zh" if (locale or "").lower().startswith("zh") else "en"
