"""Makes files for tests: small PDF and DOCX documents, written byte by byte."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_ENCRYPT = "/Encrypt <</Filter/Standard/V 1/R 2/O({0})/U({0})/P -4>>/ID[(0123456789abcdef)(0123456789abcdef)]"


def write_pdf(path: Path, pages: list[str], *, encrypted: bool = False) -> None:
    """Pages of Latin text; a page of "" has no text layer."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, text in enumerate(pages):
        lines = " ".join(f"({line}) Tj T*" for line in text.split("\n"))
        stream = f"BT /F1 12 Tf 72 720 Td 14 TL {lines} ET" if text else ""
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
            f"/Contents {5 + 2 * number} 0 R>>"
        )
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
    data = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    extra = _ENCRYPT.format("x" * 32) if encrypted else ""
    data += (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R{extra}>>\n"
        f"startxref\n{len(data)}\n%%EOF"
    ).encode()
    path.write_bytes(data)


def write_docx(path: Path, blocks: list[tuple[str, str] | list[list[str]]]) -> None:
    """Blocks: (style, text) paragraphs, or tables as rows of cells."""
    body = ""
    for block in blocks:
        if isinstance(block, tuple):
            style, text = block
            body += f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{escape(text)}</w:t></w:r></w:p>'
        else:
            rows = "".join(
                "<w:tr>"
                + "".join(f"<w:tc><w:p><w:r><w:t>{escape(cell)}</w:t></w:r></w:p></w:tc>" for cell in row)
                + "</w:tr>"
                for row in block
            )
            body += f"<w:tbl>{rows}</w:tbl>"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        package.writestr("word/document.xml", f"<w:document {_W}><w:body>{body}</w:body></w:document>")
