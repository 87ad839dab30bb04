"""PDF, through kreuzberg (pdfium): text page by page, headings where the layout shows them."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

from app.library.formats.content import Content, UnreadableError
from app.library.language import CJK

_HEADING = re.compile(r"^(#{1,6})\s+(.+)$", re.MULTILINE)
_ENDS_SENTENCE = re.compile(r"[。！？；：.!?;:]$")
_LONGEST_HEADING = 120
_FULL_LINE = 0.8  # of the widest line near by: such a line goes on in the next
_TIME_LIMIT_S = 300


def read_pdf(path: Path) -> Content:
    import kreuzberg
    from kreuzberg import ExtractionConfig, PageConfig

    def extract(output_format: str) -> Any:
        options: dict[str, Any] = {  # more than the package's type stubs know
            "output_format": output_format,
            "disable_ocr": True,
            "use_cache": False,
            "pages": PageConfig(extract_pages=True),
            "extraction_timeout_secs": _TIME_LIMIT_S,
        }
        config = ExtractionConfig(**options)
        return kreuzberg.extract_file_sync(str(path), mime_type="application/pdf", config=config)

    try:
        plain = extract("plain")
    except kreuzberg.KreuzbergError as error:
        raise UnreadableError(_reason(str(error))) from None
    pages = [str(page["content"]) for page in plain.pages or ()]
    if not any(page.strip() for page in pages):
        raise UnreadableError(f"it has no text layer ({len(pages)} pages, probably scanned)")
    try:
        marked = str(extract("markdown").content)
    except kreuzberg.KreuzbergError:
        marked = ""  # headings are a help, not a need
    headings = {_squeezed(match[2]): len(match[1]) for match in _HEADING.finditer(marked)}
    text = ""
    starts = []
    for page in pages:
        starts.append(len(text))
        text += _page_text(page, headings) + "\n\n"
    title = plain.metadata.get("title")
    return Content(text.rstrip("\n") + "\n", title=str(title or ""), page_starts=tuple(starts))


def _reason(message: str) -> str:
    lower = message.lower()
    if "password" in lower or "encrypt" in lower:
        return "it is encrypted with a password"
    if "time" in lower and "out" in lower:
        return f"reading it took more than {_TIME_LIMIT_S} s"
    detail = message.removeprefix("ParsingError:").strip().splitlines()
    return f"the PDF is damaged ({detail[0][:120] if detail else 'no detail'})"


def _page_text(page: str, headings: dict[str, int]) -> str:
    lines = [line.strip() for line in page.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    widths = [_width(line) for line in lines]
    result = ""
    for number, line in enumerate(lines):
        level = headings.get(_squeezed(line)) if line and len(line) <= _LONGEST_HEADING else None
        if level:
            result = result.rstrip("\n") + f"\n\n{'#' * level} {line}\n\n"
            continue
        joint = "\n"
        if result and result[-1] == "\n" and number:
            near = max(widths[max(0, number - 6) : number + 5])
            joint = _joint(lines[number - 1], line, widths[number - 1] >= _FULL_LINE * near)
        if joint != "\n":
            result = result.rstrip("\n")
            if joint == "-":
                result = result[:-1]
        result += _plain_line(line) + "\n"
    return result.strip("\n")


def _joint(before: str, after: str, full: bool) -> str:
    """How a line goes on in the next: "" for Chinese, "-" for a hyphenated word, a line end otherwise."""
    if not before or not after or not full or _ENDS_SENTENCE.search(before):
        return "\n"
    if re.match(f"[{CJK}]", after) and re.search(f"[{CJK}，、]$", before):
        return ""
    if re.search(r"[a-z]{2}[-\u00ad\u2010]$", before) and re.match(r"[a-z]{2}", after):
        return "-"
    return "\n"


def _plain_line(line: str) -> str:
    """A line of text that only looks like a Markdown heading is no heading."""
    return "\\" + line if re.match(r"#{1,6}\s", line) else line


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)


def _squeezed(text: str) -> str:
    return re.sub(r"[\s*_`\\]+", "", text)
