"""Several processes on one library, and a process that is stopped: readers see the truth, nothing is lost."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.library import ingest
from app.library.library import Library
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings

ROOT = Path(__file__).parents[2]


def start(settings: Settings, action: str, what: Path | str, *, pause_s: float = 0) -> subprocess.Popen[str]:
    arguments = [str(settings.home), str(settings.knowledge), str(pause_s), action, str(what)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.library.ingest_process", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "started\n", process.communicate()[1]
    return process


def finish(process: subprocess.Popen[str]) -> None:
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors


def write_documents(folder: Path, count: int, version: int = 1) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        sections = "\n\n".join(
            f"## Section {part}\n\nSwitch d{number}p{part} of version {version} has {part + 2} ports."
            for part in range(8)
        )
        (folder / f"d{number}.md").write_text(f"# Document {number}\n\n{sections}\n")


def test_a_reader_sees_what_another_process_brings_in_and_takes_away(
    library: Library, settings: Settings, tmp_path: Path
) -> None:
    library.ensure_notes()
    assert library.search("deadlock switches", k=1)[0].passage.document == "pfc-deadlock.en.md"
    folder = tmp_path / "docs"
    write_documents(folder, 3)
    finish(start(settings, "ingest", folder))
    # As near as its own words: found by its vector and by its words.
    query = "Document 2 › Section 5 Switch d2p5 of version 1 has 7 ports."
    vector = HashEmbeddings().embed_query(query)
    found = library.search(query, k=1)[0]
    assert (found.passage.document, found.passage.section) == ("d2.md", "Section 5")
    assert found.passage.id in dict(library._parts.table.rows().similarities([vector])[0].best(3))

    finish(start(settings, "remove", "d2.md"))
    assert all(hit.passage.document != "d2.md" for hit in library.search(query, k=50))
    assert found.passage.id not in library._parts.table.rows().place
    assert "d2.md" not in {document.name for document in library.documents()}


def test_searching_while_another_process_ingests(settings: Settings, tmp_path: Path) -> None:
    """Chroma's files are for one process at a time: this crashed, and damaged them, before each use held a lock."""
    folder = tmp_path / "docs"
    write_documents(folder, 1200)  # 9,600 passages: Chroma writes its index out every thousand
    Library.open(settings, embeddings=HashEmbeddings()).ensure_notes()
    page = Library.open(settings, embeddings=HashEmbeddings())
    page.search("deadlock switches")  # what loads slowly is loaded before
    writer = start(settings, "ingest", folder)
    sizes = []
    while writer.poll() is None:
        command = Library.open(settings, embeddings=HashEmbeddings())  # as one search on the command line
        for library in (page, command):
            assert library.search("deadlock switches", k=1)[0].passage.topic == "pfc-deadlock"
        sizes.append(len(page._parts.table.rows().ids))
        command.close()
    finish(writer)
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 2, "the searches did not meet the ingest"
    page.search("deadlock switches")
    assert page._parts.table.rows().missing == ()
    assert len(page._parts.table.rows().ids) == len(state(page)[1]) > 9600
    page.close()


def test_two_threads_share_a_library(library: Library, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    write_documents(tmp_path / "docs", 6)
    library.ensure_notes()
    with ThreadPoolExecutor(4) as pool:
        work = pool.submit(library.ingest, [tmp_path / "docs"])
        searches = [pool.submit(library.search, "deadlock switches", k=3) for _ in range(60)]
        assert all(one.result()[0].passage.topic == "pfc-deadlock" for one in searches)
        assert len(work.result().added) == 6
    query = "Document 5 › Section 3 Switch d5p3 of version 1 has 5 ports."
    assert library.search(query, k=1)[0].passage.document == "d5.md"


def state(library: Library) -> tuple[dict[str, tuple[str, int]], set[str]]:
    """Documents by content, and the ids of the vectors, which must be the ids of the passages."""
    parts = library._parts
    vectors = parts.store.ids()
    assert vectors == parts.manifest.passage_ids()
    assert parts.manifest.unsettled() == []
    return {one.name: (one.sha256, one.passages) for one in library.documents()}, vectors


@pytest.mark.parametrize("step", ["add_unsettled", "upsert", "put", "delete"])
def test_stopped_before_or_after_each_write(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The same without chance: an update is stopped right before and right after each of its four writes."""
    folder = tmp_path / "docs"

    class Stopped(BaseException):
        pass

    for before in (True, False):
        write_documents(folder, 2, version=1)
        library = Library.open(settings, embeddings=HashEmbeddings())
        library.ingest([folder])
        write_documents(folder, 2, version=2)
        target = library._parts.store if step in ("upsert", "delete") else library._parts.manifest
        original = getattr(target, step)

        def stop(*arguments: object, now: bool = before, call: object = original) -> None:
            if not now:
                call(*arguments)  # type: ignore[operator]
            raise Stopped

        with monkeypatch.context() as patch, pytest.raises(Stopped):
            patch.setattr(target, step, stop)
            library.ingest([folder])
        # A reader in between sees one version or the other, whole.
        texts = {hit.passage.text.split(" of ")[1][:9] for hit in library.search("Switch d1p1 version", k=50)}
        assert texts in ({"version 1"}, {"version 2"})
        library.close()

        again = Library.open(settings, embeddings=HashEmbeddings())
        report = again.ingest([folder])
        assert {*report.updated, *report.unchanged} == {"d0.md", "d1.md"}
        documents, _ = state(again)
        assert [passages for _, passages in documents.values()] == [8, 8]
        assert "version 2" in again.text(again.document("d1.md").id)
        again.close()


def test_ctrl_c_keeps_what_is_done(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    write_documents(folder, 40)
    process = start(settings, "ingest", folder, pause_s=0.002)
    library = Library.open(settings, embeddings=HashEmbeddings())
    deadline = time.monotonic() + 30
    while not library.documents() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    kept = len(library.documents())
    assert ingest._PASSAGES_AT_ONCE // 8 <= kept < 40
    report = library.ingest([folder])
    assert (len(report.unchanged), len(report.added)) == (kept, 40 - kept)
    state(library)
    library.close()
