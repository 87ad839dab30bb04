"""An AdvisorError in the reader's language: its own words in English, a sentence of errors.zh.yaml in Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from app.errors import AdvisorError
from app.fabric.calculation import Language

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def error_text(error: AdvisorError, language: Language) -> str:
    """What is wrong and how to mend it; English where no Chinese sentence fits the error's code and values."""
    if language == "zh" and error.code in chinese_sentences():
        try:
            return chinese_sentences()[error.code].format_map(error.values)
        except (KeyError, ValueError):  # a value that the sentence names was not given, or is of another kind
            return str(error)
    return str(error)


@lru_cache(maxsize=1)
def chinese_sentences() -> Mapping[str, str]:
    """Code -> sentence with the error's values in {braces}."""
    text = Path(__file__).with_name("errors.zh.yaml").read_text(encoding="utf-8")
    return {str(code): str(sentence) for code, sentence in yaml.load(text, Loader=_Loader).items()}
