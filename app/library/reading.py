"""Reads a file into text: picks the format, checks that the file is what its name says, and gives one clear
reason where it cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.library.formats.content import Content, UnreadableError
from app.library.formats.csv_table import read_csv
from app.library.formats.docx import read_docx
from app.library.formats.epub import read_epub
from app.library.formats.html import read_html
from app.library.formats.mail import read_mail, read_saved_page
from app.library.formats.nccl_log import read_log
from app.library.formats.pdf import read_pdf
from app.library.formats.plain import read_markdown, read_text
from app.library.formats.pptx import read_pptx
from app.library.formats.xlsx import read_xlsx

_ZIP, _PDF, _OLE = b"PK\x03\x04", b"%PDF-", b"\xd0\xcf\x11\xe0"
_PACKAGES = (".docx", ".pptx", ".xlsx", ".epub")
_SIGNATURES = {  # of files that are no text, whatever their name
    b"%PDF-": "a PDF",
    _ZIP: "a zip package",
    _OLE: "an old or encrypted Office file",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"SQLite format 3": "a database",
}


def _from_bytes(read: Callable[[bytes], Content]) -> Callable[[Path], Content]:
    return lambda path: read(path.read_bytes())


_READERS: dict[str, Callable[[Path], Content]] = {
    ".md": _from_bytes(read_markdown),
    ".markdown": _from_bytes(read_markdown),
    ".txt": _from_bytes(read_text),
    ".log": _from_bytes(read_log),
    ".html": _from_bytes(read_html),
    ".htm": _from_bytes(read_html),
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".pptx": read_pptx,
    ".xlsx": read_xlsx,
    ".csv": _from_bytes(read_csv),
    ".tsv": _from_bytes(read_csv),
    ".epub": read_epub,
    ".eml": _from_bytes(read_mail),
    ".mhtml": _from_bytes(read_saved_page),
    ".mht": _from_bytes(read_saved_page),
}
READER_VERSION = "3"
SUPPORTED = tuple(_READERS)


def is_supported(path: Path) -> bool:
    return path.suffix.lower() in _READERS


def read(path: Path, *, max_bytes: int) -> Content:
    """Text of a file. Raises UnreadableError with the reason; a file over `max_bytes` is not opened."""
    suffix = path.suffix.lower()
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise UnreadableError("it is not a regular file")
        if size > max_bytes:
            raise UnreadableError(f"it has {size / 2**20:,.0f} MB; the limit is {max_bytes / 2**20:,.0f} MB "
                                  "(FABRIC_ADVISOR_MAX_FILE_MB)")  # fmt: skip
        if size == 0:
            raise UnreadableError("it is empty")
        reader = _READERS.get(suffix)
        if reader is None:
            raise UnreadableError(
                f"files of type {suffix or '(none)'} are not read; the types are {', '.join(SUPPORTED)}, and .zip "
                "of them"
            )
        _check_signature(path, suffix)
        content = reader(path)
    except OSError as error:
        raise UnreadableError(f"it cannot be opened ({error.strerror or error})") from None
    if not content.text.strip():
        raise UnreadableError("there is no text in it")
    return content


def _check_signature(path: Path, suffix: str) -> None:
    with path.open("rb") as file:
        head = file.read(1024)
    expected = _PDF if suffix == ".pdf" else _ZIP if suffix in _PACKAGES else b""
    if expected == _PDF and _PDF in head:
        return  # some writers put a few bytes before the header
    if expected and head.startswith(expected):
        return
    actual = next((name for start, name in _SIGNATURES.items() if head.startswith(start)), "")
    if expected:
        if expected == _ZIP and head.startswith(_OLE):
            raise UnreadableError("it is encrypted with a password, or in the old binary Office format")
        raise UnreadableError(f"it is not a {suffix[1:].upper()} file" + (f" but {actual}" if actual else ""))
    if actual:
        raise UnreadableError(f"it is named {suffix} but is {actual}")


def file_state(path: Path) -> tuple[int, int]:
    """(size, mtime in ns), to see whether a file may have changed."""
    state = path.stat()
    return state.st_size, state.st_mtime_ns
