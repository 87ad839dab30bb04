"""Zip files as folders: which members are documents, and a member unpacked for the moment of reading it.

Archives are untrusted: nothing is written outside a temporary folder, names that lead out of the archive and links
are refused, and what unpacks to too much is refused before it is unpacked and stopped while it is.
"""

from __future__ import annotations

import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from app.library.formats.content import UnreadableError
from app.library.formats.package import TOO_TIGHT, too_tight
from app.library.reading import is_supported

_MOST_MEMBERS = 20_000
_MOST_BYTES = 2 * 2**30  # unpacked, of all documents together
_PIECE = 2**20


@dataclass(frozen=True, slots=True)
class Member:
    """A document inside an archive: `name` as people see it, `stored` as the archive has it."""

    name: str
    stored: str
    size: int
    problem: str = ""


def is_archive(path: Path) -> bool:
    return path.suffix.lower() == ".zip"


def members(path: Path) -> list[Member]:
    """Documents in an archive, by name; what must not be unpacked has a problem. Raises UnreadableError."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = archive.infolist()
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, ValueError) as error:
        raise UnreadableError(f"the zip file is damaged ({error})") from None
    if len(found) > _MOST_MEMBERS:
        raise UnreadableError(f"it holds {len(found):,} files; the limit is {_MOST_MEMBERS:,}")
    wanted = [_member(one) for one in found if not one.is_dir() and not _is_hidden(_name(one))]
    kept = [one for one in wanted if one.problem or is_supported(Path(one.name))]
    unpacked = sum(one.size for one in kept)
    if unpacked > _MOST_BYTES:
        raise UnreadableError(f"it unpacks to {unpacked / 2**30:,.1f} GB; the limit is {_MOST_BYTES / 2**30:,.0f} GB")
    packed = {one.filename: one.compress_size for one in found}
    read = [one for one in kept if not one.problem]
    if too_tight(sum(one.size for one in read), sum(packed[one.stored] for one in read)):  # in many small members
        raise UnreadableError(TOO_TIGHT)
    return sorted({one.name: one for one in kept}.values(), key=lambda one: one.name)


@contextmanager
def unpacked(path: Path, stored: str, *, max_bytes: int) -> Iterator[Path]:
    """One member as a file, gone afterwards. Raises UnreadableError."""
    with tempfile.TemporaryDirectory(prefix="fabric-advisor-") as folder:
        name = PurePosixPath(stored)
        target = Path(folder, "member" + name.suffix.lower()[:20])
        try:
            with zipfile.ZipFile(path) as archive, archive.open(stored) as source, target.open("wb") as file:
                left = min(max_bytes, archive.getinfo(stored).file_size)
                while piece := source.read(_PIECE):
                    left -= len(piece)
                    if left < 0:
                        raise UnreadableError("it unpacks to more than it says, or than the limit")
                    file.write(piece)
        except (zipfile.BadZipFile, EOFError, OSError, KeyError, RuntimeError, zlib.error) as error:
            raise UnreadableError(f"it cannot be unpacked ({error})") from None
        yield target


def _member(info: zipfile.ZipInfo) -> Member:
    name = _name(info)
    return Member(name.replace("\\", "/").lstrip("/"), info.filename, info.file_size, _problem(info, name))


def _problem(info: zipfile.ZipInfo, name: str) -> str:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if ".." in parts or name.startswith(("/", "\\")) or (parts and ":" in parts[0]):
        return "its name leads out of the zip file"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "links in zip files are not followed"
    if is_archive(Path(name)):
        return "zip files inside zip files are not opened"
    if info.flag_bits & 1:
        return "it is encrypted with a password"
    if too_tight(info.file_size, info.compress_size):
        return TOO_TIGHT
    return ""


def _name(info: zipfile.ZipInfo) -> str:
    """Names without the UTF-8 flag are read as cp437; in China they mostly are GB18030, elsewhere UTF-8."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        raw = info.filename.encode("cp437")
    except UnicodeEncodeError:
        return info.filename
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return info.filename


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "~$")) and part != ".." for part in PurePosixPath(name).parts) or name.startswith(
        "__MACOSX/"
    )
