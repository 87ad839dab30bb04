"""Ingest: what is added, updated, skipped, removed, refused; and that what is removed is gone."""

import os
import shutil
from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.library import sources
from app.library.document import IngestReport, Progress
from app.library.library import Library
from app.library.lock import writer_lock
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    (made / "sub").mkdir(parents=True)
    (made / "a.md").write_text("# Alpha\n\nThe alpha switch has 64 ports.\n")
    (made / "sub" / "b.txt").write_text("The beta switch has 32 ports.\n")
    return made


def names(library: Library) -> dict[str, str]:
    return {document.name: document.status for document in library.documents()}


def stored_ids(library: Library) -> tuple[set[str], set[str]]:
    return library._parts.manifest.passage_ids(), library._parts.store.ids()


def test_a_folder_then_again_then_changed(library: Library, embeddings: HashEmbeddings, folder: Path) -> None:
    assert library.ingest([folder]) == IngestReport(added=("a.md", "b.txt"))
    assert library.ingest([folder, folder / "a.md", str(folder)]) == IngestReport(unchanged=("a.md", "b.txt"))
    assert embeddings.embedded == 2

    os.utime(folder / "a.md", (1, 1))  # looks changed, says the same
    assert library.ingest([folder]).unchanged == ("a.md", "b.txt")
    assert embeddings.embedded == 2

    before = library.generation()
    (folder / "a.md").write_text("# Alpha\n\nThe alpha switch has 128 ports.\n")
    report = library.ingest([folder])
    assert (report.updated, report.unchanged) == (("a.md",), ("b.txt",))
    assert library.generation() > before
    assert [hit.passage.text for hit in library.search("alpha switch ports", k=1)] == [
        "The alpha switch has 128 ports."
    ]
    manifest, vectors = stored_ids(library)
    assert manifest == vectors
    assert len(manifest) == 2


def test_vanished_files_are_removed_from_the_folder_that_is_ingested(library: Library, folder: Path) -> None:
    library.ingest([folder])
    (folder / "sub" / "b.txt").unlink()
    assert library.ingest([folder / "a.md"]).removed == ()  # a file says nothing about its neighbours
    assert library.ingest([folder]).removed == ("b.txt",)
    assert names(library) == {"a.md": "ready"}
    assert library.search("beta switch") == []


def test_an_emptied_folder_removes_nothing_silently(library: Library, folder: Path) -> None:
    library.ingest([folder])
    (folder / "a.md").unlink()
    (folder / "sub" / "b.txt").unlink()
    report = library.ingest([folder])  # as an unmounted disk looks
    assert report.removed == ()
    assert "folder is empty now; its 2 documents were kept" in report.failed[0].reason
    assert names(library) == {"a.md": "ready", "b.txt": "ready"}


def test_two_files_of_equal_text_are_two_and_names_stay_apart(library: Library, folder: Path) -> None:
    (folder / "sub" / "a.md").write_bytes((folder / "a.md").read_bytes())
    assert library.ingest([folder]).added == ("a.md", "sub/a.md", "b.txt")
    assert set(names(library)) == {"a.md", "sub/a.md", "b.txt"}
    assert library.document("a.md").sha256 == library.document("sub/a.md").sha256


def test_links_out_of_the_folder_are_not_followed(library: Library, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nNot for the library.\n")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "in.md").symlink_to(folder / "a.md")
    (folder / "up").symlink_to(tmp_path)
    assert library.ingest([folder]).added == ("a.md", "b.txt")
    assert library.ingest([folder / "out.md"]).added == ("secret.md",)  # asked for by name: what it leads to


def test_failures_are_named_and_listed_until_mended_or_dismissed(library: Library, folder: Path) -> None:
    (folder / "bad.pdf").write_text("no pdf")
    (folder / "空.md").write_bytes(b"")
    report = library.ingest([folder, folder / "missing.md"])
    assert {failure.name: failure.reason for failure in report.failed} == {
        "bad.pdf": "it is not a PDF file",
        "空.md": "it is empty",
        "missing.md": "there is no such file",
    }
    assert report.added == ("a.md", "b.txt")
    assert names(library)["bad.pdf"] == "failed"
    assert library.document("bad.pdf").error == "it is not a PDF file"
    with pytest.raises(AdvisorError, match="could not be read: it is not a PDF file"):
        library.text(library.document("bad.pdf").id)

    (folder / "空.md").write_text("# Mended\n\nNow with text.\n")
    assert library.ingest([folder]).added == ("空.md",)
    library.remove("bad.pdf")
    assert set(names(library).values()) == {"ready"}


def test_a_failed_file_that_is_deleted_is_no_longer_listed(library: Library, folder: Path) -> None:
    (folder / "bad.pdf").write_text("no pdf")
    library.ingest([folder, folder / "missing.md"])
    (folder / "bad.pdf").unlink()
    library.ingest([folder / "a.md"])
    assert set(names(library)) == {"a.md", "b.txt", "bad.pdf", "missing.md"}
    library.ingest([folder])
    assert set(names(library)) == {"a.md", "b.txt"}


def test_a_spoilt_new_version_leaves_the_old_one(library: Library, folder: Path) -> None:
    library.ingest([folder])
    (folder / "a.md").write_bytes(b"")
    assert [failure.reason for failure in library.ingest([folder]).failed] == ["it is empty"]
    document = library.document("a.md")
    assert (document.status, document.error) == ("ready", "it is empty")
    assert library.search("alpha switch")


def test_remove_takes_vectors_words_and_text(library: Library, folder: Path) -> None:
    library.ingest([folder])
    gone = library.remove("a.md")
    assert gone.name == "a.md"
    manifest, vectors = stored_ids(library)
    assert manifest == vectors
    assert len(vectors) == 1
    assert library._parts.index.document_frequency(["alpha"]) == {}
    with pytest.raises(AdvisorError, match="no document"):
        library.text(gone.id)
    with pytest.raises(AdvisorError, match=r"Did you mean b\.txt"):
        library.document("b.text")


def test_nothing_of_a_removed_document_stays_on_disk(library: Library, settings: Settings, folder: Path) -> None:
    (settings.home / "uploads").mkdir()
    mine, theirs = settings.home / "uploads" / "mine.md", folder / "theirs.md"
    for path in (mine, theirs):
        path.write_text(f"# Quagga {path.stem}\n\nThe zorilla switch {path.stem} has 64 ports.\n")
    library.ingest([folder, mine])
    assert library.remove("mine.md").path == str(mine.resolve())
    library.remove("theirs.md")
    assert not mine.exists()  # a copy of ours
    assert theirs.exists()  # the reader's own file
    files = [path for path in settings.home.rglob("*") if path.is_file() and "models" not in path.parts]
    assert len(files) > 3
    for path in files:
        held = path.read_bytes().lower()
        assert b"zorilla" not in held, path
        assert b"quagga" not in held, path
    assert library.search("alpha switch", k=1)[0].passage.document == "a.md"


def test_a_reindex_that_is_stopped_is_finished_by_the_next_ingest(
    settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        (folder / f"n{number}.md").write_text(f"# N{number}\n\nSwitch number {number}.\n")
    first = Library.open(settings, embeddings=HashEmbeddings("hash-one"))
    first.ingest([folder])
    first.close()
    second = Library.open(settings, embeddings=HashEmbeddings("hash-two"))
    seen: list[str] = []

    def stop(progress: Progress) -> None:
        seen.append(progress.line())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        second.reindex(stop)
    assert seen[0].startswith("64/102, ")
    second.close()
    third = Library.open(settings, embeddings=HashEmbeddings("hash-two"))
    third.ingest([])
    manifest, vectors = stored_ids(third)
    assert manifest == vectors
    assert third.search("alpha switch has 64 ports", k=1)[0].passage.document == "a.md"
    third.close()


def test_dry_run_changes_nothing(library: Library, folder: Path) -> None:
    (folder / "bad.pdf").write_text("no pdf")
    report = library.ingest([folder], dry_run=True)
    assert (report.added, report.dry_run) == (("a.md", "b.txt"), True)
    assert [failure.name for failure in report.failed] == ["bad.pdf"]
    assert report.summary() == "Dry run: 2 added, 1 failed."
    assert report.summary("zh") == "试运行：新增 2 篇，失败 1 篇。"
    assert library.documents() == []


def test_progress_tells_of_every_file(library: Library, folder: Path) -> None:
    (folder / "bad.pdf").write_text("no pdf")
    seen: list[Progress] = []
    library.ingest([folder], on_progress=seen.append)
    assert [(one.done, one.total, one.name, one.status) for one in seen] == [
        (1, 3, "a.md", "added"),
        (2, 3, "bad.pdf", "failed"),
        (3, 3, "b.txt", "added"),
        (3, 3, "b.txt", "embedding"),
    ]
    assert seen[-1].remaining_s == 0 and seen[-1].share == 1


def test_progress_goes_on_inside_a_large_file(library: Library, folder: Path) -> None:
    sections = (f"## Port {number}\n\n" + f"Port {number} of the gamma switch is up. " * 12 for number in range(300))
    (folder / "a.md").write_text("# Gamma\n\n" + "\n\n".join(sections))
    seen: list[Progress] = []
    library.ingest([folder / "a.md"], on_progress=seen.append)
    inside = [one for one in seen if one.status == "embedding"]
    assert len(inside) >= 4
    assert [one.part for one in inside if one.part] == sorted(one.part for one in inside if one.part)
    assert inside[-1].part == (inside[-1].passages,) * 2 and inside[-1].passages == library.document("a.md").passages
    shares = [one.share for one in seen]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1
    assert seen[0].passages == 0  # read, and nothing embedded yet


def test_notes_come_go_and_cannot_be_removed(library: Library, settings: Settings) -> None:
    assert len(library.ensure_notes().added) == 4
    assert library.ensure_notes().unchanged == (
        "optics.en.md",
        "optics.zh.md",
        "pfc-deadlock.en.md",
        "pfc-deadlock.zh.md",
    )
    note = library.document("pfc-deadlock.en.md")
    assert (note.kind, note.topic, note.language, note.title) == (
        "note",
        "pfc-deadlock",
        "en",
        "PFC deadlock",
    )
    assert library.note_sources(note.id)["paper"]["trust"] == "paper"
    assert library.text(note.id).startswith("# PFC deadlock\n")
    with pytest.raises(AdvisorError, match=r"comes with the program.*notes.pfc-deadlock\.en\.md"):
        library.remove("pfc-deadlock.en.md")
    # Ingesting the folder of notes by hand does not make second copies.
    assert library.ingest([settings.knowledge]).added == ()

    (settings.knowledge / "notes" / "optics.zh.md").unlink()
    path = settings.knowledge / "notes" / "optics.en.md"
    path.write_text(path.read_text().replace("into bits", "into symbols"))
    report = library.ensure_notes()
    assert (report.updated, report.removed) == (("optics.en.md",), ("optics.zh.md",))


def test_passages_are_exact_stretches_of_the_text(library: Library, folder: Path) -> None:
    library.ensure_notes()
    library.ingest([folder])
    hits = library.search("PFC deadlock alpha switch ports", k=50)
    assert hits
    for hit in hits:
        passage = library.passage(hit.passage.id)
        assert passage == hit.passage
        assert library.text(passage.document_id)[passage.start : passage.end] == passage.text
    with pytest.raises(AdvisorError, match="Ask the question again"):
        library.passage("none")


def test_a_new_splitter_reads_everything_again(library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library.ingest([folder])
    monkeypatch.setattr(sources, "READING_VERSION", "next")
    monkeypatch.setattr("app.library.document_reader.READING_VERSION", "next")
    assert library.ingest([folder]).updated == ("a.md", "b.txt")


def test_a_changed_glossary_finds_words_anew(settings: Settings, folder: Path) -> None:
    (folder / "zh.md").write_text("# 说明\n\n多路径散列冲突很常见。\n", encoding="utf-8")
    first = Library.open(settings, embeddings=HashEmbeddings())
    first.ingest([folder])
    assert first._parts.index.document_frequency(["多路径散列"]) == {}
    first.close()
    with (settings.knowledge / "glossary.yaml").open("a", encoding="utf-8") as file:
        file.write("- {en: multipath hashing, zh: 多路径散列}\n")
    second = Library.open(settings, embeddings=HashEmbeddings())
    second.ensure_notes()
    assert second._parts.index.document_frequency(["多路径散列"]) == {"多路径散列": 1}
    second.close()


def test_another_model_is_refused_until_reindexed(settings: Settings, folder: Path) -> None:
    first = Library.open(settings, embeddings=HashEmbeddings("hash-one"))
    first.ingest([folder])
    first.close()
    second = Library.open(settings, embeddings=HashEmbeddings("hash-two"))
    for action in (lambda: second.search("alpha"), lambda: second.ingest([folder]), second.ensure_notes):
        with pytest.raises(AdvisorError, match=r"hash-one, not hash-two.*fabric-advisor ingest --reindex"):
            action()
    assert second.reindex() == 2
    assert second.search("alpha switch", k=1)[0].passage.document == "a.md"
    manifest, vectors = stored_ids(second)
    assert manifest == vectors
    second.close()


def test_lost_vectors_are_made_again_and_stray_ones_removed(library: Library, folder: Path) -> None:
    library.ingest([folder])
    store = library._parts.store
    lost = sorted(store.ids())[0]
    store.delete([lost])
    store.upsert(["stray-1", "stray-2"], [[0.1] * 64, [0.2] * 64], [{"kind": "document"}] * 2)
    library.ingest([])
    manifest, vectors = stored_ids(library)
    assert manifest == vectors
    assert lost in vectors


def test_a_deleted_folder_of_vectors_is_noticed_and_made_again(settings: Settings) -> None:
    first = Library.open(settings, embeddings=HashEmbeddings())
    first.ensure_notes()
    first.close()
    shutil.rmtree(settings.home / "chroma")
    second = Library.open(settings, embeddings=HashEmbeddings())
    assert second.search("PFC deadlock", k=1)[0].passage.topic == "pfc-deadlock"  # few: made again at once
    manifest, vectors = stored_ids(second)
    assert manifest == vectors
    second.close()


def test_many_lost_vectors_are_an_error_that_says_how_to_mend_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Library.open(settings, embeddings=HashEmbeddings())
    first.ensure_notes()
    first._parts.store.delete(sorted(first._parts.store.ids())[:3])  # some only: a search would find the others
    monkeypatch.setattr("app.library.library._MENDED_IN_A_SEARCH", 2)
    first.close()
    second = Library.open(settings, embeddings=HashEmbeddings())
    with pytest.raises(AdvisorError, match=r"3 passages have lost their vectors.*fabric-advisor ingest"):
        second.search("PFC deadlock")
    second.ingest([])  # what the command does without a path
    assert second.search("PFC deadlock", k=1)[0].passage.topic == "pfc-deadlock"
    second.close()


def test_two_ingests_at_once_wait_for_each_other(
    library: Library, settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.library.library._WAIT_S", 0.2)
    with (
        writer_lock(settings.home / "ingest.lock", wait_s=0),
        pytest.raises(AdvisorError, match="Another ingest is writing"),
    ):
        library.ingest([folder])
    assert library.ingest([folder]).added == ("a.md", "b.txt")


def test_a_home_that_cannot_be_made_is_one_clear_line(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AdvisorError, match="FABRIC_ADVISOR_HOME"):
        Library.open(settings.model_copy(update={"home": tmp_path / "file" / "home"}))
    settings.home.joinpath("library.sqlite3").write_bytes(b"not a database, but long enough to be read" * 30)
    with pytest.raises(AdvisorError, match="cannot be opened: file is not a database"):
        Library.open(settings)
