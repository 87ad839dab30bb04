"""Files that readers hand in: kept under HOME/uploads, and ingested from there like any others."""

from __future__ import annotations

import os
import tempfile
import unicodedata
from pathlib import Path

from app.errors import AdvisorError
from app.settings import UPLOADS

LONGEST_NAME_BYTES = 200
_WINDOWS_RESERVED = set('<>:"|?*')


def safe_name(name: str) -> str | None:
    """The name to keep a file under: no folders, no control characters; None where nothing usable is left.

    Names in any script are kept; `报告.pdf` stays as it is.
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(
        "_" if one in _WINDOWS_RESERVED else one for one in last if unicodedata.category(one)[0] != "C"
    ).strip()
    stem, dot, suffix = kept.rpartition(".")
    if not dot:
        stem, suffix = kept, ""
    room = LONGEST_NAME_BYTES - len(suffix.encode()) - 1
    stem = stem.lstrip(".").encode()[: max(room, 0)].decode(errors="ignore").strip()
    return f"{stem}{dot}{suffix}" if stem else None


def store(home: Path, name: str, content: bytes) -> Path:
    """Write an uploaded file whole or not at all; a newer file of the same name replaces the older one."""
    folder = home / UPLOADS
    path = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".part-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except OSError as error:
        raise AdvisorError(
            f"{name} could not be stored: {error.strerror}.", "Set FABRIC_ADVISOR_HOME to a writable folder."
        ) from None
    return path
