"""Which files an ingest is about: from paths and folders to identities, and what has vanished since."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from app.library.archives import Member, is_archive, members
from app.library.document import Failure, Kind
from app.library.formats.content import UnreadableError
from app.library.reading import READER_VERSION, file_state, is_supported
from app.library.records import Known
from app.library.splitting import SPLITTER_VERSION
from app.library.web_page import is_url, name_of

READING_VERSION = f"{SPLITTER_VERSION}.{READER_VERSION}"  # of how text is made from a file; part of revisions


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to ingest. `id` is its identity: the resolved path, the address, or the name of a shipped note.

    Of a document in a zip file, `path` is the zip file.
    """

    id: str
    path: Path
    kind: Kind
    problem: str = ""  # known before reading, e.g. "there is no such file"
    member: Member | None = None
    url: str = ""

    @property
    def location(self) -> str:
        """Where it is, as people see it: path, path in a zip file, or address."""
        if self.url:
            return self.url
        path = readable(self.path)
        return f"{path}/{self.member.name}" if self.member else path

    @property
    def parts(self) -> tuple[str, ...]:
        """Of its location: what names are made of."""
        return (name_of(self.url),) if self.url else PurePath(self.location).parts

    @property
    def name(self) -> str:
        return self.parts[-1]

    def state(self) -> tuple[int, int]:
        """(size, mtime in ns), to see whether it may have changed."""
        size, mtime_ns = file_state(self.path)
        return (self.member.size if self.member else size), mtime_ns


def is_changed(file: SourceFile, known: Known) -> bool:
    """Whether the file may differ from what is stored, without reading it."""
    if file.url:
        return True
    try:
        state = file.state()
    except OSError:
        return True
    return state != (known.size, known.mtime_ns) or not known.revision.startswith(f"{READING_VERSION}-")


def document_id(path: Path) -> str:
    """Identity of a file by its resolved path."""
    return _id_of(_resolved(path) or path.absolute())


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
    """Files at the given addresses and under the given files, folders and zip files, each once."""
    found: dict[str, SourceFile] = {}
    for given in paths:
        for file in _files_at(given, notes.resolve()):
            found.setdefault(file.id, file)
    return list(found.values())


def _files_at(given: str | Path, notes: Path) -> Iterator[SourceFile]:
    if isinstance(given, str) and is_url(given):
        yield SourceFile("d" + hashlib.sha256(given.encode()).hexdigest()[:16], Path(), "document", url=given)
        return
    path = _path(given)
    if path.is_dir():
        for file, problem in _walk(path):
            if problem:
                yield SourceFile(_id_of(file), file, "document", problem)
            else:
                yield from _in_file(file, notes)
    elif path.exists():
        yield from _in_file(path.resolve(), notes)
    else:
        yield SourceFile(document_id(path), path, "document", "there is no such file")


def _in_file(path: Path, notes: Path) -> Iterator[SourceFile]:
    """The file itself, or the documents in it. `path` is resolved."""
    if not is_archive(path):
        yield _identity(path, notes)
        return
    try:
        inside = members(path)
    except UnreadableError as error:
        yield SourceFile(_id_of(path), path, "document", str(error))
        return
    for member in inside:
        yield SourceFile(_id_of(path / member.name), path, "document", member.problem, member)


def gone_from(
    folders: Iterable[str | Path], known: Iterable[Known], present: Iterable[SourceFile]
) -> tuple[list[Known], list[Failure]]:
    """Documents from under the folders whose files are no longer there, to remove.

    A folder that has lost every file looks like a disk that is not mounted: its documents are kept, and that is
    reported as a failure of the folder.
    """
    files = list(present)
    here = {file.id for file in files}
    unread = [file.path for file in files if file.problem and is_archive(file.path) and file.member is None]
    documents = [entry for entry in known if entry.kind == "document"]
    gone: dict[str, Known] = {}
    failures = []
    for folder in folders:
        root = _resolved(_path(folder))
        if root is None or (not root.is_dir() and not is_archive(root)):
            continue
        under = [entry for entry in documents if PurePath(entry.path).is_relative_to(root)]
        under = [entry for entry in under if not any(PurePath(entry.path).is_relative_to(one) for one in unread)]
        lost = [entry for entry in under if entry.id not in here and not Path(entry.path).exists()]
        if under and len(lost) == len(under) and not any(file.path.is_relative_to(root) for file in files):
            kept = f"its {len(under)} documents were kept (remove them by name)"
            failures.append(Failure(root.name, str(root), f"the folder is empty now; {kept}"))
        else:
            gone |= {entry.id: entry for entry in lost}
    return list(gone.values()), failures


def no_longer_failing(folders: Iterable[str | Path], failed_paths: Iterable[str]) -> list[str]:
    """Paths of failed files that were under the folders and are gone: nothing is left to mend."""
    given = [_path(folder) for folder in folders]
    roots = [path.resolve() for path in given if path.is_dir() or is_archive(path)]
    return [
        path
        for path in failed_paths
        if not is_url(path) and not os.path.lexists(path) and any(PurePath(path).is_relative_to(root) for root in roots)
    ]


def readable(path: Path) -> str:
    """The path as text; bytes in a name that are no UTF-8 become U+FFFD."""
    return os.fsencode(path).decode(errors="replace")


def _id_of(resolved: Path) -> str:
    return "d" + hashlib.sha256(os.fsencode(resolved)).hexdigest()[:16]


def _path(given: str | Path) -> Path:
    return Path(os.path.expanduser(given))  # noqa: PTH111  (Path's own raises for a user that does not exist)


def _resolved(path: Path) -> Path | None:
    """None for a link that leads to itself."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _identity(resolved: Path, notes: Path) -> SourceFile:
    if resolved.parent == notes and resolved.suffix == ".md":
        return SourceFile(note_id(resolved.name), resolved, "note")
    return SourceFile(_id_of(resolved), resolved, "document")


def _walk(folder: Path) -> Iterator[tuple[Path, str]]:
    """Resolved files to read under a folder, or files not to read with the reason."""
    root = folder.resolve()
    for parent, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if name.startswith((".", "~$")) or not (is_supported(path) or is_archive(path)):
                continue
            if not path.is_symlink():
                yield path, ""
                continue
            target = _resolved(path)
            if target is None or not target.exists():
                yield path, "it is a link that leads nowhere"
            elif target.is_relative_to(root):
                yield target, ""
            else:
                yield path, "it is a link out of the folder, which is not followed"
