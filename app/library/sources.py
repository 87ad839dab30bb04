"""Which files an ingest is about: from paths and folders to identities, and what has vanished since."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.library.document import Failure, Kind
from app.library.reading import READER_VERSION, file_state, is_supported
from app.library.records import Known
from app.library.splitting import SPLITTER_VERSION

READING_VERSION = f"{SPLITTER_VERSION}.{READER_VERSION}"  # of how text is made from a file; part of revisions


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to ingest. `id` is its identity: the resolved path, or the name of a shipped note."""

    id: str
    path: Path
    kind: Kind
    problem: str = ""  # known before reading, e.g. "there is no such file"


def is_changed(file: SourceFile, known: Known) -> bool:
    """Whether the file may differ from what is stored, without reading it."""
    try:
        state = file_state(file.path)
    except OSError:
        return True
    return state != (known.size, known.mtime_ns) or not known.revision.startswith(f"{READING_VERSION}-")


def document_id(path: Path) -> str:
    """Identity of a file by its resolved path."""
    return "d" + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]


def note_id(name: str) -> str:
    """Identity of a shipped note: its name, wherever the knowledge folder lies."""
    return "n" + hashlib.sha256(name.encode()).hexdigest()[:16]


def note_files(folder: Path) -> list[SourceFile]:
    return [
        SourceFile(note_id(path.name), path, "note")
        for path in sorted(folder.glob("*.md"))
        if path.is_file() and not path.name.startswith(".")
    ]


def files_of(paths: Iterable[str | Path], notes: Path) -> list[SourceFile]:
    """Files under the given files and folders, each once. Links out of a folder are not followed."""
    found: dict[str, SourceFile] = {}
    for given in paths:
        path = Path(given).expanduser()
        if path.is_dir():
            for file in _walk(path):
                found.setdefault(_identity(file, notes).id, _identity(file, notes))
        elif path.exists():
            found.setdefault(_identity(path, notes).id, _identity(path, notes))
        else:
            missing = SourceFile(document_id(path), path, "document", "there is no such file")
            found.setdefault(missing.id, missing)
    return list(found.values())


def gone_from(
    folders: Iterable[str | Path], known: Iterable[Known], present: Iterable[SourceFile]
) -> tuple[list[Known], list[Failure]]:
    """Documents from under the folders whose files are no longer there, to remove.

    A folder that has lost every file looks like a disk that is not mounted: its documents are kept, and that is
    reported as a failure of the folder.
    """
    here = {file.id for file in present}
    documents = [entry for entry in known if entry.kind == "document"]
    gone: dict[str, Known] = {}
    failures = []
    for folder in folders:
        root = Path(folder).expanduser().resolve()
        if not root.is_dir():
            continue
        under = [entry for entry in documents if Path(entry.path).is_relative_to(root)]
        lost = [entry for entry in under if entry.id not in here and not Path(entry.path).exists()]
        if under and len(lost) == len(under) and not any(file.path.is_relative_to(root) for file in present):
            kept = f"its {len(under)} documents were kept (remove them by name)"
            failures.append(Failure(root.name, str(root), f"the folder is empty now; {kept}"))
        else:
            gone |= {entry.id: entry for entry in lost}
    return list(gone.values()), failures


def no_longer_failing(folders: Iterable[str | Path], failed_paths: Iterable[str]) -> list[str]:
    """Paths of failed files that were under the folders and are gone: nothing is left to mend."""
    roots = [Path(folder).expanduser().resolve() for folder in folders if Path(folder).expanduser().is_dir()]
    return [
        path
        for path in failed_paths
        if not os.path.lexists(path) and any(Path(path).resolve().is_relative_to(root) for root in roots)
    ]


def _identity(path: Path, notes: Path) -> SourceFile:
    resolved = path.resolve()
    if resolved.parent == notes.resolve() and resolved.suffix == ".md":
        return SourceFile(note_id(resolved.name), resolved, "note")
    return SourceFile(document_id(resolved), resolved, "document")


def _walk(folder: Path) -> Iterator[Path]:
    root = folder.resolve()
    for parent, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if name.startswith((".", "~$")) or not is_supported(path):
                continue
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                continue
            yield path
