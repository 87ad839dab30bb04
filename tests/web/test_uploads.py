"""Uploaded files keep their names where that is safe, are written whole, and go away with their document."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.web.uploads import safe_name, store


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("report.pdf", "report.pdf"),
        ("网络方案.docx", "网络方案.docx"),
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\files\\a.md", "a.md"),
        (".hidden.md", "hidden.md"),
        ("a\x00b\n.md", "ab.md"),
        ('a:b?"c.md', "a_b__c.md"),
        ("README", "README"),
        ("..", None),
        ("", None),
        (".md", None),
        ("/", None),
    ],
)
def test_names(name: str, kept: str | None) -> None:
    assert safe_name(name) == kept


def test_a_long_name_is_cut_and_keeps_its_type() -> None:
    name = safe_name("长" * 300 + ".pdf")
    assert name is not None
    assert name.endswith(".pdf")
    assert len(name.encode()) <= 200


def test_a_newer_file_replaces_the_older_one_and_nothing_else_is_left(tmp_path: Path) -> None:
    store(tmp_path, "a.md", b"old")
    path = store(tmp_path, "a.md", b"new")
    assert path.read_bytes() == b"new"
    assert [file.name for file in (tmp_path / "uploads").iterdir()] == ["a.md"]


def test_a_home_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(AdvisorError, match="FABRIC_ADVISOR_HOME"):
        store(tmp_path / "home", "a.md", b"x")
