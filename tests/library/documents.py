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


_OFFICE = "http://schemas.openxmlformats.org"
_REL = f"{_OFFICE}/officeDocument/2006/relationships"


def _relations(*targets: str) -> str:
    items = "".join(f'<Relationship Id="r{n}" Type="x" Target="{target}"/>' for n, target in enumerate(targets))
    return f'<Relationships xmlns="{_OFFICE}/package/2006/relationships">{items}</Relationships>'


def write_xlsx(path: Path, sheets: dict[str, list[list[str | float]]]) -> None:
    """Texts as shared strings, numbers as they are; every row starts in column B."""
    texts = sorted({cell for rows in sheets.values() for row in rows for cell in row if isinstance(cell, str)})
    with zipfile.ZipFile(path, "w") as package:
        names = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets))
        space = f'xmlns="{_OFFICE}/spreadsheetml/2006/main"'
        package.writestr("xl/workbook.xml", f'<workbook {space} xmlns:r="{_REL}"><sheets>{names}</sheets></workbook>')
        files = [f"worksheets/sheet{n}.xml" for n in range(len(sheets))]
        package.writestr("xl/_rels/workbook.xml.rels", _relations(*files))
        strings = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
        package.writestr("xl/sharedStrings.xml", f"<sst {space}>{strings}</sst>")
        for file, rows in zip(files, sheets.values(), strict=True):
            xml = ""
            for number, row in enumerate(rows, 1):
                xml += f'<row r="{number}">'
                for column, cell in enumerate(row):
                    place = f'r="{chr(ord("B") + column)}{number}"'
                    if isinstance(cell, str):
                        xml += f'<c {place} t="s"><v>{texts.index(cell)}</v></c>'
                    else:
                        xml += f"<c {place}><v>{cell}</v></c>"
                xml += "</row>"
            package.writestr(f"xl/{file}", f"<worksheet {space}><sheetData>{xml}</sheetData></worksheet>")


def write_pptx(path: Path, slides: list[tuple[str, list[str], str]]) -> None:
    """Slides: (title, paragraphs, speaker's notes)."""
    spaces = f'xmlns:a="{_OFFICE}/drawingml/2006/main" xmlns:p="{_OFFICE}/presentationml/2006/main" xmlns:r="{_REL}"'

    def shape(kind: str, paragraphs: list[str]) -> str:
        text = "".join(f"<a:p><a:r><a:t>{escape(one)}</a:t></a:r></a:p>" for one in paragraphs)
        mark = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
        return f"<p:sp>{mark}<p:txBody>{text}</p:txBody></p:sp>"

    with zipfile.ZipFile(path, "w") as package:
        ids = "".join(f'<p:sldId id="{n}" r:id="r{n}"/>' for n in range(len(slides)))
        package.writestr("ppt/presentation.xml", f"<p:presentation {spaces}>{ids}</p:presentation>")
        files = [f"slides/slide{n}.xml" for n in range(len(slides))]
        package.writestr("ppt/_rels/presentation.xml.rels", _relations(*files))
        for n, (title, paragraphs, notes) in enumerate(slides):
            shapes = shape("title", [title]) + shape("body", paragraphs) + shape("sldNum", [str(n)])
            package.writestr(f"ppt/slides/slide{n}.xml", f"<p:sld {spaces}>{shapes}</p:sld>")
            package.writestr(f"ppt/slides/_rels/slide{n}.xml.rels", _relations(f"../notesSlides/notesSlide{n}.xml"))
            page = shape("body", [notes]) if notes else ""
            package.writestr(f"ppt/notesSlides/notesSlide{n}.xml", f"<p:notes {spaces}>{page}</p:notes>")


def write_epub(path: Path, title: str, chapters: list[str]) -> None:
    """Chapters of HTML, stored in an order that is not the reading order."""
    items = "".join(f'<item id="c{n}" href="text/chapter%20{n}.xhtml"/>' for n in reversed(range(len(chapters))))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    with zipfile.ZipFile(path, "w") as package:
        package.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        )
        package.writestr(
            "OEBPS/book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<dc:title>{title}</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
        )
        for n, chapter in enumerate(chapters):
            package.writestr(f"OEBPS/text/chapter {n}.xhtml", f"<html><body>{chapter}</body></html>")
