"""YAML that remembers the line of every key, and fields whose errors name file, line and field."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml

from app.errors import AdvisorError

T = TypeVar("T")


class Located(dict[str, Any]):
    """A mapping of YAML with the line of each key in `lines`, and its own first line in `line`."""

    line: int
    lines: dict[str, int]


class _Loader(yaml.SafeLoader):
    pass


def _mapping(loader: _Loader, node: yaml.MappingNode) -> Located:
    located = Located()
    located.line = node.start_mark.line + 1
    located.lines = {}
    for key_node, value_node in node.value:
        key = str(loader.construct_object(key_node, deep=True))
        if key in located:
            raise yaml.constructor.ConstructorError(None, None, f"the key '{key}' occurs twice", key_node.start_mark)
        located[key] = loader.construct_object(value_node, deep=True)
        located.lines[key] = key_node.start_mark.line + 1
    return located


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: Path) -> Any:
    """The content of a YAML file, its mappings as Located; raises AdvisorError with the line of a fault."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise AdvisorError(f"Cannot read {path.name}: {error}.", "Give a readable UTF-8 file.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path.name}, line {mark.line + 1}" if mark else path.name
        problem = getattr(error, "problem", None) or "not YAML"
        raise AdvisorError(f"{where}: {problem}.", "Correct the YAML.") from None


class Fields:
    """Typed reading of one mapping; every `AdvisorError` names the file, the line and the field."""

    def __init__(self, data: Any, file: str, *, line: int = 1, known: Iterable[str], what: str = "case"):
        if not isinstance(data, Located):
            raise AdvisorError(f"{file}, line {line}: a {what} must be a mapping.", "See eval/README.md.")
        self.data, self.file, self.what = data, file, what
        known = set(known)
        for name in data:
            if name not in known:
                self.fail(name, f"unknown field; known are {', '.join(sorted(known))}")

    def fail(self, name: str, problem: str) -> NoReturn:
        line = self.data.lines.get(name, self.data.line)
        raise AdvisorError(f"{self.file}, line {line}, field '{name}': {problem}.", "Correct the case and run again.")

    def text(self, name: str, default: str | None = None) -> str:
        value = self.data.get(name, default)
        if value is None:
            self.fail(name, "is missing")
        if not isinstance(value, str) or (not value.strip() and default is None):
            self.fail(name, "must be a text that is not empty")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; one text counts as a list of one; () where the field is missing."""
        value = self.data.get(name, [])
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) and item.strip() for item in items):
            self.fail(name, "must be a text or a list of texts")
        return tuple(items)

    def number(self, name: str, default: float | None = None) -> float:
        value = self.data.get(name, default)
        if value is None:
            self.fail(name, "is missing")
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(name, "must be a number")
        return float(value)

    def flag(self, name: str) -> bool:
        value = self.data.get(name, False)
        if not isinstance(value, bool):
            self.fail(name, "must be true or false")
        return value

    def mapping(self, name: str) -> Located:
        value = self.data.get(name)
        if value is None:
            empty = Located()
            empty.line, empty.lines = self.data.line, {}
            return empty
        if not isinstance(value, Located):
            self.fail(name, "must be a mapping")
        return value

    def each(self, name: str, check: Callable[[str], bool], problem: str) -> tuple[str, ...]:
        """`texts` of which each must pass `check`."""
        items = self.texts(name)
        for item in items:
            if not check(item):
                self.fail(name, f"'{item}' {problem}")
        return items
