"""Web pages, logs, dates in spreadsheets, reading by several threads, watching, and dismissing failures."""

import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.library.document import IngestReport, Progress
from app.library.formats.nccl_log import read_log
from app.library.formats.xlsx import read_xlsx
from app.library.library import Library
from app.library.watching import changes
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings

PAGES = {
    "/page": ("text/html", b"<html><title>Gamma</title><body><p>The gamma switch has 32 ports.</p></body></html>"),
    "/raw/notes.md": ("text/plain", b"# Delta\n\nThe delta switch has 48 ports.\n"),
    "/big": ("text/plain", b"x" * 3_000_000),
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.end_headers()
            return
        kind, body = PAGES.get(self.path, ("", b""))
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    made = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()


def test_web_pages_come_in_by_their_address(server: str, settings: Settings) -> None:
    library = Library.open(settings.model_copy(update={"max_file_mb": 2}), embeddings=HashEmbeddings())
    report = library.ingest([f"{server}/page", f"{server}/raw/notes.md"])
    assert report.added == ("127.0.0.1/page", "127.0.0.1/notes.md")
    hit = library.search("gamma switch ports", k=1)[0]
    assert (hit.passage.title, hit.passage.url) == ("Gamma", f"{server}/page")
    assert library.ingest([f"{server}/page"]) == IngestReport(unchanged=("127.0.0.1/page",))
    reasons = [one.reason for one in library.ingest([f"{server}/{name}" for name in ("none", "big", "away")]).failed]
    assert reasons[0] == "the server answers 404 Not Found"
    assert reasons[1] == "it has more than 2 MB, the limit"
    assert "file:///etc/passwd" in reasons[2]
    assert library.ingest(["http://127.0.0.1:1/closed"]).failed[0].reason.startswith("it cannot be fetched")
    library.close()


LOG = """# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 1073741824
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  1073741824     268435456     float     sum      -1    26217   40.96   76.79      0    26194   40.99   76.86      0
  2147483648     536870912     float     sum      -1    51406   41.78   78.33      0    51406   41.77   78.33      0
# Avg bus bandwidth    : 77.5
"""


@pytest.mark.parametrize("label", ["", "0: "])
def test_logs_of_nccl_tests_are_tables_with_units(label: str) -> None:
    content = read_log("".join(f"{label}{line}\n" for line in LOG.splitlines()).encode())
    assert content.title == "nccl-tests all_reduce_perf"
    header = next(line for line in content.text.splitlines() if line.startswith("| size"))
    assert "out-of-place busbw (GB/s)" in header
    assert "in-place algbw (GB/s)" in header
    assert "| 2147483648 | 536870912 | float | sum | -1 | 51406 | 41.78 | 78.33 | 0 | 51406 | 41.77 | 78.33 | 0 |" in (
        content.text
    )
    assert "Avg bus bandwidth" in content.text
    assert read_log(b"plain\n").text == "plain\n"


def test_dates_of_a_spreadsheet_are_dates(tmp_path: Path) -> None:
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parts = {
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{rel}"><sheets><sheet name="S" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Target="sheet.xml"/></Relationships>',
        "xl/styles.xml": f"<styleSheet {main}><numFmts>"
        '<numFmt numFmtId="170" formatCode="yyyy&quot;年&quot;m&quot;月&quot;"/>'
        '<numFmt numFmtId="171" formatCode="0.0 &quot;days&quot;"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="22"/>'
        "</cellXfs></styleSheet>",
        "xl/sheet.xml": f"<worksheet {main}><sheetData><row>"
        '<c r="A1" s="1"><v>45292</v></c><c r="B1" s="2"><v>45323</v></c><c r="C1" s="3"><v>45292</v></c>'
        '<c r="D1" s="4"><v>45292.75</v></c><c r="E1"><v>45292</v></c></row></sheetData></worksheet>',
    }
    with zipfile.ZipFile(tmp_path / "s.xlsx", "w") as package:
        for name, text in parts.items():
            package.writestr(name, text)
    assert "| 2024-01-01 | 2024-02-01 | 45292 | 2024-01-01 18:00 | 45292 |" in read_xlsx(tmp_path / "s.xlsx").text


def test_the_result_does_not_depend_on_the_number_of_readers(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02}.md").write_text(f"# Document {number}\n\nSwitch {number} has {number} ports.\n")
    (folder / "07.md").write_bytes(b"")
    states, seen = [], []
    for workers in (1, 4):
        home = settings.model_copy(update={"home": tmp_path / f"home{workers}"})
        library = Library.open(home, embeddings=HashEmbeddings())
        progress: list[Progress] = []
        report = library.ingest([folder], workers=workers, on_progress=progress.append)
        seen.append([(one.done, one.name, one.status) for one in progress])
        ids = [place.id for place in library._parts.index.places()]  # in the order they were stored
        states.append((report, ids))
        library.close()
    assert states[0] == states[1]
    assert seen[0] == seen[1]
    assert len(states[0][0].added) == 39


def test_named_files_are_read_again_though_unchanged(library: Library, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Alpha\n\nThe alpha switch.\n")
    library.ingest([tmp_path / "a.md"])
    assert library.ingest([tmp_path / "a.md"], afresh=True).updated == ("a.md",)
    assert library._parts.store.ids() == library._parts.manifest.passage_ids()


def test_a_failure_is_dismissed_and_an_older_version_stays(library: Library, tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("# Alpha\n\nThe alpha switch.\n")
    library.ingest([page])
    with pytest.raises(AdvisorError, match="has not failed"):
        library.dismiss("a.md")
    page.write_bytes(b"")
    library.ingest([page])
    assert library.document("a.md").error == "it is empty"
    library.dismiss("a.md")
    assert (library.document("a.md").status, library.document("a.md").error) == ("ready", "")


def test_watching_tells_of_changes_that_have_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "a.md"
    page.write_text("one")
    looks = iter([lambda: None, lambda: page.write_text("three"), lambda: page.write_text("sixsix"), lambda: None])
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        next(looks)()

    monkeypatch.setattr("app.library.watching.time.sleep", sleep)
    told = changes([str(tmp_path)], every_s=0.5)
    next(told)
    assert slept == []
    next(told)  # after a look without change, two with changes, and one at which it stayed the same
    assert slept == [0.5] * 4


def test_progress_is_a_line_with_rate_and_time_left() -> None:
    assert Progress(10, 40, "a.md", "added", 50, 5.0).line() == "10/40, 10 passages/s, 0:15 left  a.md: added"
    inside = Progress(1, 1, "big.md", "embedding", 640, 40.0, 0.75, (640, 2560))
    assert inside.line() == "1/1, 16 passages/s, 2:00 left  big.md: 640 of 2,560 passages"
    assert Progress(1, 2, "a.md", "unchanged", 0, 4000.0).line() == "1/2, 1:06:40 left  a.md: unchanged"
