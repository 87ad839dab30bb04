"""PDF pages as people lay them out: columns, tables over pages, running heads, sentences over page ends."""

from pathlib import Path

from app.library.formats.pdf_layout import text_of_pages
from app.library.reading import read
from app.library.splitting import split
from tests.library.documents import Placed, write_pdf

LIMIT = 10 * 2**20


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    lines = [f"Left line {n} about the leaf switches of it" for n in range(20)]
    more = [f"Right line {n} about the spine switches of it" for n in range(20)]
    page: Placed = [(60, 720 - 14 * n, line) for n, line in enumerate(lines)]
    page += [(320, 720 - 14 * n, line) for n, line in enumerate(more)]
    write_pdf(tmp_path / "a.pdf", [page])
    assert read(tmp_path / "a.pdf", max_bytes=LIMIT).text.split("\n") == [*lines, *more, ""]


def test_rows_of_a_table_keep_their_header_over_pages_and_passages(tmp_path: Path) -> None:
    rows = [(f"Model {n} of the vendor", str(2 * n + 10), f"{n},500") for n in range(1, 121)]
    pages: list[str | Placed] = []
    for first in range(0, 120, 40):
        page: Placed = [(60, 740, "Switch"), (300, 740, "Ports"), (400, 740, "Price (USD)")] if first == 0 else []
        for at, row in enumerate(rows[first : first + 40]):
            page += [(x, 720 - 14 * at, cell) for x, cell in zip((60, 300, 400), row, strict=True)]
        pages.append(page)
    write_pdf(tmp_path / "a.pdf", pages)
    content = read(tmp_path / "a.pdf", max_bytes=LIMIT)
    found = [line for line in content.text.split("\n") if line.startswith("| Model")]
    assert found == [f"| {' | '.join(row)} |" for row in rows]
    for piece in split(content.text, page_starts=content.page_starts):
        passage = piece.context + content.text[piece.start : piece.end]
        assert "| Switch | Ports | Price (USD) |" in passage
        assert piece.page == 1 + (int(passage.split("Model ")[1].split(" ")[0]) - 1) // 40


def test_columns_that_cannot_be_told_apart_still_have_their_header() -> None:
    page = "Speed Reach Power of each end\nDR4 500 9.5\nFR4 2000 10\nLR4 10000 12\nThat is all.\n"
    rows = "| DR4 500 9.5 |\n| FR4 2000 10 |\n| LR4 10000 12 |"
    assert text_of_pages([page], {})[0] == f"| Speed Reach Power of each end |\n| --- |\n{rows}\n\nThat is all.\n"


def test_prose_that_ends_in_numbers_is_no_table() -> None:
    page = "It was so in 2019\nand then again in 2020\nbut no more.\n"
    assert text_of_pages([page], {})[0] == page


def test_running_heads_and_page_numbers_go_and_rows_stay() -> None:
    pages = []
    for n in range(4):
        rows = "".join(f"Row {n}{m} says {n * 9 + m} and {m}.\n" for m in range(6))
        pages.append(f"Confidential\nThe book, page {n + 1} of 4\n{rows}{n + 1}\n")
    text, starts = text_of_pages(pages, {})
    assert "Confidential" not in text
    assert "page" not in text
    assert [line for line in text.split("\n") if line] == [
        f"Row {n}{m} says {n * 9 + m} and {m}." for n in range(4) for m in range(6)
    ]
    assert [text[start:].split(" ")[1] for start in starts] == ["00", "10", "20", "30"]


def test_a_sentence_goes_on_over_lines_and_pages() -> None:
    chinese = ["当交换机的缓存水位达到101\n千字节时，端口会发送暂停帧", "，避免丢包。\n以上是全部说明。\n"]
    text, starts = text_of_pages(chinese, {})
    assert text == "当交换机的缓存水位达到101千字节时，端口会发送暂停帧，避免丢包。\n以上是全部说明。\n"
    assert text[starts[1] :].startswith("，避免丢包")
    english, _ = text_of_pages(["The switches of this fab-\nric are all of one kind and", "have 64 ports each.\n"], {})
    assert english == "The switches of this fabric are all of one kind and\n\nhave 64 ports each.\n"


def test_a_title_that_a_program_filled_in_is_none(tmp_path: Path) -> None:
    for said, title in (("about:blank", ""), ("Microsoft Word - report.docx", ""), ("RoCE at scale", "RoCE at scale")):
        write_pdf(tmp_path / "a.pdf", ["Text."], title=said)
        assert read(tmp_path / "a.pdf", max_bytes=LIMIT).title == title


def test_a_pdf_without_a_password_to_open_it_is_read(tmp_path: Path) -> None:
    """Encrypted so that it may not be changed or printed, as vendors do; nothing is asked for to read it."""
    write_pdf(tmp_path / "a.pdf", ["Ports: 64."], password="")
    assert read(tmp_path / "a.pdf", max_bytes=LIMIT).text == "Ports: 64.\n"
