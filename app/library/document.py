"""Documents of the library, and the reports and progress of an ingest: plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from app.fabric.calculation import Language

Kind = Literal["note", "document"]


@dataclass(frozen=True, slots=True)
class Document:
    """A document in the library, or (status `failed`) one that could not be read: `error` says why.

    A ready document with an `error` is an older version: its newer one could not be read.
    """

    id: str
    name: str
    title: str
    path: str
    url: str
    language: str
    kind: Kind
    passages: int
    characters: int
    sha256: str
    status: Literal["ready", "failed"]
    error: str
    added_at: str  # ISO 8601, UTC
    topic: str

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Failure:
    name: str
    path: str
    reason: str

    def to_json(self) -> dict[str, str]:
        return {"name": self.name, "path": self.path, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Progress:
    """A file has been read (`status` says how it went), or passages of those read have been embedded ("embedding").

    `done` counts files read, `pending` those of them, in part, that are not embedded yet; `passages` counts those
    embedded so far in this run; `part` is how many of how many passages of the present batch are.
    """

    done: int
    total: int
    name: str
    status: Literal["added", "updated", "unchanged", "failed", "removed", "embedding"]
    passages: int
    elapsed_s: float
    pending: float = 0.0
    part: tuple[int, int] | None = None

    @property
    def share(self) -> float:
        """Of the work, 0 to 1."""
        return (self.done - self.pending) / self.total if self.total else 1.0

    @property
    def passages_per_s(self) -> float:
        return self.passages / self.elapsed_s if self.elapsed_s else 0.0

    def line(self) -> str:
        """One line for a terminal: how far, how fast, how long still."""
        rate = f", {self.passages_per_s:.0f} passages/s" if self.passages else ""
        left = f", {self.time_left} left" if self.time_left else ""
        state = f"{self.part[0]:,} of {self.part[1]:,} passages" if self.part else self.status
        what = f"  {self.name}: {state}" if self.name else ""
        return f"{self.done}/{self.total}{rate}{left}{what}"

    @property
    def time_left(self) -> str:
        """As minutes and seconds; empty at first and at the end."""
        return _duration(self.remaining_s) if 0 < self.share < 1 and self.elapsed_s > 1 else ""

    @property
    def remaining_s(self) -> float:
        """Time left, from the work done so far."""
        return self.elapsed_s / self.share * (1 - self.share) if self.share > 0 else 0.0


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Names of documents by what happened to them."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    dry_run: bool = False

    @property
    def changed(self) -> bool:
        return bool(self.added or self.updated or self.removed)

    def to_json(self) -> dict[str, Any]:
        return {
            "added": list(self.added),
            "updated": list(self.updated),
            "unchanged": list(self.unchanged),
            "removed": list(self.removed),
            "failed": [failure.to_json() for failure in self.failed],
            "dry_run": self.dry_run,
        }

    def summary(self, language: Language = "en") -> str:
        """One line; failures are named by `failed`, not here."""
        counts = (
            len(self.added),
            len(self.updated),
            len(self.unchanged),
            len(self.removed),
            len(self.failed),
        )
        words = _ZH if language == "zh" else _EN
        if not any(counts):
            return words[5]
        text = (", " if language == "en" else "，").join(
            word.format(count) for word, count in zip(words, counts, strict=False) if count
        )
        return (words[6] if self.dry_run else "") + text + words[7]


_EN = (
    "{} added", "{} updated", "{} unchanged", "{} removed", "{} failed",
    "No documents found.", "Dry run: ", ".",
)  # fmt: skip
_ZH = (
    "新增 {} 篇", "更新 {} 篇", "未变 {} 篇", "移除 {} 篇", "失败 {} 篇",
    "没有找到文档。", "试运行：", "。",
)  # fmt: skip
