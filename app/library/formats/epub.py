"""EPUB: its HTML chapters in reading order."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from app.library.formats.content import Content, UnreadableError
from app.library.formats.html import read_html
from app.library.formats.package import folder_of, open_package, part

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"


def read_epub(path: Path) -> Content:
    with open_package(path) as package:
        container = part(package, "META-INF/container.xml")
        root = container.find(f".//{_CONTAINER}rootfile") if container is not None else None
        name = root.get("full-path", "") if root is not None else ""
        book = part(package, name)
        if book is None:
            raise UnreadableError("it is not an EPUB book (no package document inside)")
        if "META-INF/rights.xml" in package.namelist():
            raise UnreadableError("it is protected against copying (DRM)")
        folder = folder_of(name)
        hrefs = {item.get("id"): folder + unquote(item.get("href", "")) for item in book.iter(f"{_OPF}item")}
        present = set(package.namelist())
        chapters = [
            read_html(package.read(href)).text.strip()
            for reference in book.iter(f"{_OPF}itemref")
            if (href := hrefs.get(reference.get("idref"), "")) in present
        ]
        title = book.findtext(f".//{_DC}title") or ""
    return Content("\n\n".join(chapter for chapter in chapters if chapter) + "\n", title=title.strip())
