"""PPTX: each slide a page and a section, titled by its title, with its text, tables and speaker's notes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from app.library.formats.content import Content, UnreadableError, table_text
from app.library.formats.package import open_package, part, related

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def read_pptx(path: Path) -> Content:
    text = ""
    starts = []
    with open_package(path) as package:
        show = part(package, "ppt/presentation.xml")
        if show is None:
            raise UnreadableError("it is not a PowerPoint presentation (no ppt/presentation.xml inside)")
        targets = related(package, "ppt/presentation.xml")
        for slide in show.iter(f"{_P}sldId"):
            starts.append(len(text))
            name = targets.get(slide.get(f"{_R}id", ""), "")
            blocks = list(_blocks(package, name))
            text += "".join(f"{block}\n\n" for block in blocks)
    return Content(text, page_starts=tuple(starts))


def _blocks(package: zipfile.ZipFile, name: str) -> Iterator[str]:
    slide = part(package, name)
    if slide is None:
        return
    title, bodies = "", []
    for shape in slide.iter(f"{_P}sp"):
        paragraphs = [text for text in map(_text, shape.iter(f"{_A}p")) if text]
        kind = shape.find(f".//{_P}ph")
        if kind is not None and kind.get("type") in ("title", "ctrTitle") and not title:
            title = " ".join(paragraphs)
        elif kind is None or kind.get("type") not in ("sldNum", "ftr", "dt"):
            bodies += paragraphs
    if title:
        yield f"## {title}"
    yield from bodies
    for table in slide.iter(f"{_A}tbl"):
        yield table_text(
            [
                [" ".join(filter(None, map(_text, cell.iter(f"{_A}p")))) for cell in row.iter(f"{_A}tc")]
                for row in table.iter(f"{_A}tr")
            ]
        )
    notes = next((target for target in related(package, name).values() if "/notesSlide" in target), "")
    page = part(package, notes) if notes else None
    for shape in page.iter(f"{_P}sp") if page is not None else ():
        kind = shape.find(f".//{_P}ph")
        if kind is not None and kind.get("type") == "body":
            yield from filter(None, map(_text, shape.iter(f"{_A}p")))


def _text(paragraph: ElementTree.Element) -> str:
    return "".join(
        "\n" if node.tag == f"{_A}br" else node.text or ""
        for node in paragraph.iter()
        if node.tag in (f"{_A}t", f"{_A}br")
    ).strip()
