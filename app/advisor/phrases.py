"""The words of the built-in writer, in both languages, from phrases.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from app.fabric.calculation import Language


@cache
def phrases() -> Mapping[str, Any]:
    path = Path(__file__).parent / "phrases.yaml"
    data: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


def phrase(group: str, key: str, language: Language) -> str:
    return str(phrases()[group][key][language])
