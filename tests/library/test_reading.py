"""Reading files: the text as it is, or one clear reason why not."""

import zipfile
from pathlib import Path

import pytest

from app.library.formats.content import UnreadableError
from app.library.reading import read
from tests.library.documents import write_docx, write_epub, write_pdf, write_pptx, write_xlsx

LIMIT = 10 * 2**20
CHINESE = "无损网络的时延与带宽。\n交换机的数据在网络中传输，不会因为拥塞而丢包。\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gb18030", "gbk"])
def test_encodings_of_simplified_chinese(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "说明.TXT").write_bytes(CHINESE.replace("\n", "\r\n").encode(encoding))
    assert read(tmp_path / "说明.TXT", max_bytes=LIMIT).text == CHINESE


def test_big5_and_plain_ascii(tmp_path: Path) -> None:
    text = "網路的延遲與頻寬：交換機不會因為擁塞而遺失資料，這是一個無損的網路。\n"
    (tmp_path / "a.md").write_bytes(text.encode("big5"))
    assert read(tmp_path / "a.md", max_bytes=LIMIT).text == text
    (tmp_path / "b.md").write_bytes(b"plain\n")
    assert read(tmp_path / "b.md", max_bytes=LIMIT).text == "plain\n"


def test_markdown_front_matter(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text(
        "---\ntitle: A title\ntopic: t\nlanguage: zh\n"
        "sources:\n  a: {title: T, url: 'https://x', date: 2024-08}\n"
        "---\n# Heading\n\nText.[^a]\n",
        encoding="utf-8",
    )
    content = read(tmp_path / "n.md", max_bytes=LIMIT)
    assert (content.title, content.topic, content.language) == ("A title", "t", "zh")
    assert content.text == "# Heading\n\nText.[^a]\n"
    assert content.sources == {"a": {"title": "T", "url": "https://x", "date": "2024-08"}}


def test_pdf_text_and_pages(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.PDF", ["Headroom is 200 KB at 400G.\nSecond line.", "Credits are 64 bytes < 1 KB."])
    content = read(tmp_path / "a.PDF", max_bytes=LIMIT)
    assert content.text == "Headroom is 200 KB at 400G.\nSecond line.\n\nCredits are 64 bytes < 1 KB.\n"
    assert content.page_starts == (0, content.text.index("Credits"))


def test_docx_keeps_signs_headings_and_tables(tmp_path: Path) -> None:
    write_docx(
        tmp_path / "报告.docx",
        [
            ("Heading1", "RoCE 报告"),
            ("Normal", "Loss <0.1 % & latency >2 us: NCCL_IB_TC=106"),
            ("Heading2", "Prices"),
            [["Speed", "USD"], ["400G", "900 | 950"]],
        ],
    )
    content = read(tmp_path / "报告.docx", max_bytes=LIMIT)
    assert content.title == "RoCE 报告"
    assert content.text == (
        "# RoCE 报告\n\nLoss <0.1 % & latency >2 us: NCCL_IB_TC=106\n\n## Prices\n\n"
        "| Speed | USD |\n| --- | --- |\n| 400G | 900 \\| 950 |\n"
    )


HTML = """<!DOCTYPE html><html><head><title>RoCE guide</title>
<script>var evil = "<p>no</p>";</script>
<link rel="canonical" href="https://example.org/roce"></head><body>
<nav><a href="/">Home</a></nav><header>Sign in</header><div role="banner">Cookies!</div>
<article><header><h1>RoCE &amp; IB</h1></header>
<p>Loss is &lt;0.1%.<br>Set <code>NCCL_IB_TC=106</code> &mdash; now.</p>
<h2>Table</h2><table><tr><th>Speed</th><th>KB</th></tr><tr><td>400G</td><td>200</td></tr></table>
<ol><li>one<li>two</ol><pre>a = 1
  b = 2</pre><aside>Buy now</aside></article>
<footer>Copyright</footer></body></html>"""


def test_html_without_boilerplate(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HTML, encoding="utf-8")
    content = read(tmp_path / "a.html", max_bytes=LIMIT)
    assert (content.title, content.url) == ("RoCE guide", "https://example.org/roce")
    assert content.text == (
        "# RoCE & IB\n\nLoss is <0.1%.\nSet NCCL_IB_TC=106 — now.\n\n## Table\n\n"
        "| Speed | KB |\n| --- | --- |\n| 400G | 200 |\n\n1. one\n\n2. two\n\n```\na = 1\n  b = 2\n```\n"
    )


def test_html_declares_its_encoding(tmp_path: Path) -> None:
    page = "<html><head><meta charset='gb2312'></head><body><p>无损网络</p></body></html>"
    (tmp_path / "a.htm").write_bytes(page.encode("gb18030"))
    assert read(tmp_path / "a.htm", max_bytes=LIMIT).text == "无损网络\n"


def test_html_of_a_page_that_is_all_form(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<body><form><p>Ports: 64 &lt; 128</p></form></body>")
    assert read(tmp_path / "a.html", max_bytes=LIMIT).text == "Ports: 64 < 128\n"


def test_xlsx(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "a.xlsx", {"Prices": [["Switch", "USD <list>"], ["Q3400 & co", 61000.5]], "空": []})
    assert read(tmp_path / "a.xlsx", max_bytes=LIMIT).text == (
        "## Prices\n\n|  | Switch | USD <list> |\n| --- | --- | --- |\n|  | Q3400 & co | 61000.5 |\n"
    )


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.csv", ";"), ("a.TSV", "\t")])
def test_csv(tmp_path: Path, name: str, separator: str) -> None:
    rows = [["Speed", "Price"], ["400G", '"1 | 2"'], ["800G", "3"], ["", ""]]
    (tmp_path / name).write_text("\n".join(separator.join(row) for row in rows))
    assert read(tmp_path / name, max_bytes=LIMIT).text == (
        "| Speed | Price |\n| --- | --- |\n| 400G | 1 \\| 2 |\n| 800G | 3 |\n"
    )


def test_pptx(tmp_path: Path) -> None:
    write_pptx(tmp_path / "a.pptx", [("标题 <1>", ["One & two", "Three"], "Say this."), ("Second", ["Four"], "")])
    content = read(tmp_path / "a.pptx", max_bytes=LIMIT)
    assert content.text == "## 标题 <1>\n\nOne & two\n\nThree\n\nSay this.\n\n## Second\n\nFour\n\n"
    assert content.page_starts == (0, content.text.index("## Second"))


def test_epub(tmp_path: Path) -> None:
    write_epub(tmp_path / "a.epub", "Fabrics", ["<h1>One</h1><p>Leaf &amp; spine.</p>", "<h1>Two</h1><p>Core.</p>"])
    content = read(tmp_path / "a.epub", max_bytes=LIMIT)
    assert (content.title, content.text) == ("Fabrics", "# One\n\nLeaf & spine.\n\n# Two\n\nCore.\n")


def test_mail(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(
        "From: a@example.org\r\nTo: b@example.org\r\nSubject: =?utf-8?b?5oql5Lu3?=\r\n"
        "Date: Mon, 1 Jun 2026 10:00:00 +0000\r\nContent-Type: text/plain; charset=gb18030\r\n\r\n"
        "64 张网卡的报价 < 100 万元。\r\n".encode("gb18030")
    )
    assert read(tmp_path / "a.eml", max_bytes=LIMIT).text == (
        "# 报价\n\nFrom: a@example.org\nTo: b@example.org\nDate: Mon, 01 Jun 2026 10:00:00 +0000\n\n"
        "64 张网卡的报价 < 100 万元。\n"
    )


def _zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", b"0" * (30 * 2**20))


def _entities(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("word/document.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')


def _entities_utf16(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as package:
        text = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
        package.writestr("word/document.xml", text.encode("utf-16"))


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("a.md", lambda path: path.write_bytes(b""), "it is empty"),
        ("a.txt", lambda path: path.write_text(" \n\n"), "there is no text in it"),
        ("a.md", lambda path: path.write_bytes(bytes(range(256)) * 40), "it is a binary file, not text"),
        (
            "a.md",
            lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99)),
            "named .md but is a PNG image",
        ),
        ("a.txt", lambda path: path.write_bytes(b"%PDF-1.7\n"), "named .txt but is a PDF"),
        ("a.pdf", lambda path: path.write_text("hello"), "it is not a PDF file"),
        ("a.pdf", lambda path: path.write_bytes(b"%PDF-1.4\n" + b"x" * 500), "the PDF is damaged"),
        ("a.pdf", lambda path: write_pdf(path, ["", "", ""]), r"no text layer \(3 pages, probably scanned\)"),
        ("a.pdf", lambda path: write_pdf(path, ["secret"], password="x"), "encrypted with a password"),
        (
            "a.docx",
            lambda path: path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600)),
            "encrypted with a password, or",
        ),
        ("a.docx", lambda path: path.write_bytes(b"PK\x03\x04" + bytes(600)), "it is damaged"),
        ("a.docx", _zip_bomb, "zip bomb"),
        ("a.docx", _entities, "declares entities"),
        ("a.docx", _entities_utf16, "declares entities"),
        ("a.docx", lambda path: zipfile.ZipFile(path, "w").close(), "not a DOCX file"),
        ("a.xlsx", lambda path: write_docx(path, []), "not an Excel workbook"),
        ("a.pptx", lambda path: write_docx(path, []), "not a PowerPoint presentation"),
        ("a.epub", lambda path: write_docx(path, []), "not an EPUB book"),
        ("a.eml", lambda path: path.write_text("hello"), "not an e-mail"),
        ("a.exe", lambda path: path.write_bytes(b"MZ"), r"type \.exe are not read; the types are \.md"),
        ("a.md", lambda path: path.mkdir(), "it is not a regular file"),
        ("a.md", lambda path: None, "cannot be opened"),
        ("a.md", lambda path: path.write_text("---\na: [\n---\nx"), "front matter is not valid YAML"),
    ],
)
def test_one_clear_reason(tmp_path: Path, name: str, make: object, reason: str) -> None:
    make(tmp_path / name)  # type: ignore[operator]
    with pytest.raises(UnreadableError, match=reason) as caught:
        read(tmp_path / name, max_bytes=LIMIT)
    assert "\n" not in str(caught.value)


def test_a_300_mb_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.md"
    with path.open("wb") as file:
        file.truncate(300 * 2**20)  # sparse: reading it would take memory, refusing it must not
    with pytest.raises(UnreadableError, match=r"300 MB; the limit is 200 MB .*FABRIC_ADVISOR_MAX_FILE_MB"):
        read(path, max_bytes=200 * 2**20)
