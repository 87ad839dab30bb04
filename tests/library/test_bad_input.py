"""One batch of everything that must not be trusted: each is a line with its name, the rest goes in, nothing is lost."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from app.library.formats.content import UnreadableError
from app.library.library import Library
from app.library.reading import read
from app.settings import Settings
from tests.library.documents import write_encrypted_zip, write_pdf
from tests.library.hash_embeddings import HashEmbeddings

FILES = Path(__file__).with_name("files")
GOOD = "# Good {}\n\nThe good switch number {} has 64 ports.\n"
NESTED = 50_000


def damaged_docx(path: Path) -> None:
    """Sound to its last byte but for the packed text itself."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", os.urandom(20_000).hex())
    data = bytearray(path.read_bytes())
    data[2_000:2_400] = bytes(400)
    path.write_bytes(data)


def docx_of(xml: str, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", xml)


def deep_docx(path: Path) -> None:
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    docx_of(f"<w:document {space}><w:body>{'<w:sdt>' * NESTED}{'</w:sdt>' * NESTED}</w:body></w:document>", path)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def to_passwd(path: Path) -> None:
    path.symlink_to("/etc/passwd")


BAD = {
    "bomb.docx": (lambda path: docx_of("0" * 30_000_000, path), "zip bomb"),
    "broken xml.docx": (lambda path: docx_of("<w:document><w:body>", path), "it is damaged"),
    "deep.docx": (deep_docx, r"nested too deeply|it is damaged|no text"),
    "corrupt.docx": (damaged_docx, "it is damaged"),
    "password.docx": (lambda path: shutil.copy(FILES / "password.docx", path), "it is encrypted with a password"),
    "password.pdf": (lambda path: write_pdf(path, ["Secret."], password="x"), "it is encrypted with a password"),
    "scan.pdf": (lambda path: write_pdf(path, ["", "", ""]), r"no text layer \(3 pages"),
    "binary.md": (lambda path: path.write_bytes(os.urandom(50_000)), "binary file|text encoding"),
    "picture.md": (lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500)), "named .md but is a PNG image"),
    "empty.txt": (lambda path: path.write_bytes(b""), "it is empty"),
    "loop.md": (loop, "a link that leads nowhere"),
    "out.md": (to_passwd, "a link out of the folder"),
    "pipe.md": (os.mkfifo, "not a regular file"),
    "bad.eml": (lambda path: path.write_bytes(b"From: \r\n\r\n" + bytes(99)), "not an e-mail"),
}
GOOD_NAMES = {
    "a.MD": "a.MD",
    "网络方案说明书：" + "很长的文件名" * 12 + ".md": None,
    "line\nbreak.md": "line\nbreak.md",
    "<b>bold<b>.md": None,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    for name, (write, _) in BAD.items():
        write(made / name)
    for number, name in enumerate(GOOD_NAMES):
        (made / name).write_text(GOOD.format(number, number), encoding="utf-8")
    (made / os.fsdecode(b"latin-\xe9.md")).write_text(GOOD.format("x", "x"))
    write_encrypted_zip(made / "password.zip", "secret.md", b"# Secret\n\nText.\n", b"x")
    with zipfile.ZipFile(made / "out.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../up.md", "# Up")
        archive.writestr("inside.md", GOOD.format("z", "z"))
        archive.writestr("bomb.txt", b"0" * 30_000_000)
    return made


@pytest.mark.parametrize("workers", [1, 3])
def test_each_bad_file_is_one_line_and_the_others_go_in(library: Library, folder: Path, workers: int) -> None:
    library.ensure_notes()
    (folder.parent / "before.md").write_text("# Before\n\nThe switch from before has 8 ports.\n")
    library.ingest([folder.parent / "before.md"])
    report = library.ingest([folder], workers=workers)
    reasons = {failure.name: failure.reason for failure in report.failed}
    for name, (_, reason) in BAD.items():
        with pytest.raises(UnreadableError, match=reason):  # only to compare in one way
            raise UnreadableError(reasons.pop(name))
    assert reasons == {
        "secret.md": "it is encrypted with a password",
        "up.md": "its name leads out of the zip file",
        "bomb.txt": "it is packed suspiciously tightly (a zip bomb?)",
    }
    assert all("\n" not in failure.reason for failure in report.failed)
    assert set(report.added) == {*GOOD_NAMES, "latin-\ufffd.md", "inside.md"}
    assert not list(folder.parent.glob("**/up.md"))
    assert "root:" not in "".join(library.text(one.id) for one in library.documents() if one.status == "ready")
    assert library.search("switch from before 8 ports", k=1)[0].passage.document == "before.md"
    assert len(library.search("good switch 64 ports", k=50, only="documents")) >= len(GOOD_NAMES)
    again = library.ingest([folder], workers=workers)
    assert (len(again.unchanged), again.added, again.removed) == (len(GOOD_NAMES) + 2, (), ())


def test_a_fault_of_a_reader_is_a_reason_not_the_end(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text(GOOD.format(1, 1))
    (tmp_path / "b.md").write_text(GOOD.format(2, 2))

    def faulty(path: Path, *, max_bytes: int) -> object:
        if path.name == "a.md":
            raise IndexError("list index\nout of range")
        return read(path, max_bytes=max_bytes)

    monkeypatch.setattr("app.library.document_reader.read", faulty)
    report = library.ingest([tmp_path / "a.md", tmp_path / "b.md"])
    assert report.added == ("b.md",)
    assert report.failed[0].reason == "reading it failed (IndexError: list index out of range)"


def test_paths_that_lead_nowhere_are_named(library: Library, tmp_path: Path) -> None:
    loop(tmp_path / "loop.md")
    report = library.ingest([tmp_path / "loop.md", "~no-such-user/x.md", tmp_path / "none" / ".." / "x.md"])
    assert [failure.reason for failure in report.failed] == ["there is no such file"] * 3


@pytest.mark.slow
def test_a_pdf_of_10_000_pages_is_read(tmp_path: Path) -> None:
    pages = [
        f"The switch book\n{n + 1}\nSwitch {n} has\n{n} ports.\nRack {3 * n} holds it\nby {7 * n} bolts."
        for n in range(10_000)
    ]
    write_pdf(tmp_path / "big.pdf", pages)
    content = read(tmp_path / "big.pdf", max_bytes=200 * 2**20)
    assert len(content.page_starts) == 10_000
    assert content.text[content.page_starts[7_777] :].startswith("Switch 7777 has\n7777 ports.\nRack 23331 holds it")
    assert "book" not in content.text  # running heads and page numbers are no text


FULL_DISK = """
import resource, sys
from pathlib import Path
from app.errors import AdvisorError
from app.library.library import Library
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings

home, docs, limit = sys.argv[1:]
library = Library.open(Settings(home=Path(home), _env_file=None), embeddings=HashEmbeddings())
library.search("switch")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))  # no file may grow beyond it
try:
    library.ingest([docs])
    print("done")
except AdvisorError as error:
    print(error)
print(len(library.search("Switch d0p3 has 3 ports", k=3)))
"""


@pytest.mark.parametrize("limit", [300_000, 1_000_000])
def test_a_full_disk_is_one_line_and_loses_nothing(settings: Settings, tmp_path: Path, limit: int) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()

    def write(first: int, last: int) -> None:
        for number in range(first, last):
            parts = "\n\n".join(
                f"## S{part}\n\nSwitch d{number}p{part} has {part} ports. " + "More is said of it. " * 20
                for part in range(6)
            )
            (docs / f"d{number}.md").write_text(f"# D{number}\n\n{parts}\n")

    write(0, 10)
    first = Library.open(settings, embeddings=HashEmbeddings())
    first.ingest([docs])
    first.close()
    write(10, 200)
    ended = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(settings.home), str(docs), str(limit)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    said, found = ended.stdout.strip().split("\n")  # one line, and the search that still works
    assert "free space" in said
    assert int(found) == 3
    library = Library.open(settings, embeddings=HashEmbeddings())
    kept = {document.name for document in library.documents()}
    assert {f"d{number}.md" for number in range(10)} <= kept
    report = library.ingest([docs])
    assert len(report.added) + len(report.unchanged) == 200
    assert library._parts.store.ids() == library._parts.manifest.passage_ids()
    library.close()
