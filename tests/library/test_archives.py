"""Zip files as folders: what is taken in, what is refused with one line, and what goes with its archive."""

import zipfile
from pathlib import Path

import pytest

from app.library import archives
from app.library.library import Library


def write_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def failures(library: Library, *paths: Path) -> dict[str, str]:
    return {failure.name: failure.reason for failure in library.ingest(paths).failed}


def test_members_are_documents_that_come_change_and_go_with_the_archive(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    archive = write_zip(
        folder / "all.ZIP", {"a.md": b"# Alpha\n\nThe alpha switch has 64 ports.\n", "x/b.txt": b"beta", "c.bin": b"?"}
    )
    assert library.ingest([folder]).added == ("a.md", "b.txt")
    hit = library.search("alpha switch ports", k=1)[0]
    assert library.document(hit.passage.document_id).path == f"{archive}/a.md"
    assert library.ingest([archive]).unchanged == ("a.md", "b.txt")

    write_zip(archive, {"a.md": b"# Alpha\n\nThe alpha switch has 128 ports.\n"})
    report = library.ingest([archive])
    assert (report.updated, report.removed) == (("a.md",), ("b.txt",))

    archive.write_bytes(b"PK damaged")
    report = library.ingest([folder])
    assert report.removed == ()  # a damaged archive says nothing about its documents
    assert "damaged" in report.failed[0].reason
    archive.unlink()
    (folder / "other.md").write_text("# Other\n\nText.\n")
    assert library.ingest([folder]).removed == ("a.md",)
    assert library.search("alpha switch ports") == []


def test_what_must_not_be_unpacked_is_refused_by_name(library: Library, tmp_path: Path) -> None:
    path = write_zip(
        tmp_path / "bad.zip",
        {
            "../up.md": b"# Up",
            "/root.md": b"# Root",
            "bomb.txt": b"0" * 30_000_000,
            "in.zip": b"PK",
            "good.md": b"# Good",
        },
    )
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("link.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    report = library.ingest([path])
    assert report.added == ("good.md",)
    assert {failure.name: failure.reason for failure in report.failed} == {
        "up.md": "its name leads out of the zip file",
        "root.md": "its name leads out of the zip file",
        "bomb.txt": "it is packed suspiciously tightly (a zip bomb?)",
        "in.zip": "zip files inside zip files are not opened",
        "link.md": "links in zip files are not followed",
    }
    assert not (tmp_path / "up.md").exists()
    assert not (tmp_path.parent / "up.md").exists()


def test_a_bomb_of_many_small_members_is_refused_whole(library: Library, tmp_path: Path) -> None:
    members = {f"f{number}.txt": b"0123456789 " * 200_000 for number in range(20)}  # 44 MB from some 0.2 MB
    bomb = write_zip(tmp_path / "many.zip", members)
    assert bomb.stat().st_size < 300_000
    good = tmp_path / "good.md"
    good.write_text("# Good\n\nA leaf has 64 ports.\n")
    report = library.ingest([bomb, good])
    assert [one.reason for one in report.failed] == ["it is packed suspiciously tightly (a zip bomb?)"]
    assert report.added == ("good.md",)


def test_an_archive_that_lies_about_its_size_is_stopped(library: Library, tmp_path: Path) -> None:
    path = write_zip(tmp_path / "lie.zip", {"a.txt": b"0123456789" * 10_000})
    data = path.read_bytes()
    size = (100_000).to_bytes(4, "little")
    assert data.count(size) == 2
    path.write_bytes(data.replace(size, (10).to_bytes(4, "little")))
    assert "unpack" in failures(library, path)["a.txt"]


def test_archives_with_too_much_in_them_are_refused_whole(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_zip(tmp_path / "many.zip", {f"{number}.txt": b"text" for number in range(4)})
    monkeypatch.setattr(archives, "_MOST_MEMBERS", 3)
    assert failures(library, path) == {"many.zip": "it holds 4 files; the limit is 3"}
    monkeypatch.setattr(archives, "_MOST_MEMBERS", 9)
    monkeypatch.setattr(archives, "_MOST_BYTES", 15)
    assert "unpacks to" in failures(library, path)["many.zip"]


def test_chinese_names_of_old_zip_programs(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "zh.zip", {"AAAA.md": b"# A"})
    data = path.read_bytes().replace(b"AAAA", "网络".encode("gb18030"))
    path.write_bytes(data)
    assert [member.name for member in archives.members(path)] == ["网络.md"]
