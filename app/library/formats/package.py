"""Zip packages of XML parts, as Office and EPUB files are: opened with limits, as documents are untrusted."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

from app.library.formats.content import UnreadableError

_MOST_BYTES = 400 * 2**20  # unpacked
_MOST_RATIO, _SMALL = 200, 20 * 2**20  # unpacked to packed, where there is enough to matter
_MOST_PARTS = 20_000
TOO_TIGHT = "it is packed suspiciously tightly (a zip bomb?)"


def too_tight(unpacked: int, packed: int) -> bool:
    """Whether so many bytes come out of so few that no document explains it."""
    return unpacked > _SMALL and unpacked > _MOST_RATIO * max(1, packed)


@contextmanager
def open_package(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as package:
            parts = package.infolist()
            unpacked = sum(one.file_size for one in parts)
            packed = sum(one.compress_size for one in parts)
            if len(parts) > _MOST_PARTS or unpacked > _MOST_BYTES:
                raise UnreadableError(f"it unpacks to {unpacked / 2**20:,.0f} MB in {len(parts)} parts, too much")
            if too_tight(unpacked, packed):
                raise UnreadableError(TOO_TIGHT)
            if any(one.flag_bits & 1 for one in parts):
                raise UnreadableError("it is encrypted with a password")
            yield package
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, zlib.error, ElementTree.ParseError) as error:
        raise UnreadableError(f"it is damaged ({error})") from None


def part(package: zipfile.ZipFile, name: str) -> ElementTree.Element | None:
    """A part as XML, or None if there is none of that name."""
    try:
        data = package.read(name)
    except KeyError:
        return None
    plain = data.replace(b"\0", b"")  # as it would be in UTF-8
    if b"<!DOCTYPE" in plain[:2000] or b"<!ENTITY" in plain:
        raise UnreadableError("its XML declares entities, which no Office program writes")
    return ElementTree.fromstring(data)


def related(package: zipfile.ZipFile, name: str) -> dict[str, str]:
    """Names of the parts that a part refers to, by relationship id."""
    folder = folder_of(name)
    found = part(package, f"{folder}_rels/{name.removeprefix(folder)}.rels")
    targets = {}
    for relation in found if found is not None else ():
        target = relation.get("Target", "")
        if relation.get("TargetMode") != "External":
            joined = target.lstrip("/") if target.startswith("/") else posixpath.normpath(folder + target)
            targets[relation.get("Id", "")] = joined
    return targets


def folder_of(name: str) -> str:
    """The folder of a part, with a slash at its end; "" at the top."""
    folder = posixpath.dirname(name)
    return f"{folder}/" if folder else ""
