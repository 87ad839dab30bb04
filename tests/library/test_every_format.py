"""Every format from the file to the passage: exact spans, the language of each, figures under their own header."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from app.library.library import Library
from app.library.reading import read
from app.library.splitting import split
from tests.library.documents import write_docx, write_epub, write_pdf, write_pptx, write_xlsx

LIMIT = 10 * 2**20
EN = "The zebra switch has 64 ports of 400 Gb/s & costs <100 USD."
ZH = "斑马交换机有六十四个端口，每个端口的速率是400千兆；价格不到100美元。"
LOG = """# nThread 1 nGpus 1
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
  1073741824     268435456     float     sum      -1    26217   40.96   76.79      0    26194   40.99   76.86      0
"""


def html_of(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def make_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("内/inside.md", f"# Zebra\n\n{EN}\n\n# 斑马\n\n{ZH}\n")


FORMATS: dict[str, Callable[[Path], object]] = {
    "a.md": lambda path: path.write_text(f"# Zebra\n\n{EN}\n\n# 斑马\n\n{ZH}\n", encoding="utf-8"),
    "b.TXT": lambda path: path.write_bytes(f"{EN}\r\n\r\n{ZH}\r\n".encode("gb18030")),
    "c.txt": lambda path: path.write_bytes(f"{EN}\n\n{ZH}\n".encode("utf-16")),
    "d.txt": lambda path: path.write_bytes(
        f"{EN}\n\n斑馬交換機有六十四個端口，這是一個無損的網路。\n".encode("big5")
    ),
    "e.PDF": lambda path: write_pdf(path, [EN, "Another page about zebra switches."]),
    "f.html": lambda path: path.write_text(f"<h1>Zebra</h1><p>{html_of(EN)}</p><h1>斑马</h1><p>{ZH}</p>"),
    "g.docx": lambda path: write_docx(path, [("Heading1", "Z"), ("Normal", EN), ("Heading1", "斑"), ("Normal", ZH)]),
    "h.pptx": lambda path: write_pptx(path, [("Zebra", [EN], ""), ("斑马", [ZH], "")]),
    "i.xlsx": lambda path: write_xlsx(path, {"Zebra": [["It", "Is"], ["z", EN]], "斑马": [["名", "是"], ["", ZH]]}),
    "j.csv": lambda path: path.write_text(f"Switch,Is\nzebra,{EN}\n斑马,{ZH}\n", encoding="utf-8-sig"),
    "k.epub": lambda path: write_epub(path, "Zebra", [f"<h1>Z</h1><p>{html_of(EN)}</p>", f"<h1>斑</h1><p>{ZH}</p>"]),
    "l.eml": lambda path: path.write_bytes(
        f"From: a@example.org\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{EN}\r\n{ZH}\r\n".encode()
    ),
    "m.log": lambda path: path.write_text(LOG + f"# {EN}\n"),
    "n.zip": make_zip,
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_passages_are_exact_stretches_in_their_own_language(library: Library, tmp_path: Path, name: str) -> None:
    FORMATS[name](tmp_path / name)
    report = library.ingest([tmp_path / name])
    assert (len(report.added), report.failed) == (1, ())
    document = library.document(report.added[0])
    text = library.text(document.id)
    passages = library._parts.index.passages(library._parts.manifest.passage_ids()).values()
    assert passages
    for passage in passages:
        assert text[passage.start : passage.end] == passage.text
    joined = "\n".join(passage.text for passage in passages)
    assert "400 Gb/s & costs <100 USD" in joined or name == "e.PDF"
    languages = {passage.language for passage in passages}
    if name in ("a.md", "f.html", "g.docx", "h.pptx", "i.xlsx", "k.epub", "n.zip"):  # a section of each
        assert languages == {"en", "zh"}
        assert all(("斑马" in passage.text) == (passage.language == "zh") for passage in passages)


def test_a_chinese_sentence_is_never_cut(tmp_path: Path) -> None:
    sentence = "链路层的信用流控逐跳生效；交换机缓存水位达到上限时，端口停止发送；上游因此等待，不会丢包。"
    text = sentence * 60
    found = [text[piece.start : piece.end] for piece in split(text)]
    assert "".join(found) == text
    assert all(one.startswith("链路层") and one.endswith("丢包。") for one in found)


def test_html_cells_over_several_rows_and_columns(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<table><tr><th rowspan=2>Switch<th colspan=2>Ports</tr><tr><th>400G<th>800G</tr>"
        "<tr><td rowspan=2>Q3400<td>288<td>144</tr><tr><td>0<td>72</tr><tr><td>SN<td colspan='2'>64</td></tr></table>"
    )
    assert read(tmp_path / "a.html", max_bytes=LIMIT).text == (
        "| Switch | Ports | Ports |\n| --- | --- | --- |\n| Switch | 400G | 800G |\n"
        "| Q3400 | 288 | 144 |\n| Q3400 | 0 | 72 |\n| SN | 64 | 64 |\n"
    )


def test_saved_pages_lose_what_is_not_theirs(tmp_path: Path) -> None:
    page = (
        "<html><body class='cookie-banner'><div class='cookie-banner x'>We use cookies</div><div id=sidebar>Ads</div>"
        "<div style='color:red; display: none'>Hidden</div><main class=sidebar><h1>RoCE</h1><p>Lossless.</p>"
        "<ul class=breadcrumb><li>Home</ul></main></body></html>"
    )
    (tmp_path / "a.html").write_text(page)
    assert read(tmp_path / "a.html", max_bytes=LIMIT).text == "# RoCE\n\nLossless.\n"
    (tmp_path / "a.mhtml").write_bytes(
        b"From: <Saved by Blink>\r\nSnapshot-Content-Location: https://example.org/roce\r\nSubject: x\r\n"
        b'MIME-Version: 1.0\r\nContent-Type: multipart/related; type="text/html"; boundary="b"\r\n\r\n--b\r\n'
        b"Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        + page.replace("=", "=3D").encode()
        + b"\r\n--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b--\r\n"
    )
    content = read(tmp_path / "a.mhtml", max_bytes=LIMIT)
    assert (content.text, content.url) == ("# RoCE\n\nLossless.\n", "https://example.org/roce")


def test_docx_cells_over_several_rows_and_columns_and_what_is_stored_twice(tmp_path: Path) -> None:
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"

    spaces = (
        'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    )
    box = "<w:p><w:r><w:t>Boxed.</w:t></w:r></w:p>"
    rows = (
        cell("Switch") + cell("Ports", '<w:gridSpan w:val="2"/>'),
        cell("Q3400", '<w:vMerge w:val="restart"/>') + cell("400G") + cell("288"),
        cell("", "<w:vMerge/>") + cell("800G") + cell("144"),
    )
    body = (
        f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
        f"<w:p><w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as package:
        package.writestr("word/document.xml", f"<w:document {spaces}><w:body>{body}</w:body></w:document>")
    assert read(tmp_path / "a.docx", max_bytes=LIMIT).text == (
        "| Switch | Ports | Ports |\n| --- | --- | --- |\n| Q3400 | 400G | 288 |\n| Q3400 | 800G | 144 |\n\nBoxed.\n"
    )


def test_sheets_with_a_title_above_the_header_and_merged_cells(tmp_path: Path) -> None:
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    table = "| Switch | Speed | USD |\n| --- | --- | --- |\n| Q3 | 400G | 1 |\n| Q3 | 800G | 2 |\n| SN | 800G | 3 |\n"
    rows = [["Prices of 2026"], ["Switch", "Speed", "USD"], ["Q3", "400G", "1"], ["", "800G", "2"], ["SN", "800G", "3"]]
    xml = ""
    for number, row in enumerate(rows, 1):
        cells = (
            f'<c r="{column}{number}" t="inlineStr"><is><t>{text}</t></is></c>'
            for column, text in zip("ABC", row, strict=False)
            if text
        )
        xml += f'<row r="{number}">{"".join(cells)}</row>'
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as package:
        sheet = '<sheets><sheet name="S" r:id="r1"/></sheets>'
        package.writestr("xl/workbook.xml", f'<workbook {space} xmlns:r="{rel}">{sheet}</workbook>')
        relation = '<Relationship Id="r1" Target="sheet.xml"/>'
        package.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{relation}</Relationships>")
        merged = '<mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="A3:A4"/><mergeCell ref="odd"/></mergeCells>'
        package.writestr("xl/sheet.xml", f"<worksheet {space}><sheetData>{xml}</sheetData>{merged}</worksheet>")
    assert read(tmp_path / "a.xlsx", max_bytes=LIMIT).text == f"## S\n\nPrices of 2026\n\n{table}"
    lines = "Prices of 2026,,\nSwitch,Speed,USD\nQ3,400G,1\nQ3,800G,2\nSN,800G,3\n"
    (tmp_path / "a.csv").write_text(lines)
    assert read(tmp_path / "a.csv", max_bytes=LIMIT).text == f"Prices of 2026\n\n{table}"


def test_a_csv_cell_of_several_lines(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('Switch,Note\nQ3400,"first line\nsecond line"\n')
    assert "| Q3400 | first line second line |" in read(tmp_path / "a.csv", max_bytes=LIMIT).text
