"""A document from an http(s) address, with limits on size and time; nothing else is ever fetched."""

from __future__ import annotations

import http.client
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from app.library.formats.content import UnreadableError
from app.library.reading import is_supported

_WAIT_S = 20.0  # for each answer of the server
_LONGEST_S = 120.0  # for all of it
_PIECE = 64 * 2**10
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "text/csv": ".csv",
    "application/epub+zip": ".epub",
    "message/rfc822": ".eml",
}
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OFFICE_SUFFIXES = {"wordprocessingml": ".docx", "presentationml": ".pptx", "spreadsheetml": ".xlsx"}


def is_url(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def name_of(url: str) -> str:
    """What to call the page at an address: its host and the end of its path."""
    parts = urlsplit(url)
    last = unquote(PurePosixPath(parts.path).name)
    return f"{parts.hostname or 'page'}/{last}" if last else parts.hostname or url


@contextmanager
def fetched(url: str, *, max_bytes: int) -> Iterator[Path]:
    """The page as a file, gone afterwards. Raises UnreadableError with the reason."""
    opener = urllib.request.build_opener()
    opener.addheaders = [("User-Agent", "fabric-advisor"), ("Accept", "text/html, application/pdf, text/*, */*;q=0.5")]
    deadline = time.monotonic() + _LONGEST_S
    with tempfile.TemporaryDirectory(prefix="fabric-advisor-") as folder:
        try:
            with opener.open(url, timeout=_WAIT_S) as answer:
                if not is_url(answer.geturl()):
                    raise UnreadableError("it leads to an address that is not http or https")
                target = Path(folder, "page" + _suffix(answer.headers.get_content_type(), answer.geturl()))
                with target.open("wb") as file:
                    left = max_bytes
                    while piece := answer.read(_PIECE):
                        left -= len(piece)
                        if left < 0:
                            raise UnreadableError(f"it has more than {max_bytes / 2**20:,.0f} MB, the limit")
                        if time.monotonic() > deadline:
                            raise UnreadableError(f"it took more than {_LONGEST_S:.0f} s")
                        file.write(piece)
        except urllib.error.HTTPError as error:
            raise UnreadableError(f"the server answers {error.code} {error.reason}") from None
        except urllib.error.URLError as error:
            raise UnreadableError(f"it cannot be fetched ({error.reason})") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnreadableError(f"it cannot be fetched ({error or type(error).__name__})") from None
        yield target


def _suffix(content_type: str, url: str) -> str:
    named = PurePosixPath(urlsplit(url).path).suffix.lower()
    if content_type.startswith(_OFFICE):
        return next((suffix for kind, suffix in _OFFICE_SUFFIXES.items() if kind in content_type), "")
    if content_type in ("text/plain", "application/octet-stream") and named and is_supported(Path("x" + named)):
        return named
    return _SUFFIXES.get(content_type, named)
