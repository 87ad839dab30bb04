"""Vectors that are lost or damaged: mended at once, or an error that names the command, which then mends it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.library.library import Library
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings

QUERY = "Switch d3p2 has 4 ports"


def with_a_file_in_its_place(chroma: Path) -> None:
    shutil.rmtree(chroma)
    chroma.write_text("not a folder")


@pytest.fixture
def filled(settings: Settings, tmp_path: Path) -> Path:
    """A folder of 60 documents, 240 passages, ingested and closed."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(60):
        parts = "\n\n".join(f"## P{part}\n\nSwitch d{number}p{part} has {part + 2} ports." for part in range(4))
        (folder / f"d{number}.md").write_text(f"# D{number}\n\n{parts}\n")
    library = Library.open(settings, embeddings=HashEmbeddings())
    library.ingest([folder])
    library.close()
    return folder


@pytest.mark.parametrize(
    ("damage", "command"),
    [
        (shutil.rmtree, "fabric-advisor ingest"),
        (lambda chroma: (chroma / "chroma.sqlite3").unlink(), "fabric-advisor ingest"),
        (lambda chroma: (chroma / "chroma.sqlite3").write_bytes(b"garbage" * 999), "fabric-advisor ingest --reindex"),
        (with_a_file_in_its_place, "fabric-advisor ingest --reindex"),
    ],
    ids=["folder", "database", "garbage", "file"],
)
def test_the_error_names_the_command_that_mends_it(
    settings: Settings, filled: Path, damage: Callable[[Path], object], command: str
) -> None:
    damage(settings.home / "chroma")
    library = Library.open(settings, embeddings=HashEmbeddings())
    for _ in range(2):  # the second time says no less than the first
        with pytest.raises(AdvisorError) as caught:
            library.search(QUERY)
        assert f"`{command}`" in str(caught.value)
        assert "\n" not in str(caught.value)
    if command.endswith("--reindex"):
        library.reindex()
    else:
        library.ingest([])
    assert library.search(QUERY, k=1)[0].passage.document == "d3.md"
    assert library._parts.store.ids() == library._parts.manifest.passage_ids()
    assert len(library._parts.store.ids()) == 240
    library.close()


def test_fewer_vectors_than_passages_are_noticed_by_search_and_by_ingest(settings: Settings, filled: Path) -> None:
    library = Library.open(settings, embeddings=HashEmbeddings())
    ids = sorted(library._parts.store.ids())
    library._parts.store.delete(ids[:100])
    with pytest.raises(AdvisorError, match=r"100 passages have lost their vectors.*`fabric-advisor ingest`"):
        library.search(QUERY)
    assert len(library.ingest([filled]).unchanged) == 60  # an ordinary ingest makes them again
    assert library._parts.store.ids() == set(ids)
    library._parts.store.delete(ids[:3])
    library._parts.table.forget()
    assert library.search(QUERY, k=1)[0].passage.document == "d3.md"  # a few are made again by the search itself
    assert library._parts.store.ids() == set(ids)
    library.close()


def test_a_lost_manifest_leaves_no_vectors_of_its_documents(settings: Settings, filled: Path) -> None:
    (settings.home / "library.sqlite3").unlink()
    library = Library.open(settings, embeddings=HashEmbeddings())
    assert library.search(QUERY) == []
    library.ingest([filled / "d3.md"])
    with library._parts.store._client() as client:
        assert [(one.name == library._parts.store._name, one.count()) for one in client.api.list_collections()] == [
            (True, 4)
        ]
    library.close()
