"""PDF, through kreuzberg (pdfium): text page by page, headings where the layout shows them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from app.library.formats.content import Content, UnreadableError
from app.library.formats.pdf_layout import squeezed, text_of_pages

_HEADING = re.compile(r"^(#{1,6})\s+(.+)$", re.MULTILINE)
_NO_TITLE = re.compile(
    r"^(about:blank|untitled.*|slide 1|powerpoint presentation|microsoft (word|powerpoint|excel) - .*)$"
    r"|\.(docx?|pptx?|xlsx?|pdf|tex|dvi|indd|html?)$",
    re.IGNORECASE,
)
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
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Rust code, no Exception
            raise
        raise UnreadableError(_reason(str(error))) from None
    pages = [str(page["content"]) for page in plain.pages or ()]
    if not any(page.strip() for page in pages):
        raise UnreadableError(f"it has no text layer ({len(pages)} pages, probably scanned)")
    try:
        marked = str(extract("markdown").content)
    except kreuzberg.KreuzbergError:
        marked = ""  # headings are a help, not a need
    headings = {squeezed(match[2]): len(match[1]) for match in _HEADING.finditer(marked)}
    text, starts = text_of_pages(pages, headings)
    return Content(text, title=_title(str(plain.metadata.get("title") or ""), text), page_starts=starts)


def _title(said: str, text: str) -> str:
    """What the file says its title is, unless that is a program's filling; else its first heading."""
    if said.strip() and not _NO_TITLE.search(said.strip()):
        return said.strip()
    first = _HEADING.search(text)
    return first[2] if first else ""


def _reason(message: str) -> str:
    lower = message.lower()
    if "password" in lower or "encrypt" in lower:
        return "it is encrypted with a password"
    if "time" in lower and "out" in lower:
        return f"reading it took more than {_TIME_LIMIT_S} s"
    detail = message.removeprefix("ParsingError:").strip().splitlines()
    return f"the PDF is damaged ({detail[0][:120] if detail else 'no detail'})"
