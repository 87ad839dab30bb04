"""Makes files for tests: small documents of many kinds, written byte by byte."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Sequence
from hashlib import md5
from pathlib import Path
from xml.sax.saxutils import escape

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_PAD = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_PDF_ID = b"0123456789abcdef"
Placed = list[tuple[int, int, str]]  # x and y in points from the lower left, text


def write_pdf(path: Path, pages: Sequence[str | Placed], *, password: str | None = None, title: str = "") -> None:
    """Pages of Latin text, as lines or placed one by one; a page of "" has no text layer. With a password (which may
    be "": none is asked for then) the pages are encrypted, as PDF 1.4 does it with RC4 and 40 bits.
    """
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects: list[bytes] = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    key, secrets = _pdf_key(password) if password is not None else (b"", "")
    for number, page in enumerate(pages):
        if isinstance(page, str):
            lines = " ".join(f"({line}) Tj T*" for line in page.split("\n"))
            text = f"BT /F1 12 Tf 72 720 Td 14 TL {lines} ET" if page else ""
        else:
            text = " ".join(f"BT /F1 10 Tf {x} {y} Td ({line}) Tj ET" for x, y, line in page)
        own = 5 + 2 * number
        stream = text.encode()
        if key:
            stream = _rc4(md5(key + own.to_bytes(3, "little") + b"\0\0").digest()[:10], stream)
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
            + f"/Contents {own} 0 R>>".encode()
        )
        objects.append(f"<</Length {len(stream)}>>stream\n".encode() + stream + b"\nendstream")
    info = ""
    if title:
        objects.append(f"<</Title({title})>>".encode())
        info = f"/Info {len(objects)} 0 R"
    data = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    data += (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R{info}{secrets}>>\n"
        f"startxref\n{len(data)}\n%%EOF"
    ).encode()
    path.write_bytes(data)


def _pdf_key(password: str) -> tuple[bytes, str]:
    """The key of the file and the entries of the trailer that belong to it (PDF Reference 1.4, section 3.5.2)."""
    padded = (password.encode() + _PAD)[:32]
    owner = _rc4(md5(padded).digest()[:5], padded)
    key = md5(padded + owner + (-4).to_bytes(4, "little", signed=True) + _PDF_ID).digest()[:5]
    name, user = _PDF_ID.hex(), _rc4(key, _PAD).hex()
    return key, f"/Encrypt<</Filter/Standard/V 1/R 2/O<{owner.hex()}>/U<{user}>/P -4>>/ID[<{name}><{name}>]"


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    at = 0
    for step in range(256):
        at = (at + state[step] + key[step % len(key)]) % 256
        state[step], state[at] = state[at], state[step]
    one = other = 0
    out = bytearray()
    for byte in data:
        one = (one + 1) % 256
        other = (other + state[one]) % 256
        state[one], state[other] = state[other], state[one]
        out.append(byte ^ state[(state[one] + state[other]) % 256])
    return bytes(out)


def write_encrypted_zip(path: Path, name: str, data: bytes, password: bytes) -> None:
    """One member, stored, in the encryption that every zip program knows (PKZIP)."""
    keys = [0x12345678, 0x23456789, 0x34567890]

    def crc(value: int, byte: int) -> int:  # one step of CRC-32, without its inversions
        return zlib.crc32(bytes([byte]), value ^ 0xFFFFFFFF) ^ 0xFFFFFFFF

    def update(byte: int) -> None:
        keys[0] = crc(keys[0], byte)
        keys[1] = ((keys[1] + (keys[0] & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
        keys[2] = crc(keys[2], keys[1] >> 24)

    def encrypt(byte: int) -> int:
        mask = (keys[2] | 2) & 0xFFFF
        update(byte)
        return byte ^ ((mask * (mask ^ 1)) >> 8 & 0xFF)

    for byte in password:
        update(byte)
    check = zlib.crc32(data)
    secret = bytes(encrypt(byte) for byte in bytes(11) + bytes([check >> 24]) + data)
    own = name.encode()
    common = struct.pack("<HHHHHIIIHH", 20, 1, 0, 0, 0x21, check, len(secret), len(data), len(own), 0)
    local = b"PK\3\4" + common + own + secret
    central = b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + own
    path.write_bytes(local + central + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0))


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
