"""HTML: the main content as Markdown-like text; navigation, scripts and other boilerplate dropped.

No markup of the page survives: what comes out is text.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from app.library.formats.content import Content, table_text
from app.library.formats.plain import decode


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"<\?xml[^>]+encoding\s*=\s*[\"']([\w-]+)", re.IGNORECASE)
_NEVER = _names("script style noscript template svg math iframe object button select textarea dialog")
_FURNITURE = _names("nav footer aside header menu form")
_FURNITURE_ROLES = _names("navigation banner contentinfo complementary search menu menubar dialog")
_FURNITURE_NAMES = _names(
    "breadcrumb breadcrumbs cookie-banner cookie-bar cookie-consent cookie-notice newsletter share-buttons "
    "social-share sidebar advertisement ads related-posts related-articles skip-link site-footer site-header"
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_ROOTS = _names("html body main article")
_WIDEST, _TALLEST = 200, 1000  # cells that one cell may span
_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_BLOCKS = _names(
    "address article blockquote dd div dl dt fieldset figcaption figure main ol p section ul details summary"
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def read_html(data: bytes) -> Content:
    match = _CHARSET.search(data[:4096]) or _XML_ENCODING.search(data[:512])
    markup = decode(data, match[1].decode("ascii") if match else "")
    reader = _read(markup, _FURNITURE)
    if not reader.text().strip():
        reader = _read(markup, frozenset())  # a page that is all in <nav> or leaves one open is still a page
    return Content(reader.text(), title=reader.title.strip() or reader.first_heading, url=reader.url)


def _read(markup: str, furniture: frozenset[str]) -> _Reader:
    reader = _Reader(furniture)
    reader.feed(markup)
    reader.close()
    return reader


class _Reader(HTMLParser):
    """Collects text; keeps only what is inside <main> or <article> if there is any."""

    def __init__(self, furniture: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._furniture = furniture
        self.title = ""
        self.url = ""
        self.first_heading = ""
        self._all: list[str] = []
        self._main: list[str] = []
        self._skipping: list[str] = []
        self._open: list[str] = []
        self._main_depth = 0
        self._line = ""
        self._in_title = False
        self._pre = 0
        self._lists: list[int | None] = []
        self._rows: list[list[str]] = []
        self._cell: str | None = None
        self._spans = (1, 1)  # columns and rows of the cell
        self._hanging: dict[int, tuple[str, int, int]] = {}  # by column: text, rows, number of the first row
        self._tables = 0

    def text(self) -> str:
        self._flush()
        chosen = self._main if len("".join(self._main)) > 200 or not self._all else self._all
        return re.sub(r"\n{3,}", "\n\n", "\n\n".join(chosen)).strip() + "\n"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "link" and values.get("rel") == "canonical":
            href = values.get("href") or ""
            self.url = href if href.startswith(("https://", "http://")) else self.url
        if tag in _VOID:
            if not self._skipping:
                self._void(tag)
            return
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.append(tag)
            return
        if self._is_boilerplate(tag, values):
            self._flush()
            self._skipping.append(tag)
            return
        self._begin(tag, values)

    def _is_boilerplate(self, tag: str, values: dict[str, str | None]) -> bool:
        if tag in _NEVER or values.get("hidden", "no") is None or values.get("aria-hidden") == "true":
            return True
        if tag in _ROOTS:
            return False
        if _HIDDEN_STYLE.search(values.get("style") or ""):
            return True
        if tag == "header" and self._main_depth:
            return False  # the header of an article holds its title
        if not self._furniture:
            return False
        if {*(values.get("class") or "").lower().split(), (values.get("id") or "").lower()} & _FURNITURE_NAMES:
            return True
        return tag in self._furniture or (values.get("role") or "") in _FURNITURE_ROLES

    def _void(self, tag: str) -> None:
        if tag == "br":
            self._line += "\n"
        elif tag == "hr":
            self._flush()

    def _begin(self, tag: str, values: dict[str, str | None]) -> None:
        if tag in ("main", "article"):
            self._flush()
            self._main_depth += 1
        elif tag == "title":
            self._in_title = not self.title
        elif tag == "table":
            if not self._tables:
                self._flush()
                self._rows = []
            self._tables += 1
        elif tag == "tr" and self._tables == 1:
            self._end_cell()
            if self._rows:
                self._fill_from_above()
            self._rows.append([])
        elif tag in ("td", "th") and self._tables == 1:
            self._end_cell()
            self._cell = ""
            self._spans = _count(values.get("colspan"), _WIDEST), _count(values.get("rowspan"), _TALLEST)
        elif tag in ("ul", "ol"):
            self._flush()
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._flush()
            self._line = self._bullet()
        elif tag == "pre":
            self._flush()
            self._pre += 1
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._block_boundary()

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.pop()
            return
        if tag in ("main", "article"):
            self._flush()
            self._main_depth = max(0, self._main_depth - 1)
        elif tag == "title":
            self._in_title = False
        elif tag in ("td", "th") and self._tables == 1 and self._cell is not None:
            self._end_cell()
        elif tag == "table" and self._tables:
            self._tables -= 1
            if not self._tables:
                self._end_table()
        elif tag in ("ul", "ol"):
            self._flush()
            if self._lists:
                self._lists.pop()
        elif tag == "pre" and self._pre:
            code = self._line.strip("\n")
            self._line = ""
            self._pre -= 1
            if code.strip():
                self._add(f"```\n{code}\n```")
        elif tag in _HEADINGS:
            self._end_heading(_HEADINGS[tag])
        elif tag in _BLOCKS or tag == "li":
            self._block_boundary()

    def _end_cell(self) -> None:
        """A cell over several columns or rows says its text in each, so that figures stay in theirs."""
        if self._cell is None:
            return
        if not self._rows:
            self._rows.append([])
        text, (columns, rows) = " ".join(self._cell.split()), self._spans
        self._cell = None
        self._fill_from_above()
        for _ in range(columns):
            if rows > 1:
                self._hanging[len(self._rows[-1])] = (text, rows, len(self._rows))
            self._rows[-1].append(text)

    def _fill_from_above(self) -> None:
        """Cells of earlier rows that reach down into the present place of this one."""
        row, number = self._rows[-1], len(self._rows)
        while len(row) in self._hanging:
            text, rows, began = self._hanging[len(row)]
            if not began < number < began + rows:
                break
            row.append(text)

    def _end_table(self) -> None:
        self._end_cell()
        if self._rows:
            self._fill_from_above()
        rows = [row for row in self._rows if any(row)]
        self._hanging = {}
        if len(rows) == 1 or (rows and max(map(len, rows)) == 1):
            self._add("\n\n".join(" ".join(row) for row in rows))  # a table for layout only
        elif rows:
            self._add(table_text(rows))
        self._rows = []

    def _end_heading(self, level: int) -> None:
        if self._cell is not None:
            self._cell += " "
            return
        heading = " ".join(self._line.split())
        self._line = ""
        if heading:
            self.first_heading = self.first_heading or heading
            self._add(f"{'#' * level} {heading}")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif self._skipping:
            return
        elif self._cell is not None:
            self._cell += data
        elif self._pre:
            self._line += data
        else:
            self._line += re.sub(r"\s+", " ", data) if data.strip() else (" " if self._line.strip() else "")

    def _block_boundary(self) -> None:
        if self._cell is not None:
            self._cell += " "
        elif not self._pre:
            self._flush()

    def _bullet(self) -> str:
        if self._lists and self._lists[-1] is not None:
            self._lists[-1] += 1
            return f"{self._lists[-1]}. "
        return "- "

    def _flush(self) -> None:
        line = re.sub(r"[ \t]*\n[ \t]*", "\n", re.sub(r"[ \t]+", " ", self._line)).strip()
        self._line = ""
        if line and line not in ("-",) and not re.fullmatch(r"\d+\.", line):
            self._add("\\" + line if re.match(r"#{1,6}\s", line) else line)

    def _add(self, block: str) -> None:
        self._all.append(block)
        if self._main_depth:
            self._main.append(block)


def _count(text: str | None, most: int) -> int:
    return min(max(int(text), 1), most) if text and text.isdecimal() else 1
