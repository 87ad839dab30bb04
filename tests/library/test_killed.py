"""An ingest that is killed, at more than fifty random moments: the next one ends where an uninterrupted one does."""

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from app.library.library import Library
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings

ROOT = Path(__file__).parents[2]
POINTS = 60  # every fifth is killed twice before it may finish
AT_ONCE = 2


class Forker:
    """Starts ingests in processes of their own, one at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.library.forking"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ingest(self, settings: Settings, folder: Path, kill_after_s: float | None = None) -> tuple[int, float]:
        """Exit code (negative: the signal) and seconds taken."""
        assert self._process.stdin and self._process.stdout
        job = [str(settings.home), str(settings.knowledge), str(folder), kill_after_s]
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        code, seconds = json.loads(self._process.stdout.readline())
        return code, seconds

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=20)


@pytest.fixture
def forkers() -> Iterator[Queue[Forker]]:
    queue: Queue[Forker] = Queue()
    made = [Forker() for _ in range(AT_ONCE)]
    for one in made:
        queue.put(one)
    yield queue
    for one in made:
        one.close()


def write_documents(folder: Path, version: int) -> None:
    """Of 16 documents, the second version changes 5, removes 3, adds 4, spoils one and mends one."""
    folder.mkdir(exist_ok=True)
    numbers = range(16) if version == 1 else [*range(13), *range(16, 20)]
    for number in numbers:
        edition = version if number < 5 else 1
        sections = "\n\n".join(
            f"## Section {part}\n\nSwitch d{number}p{part} of edition {edition} has {part + 2} ports."
            for part in range(6)
        )
        (folder / f"d{number:02}.md").write_text(f"# Document {number}\n\n{sections}\n")
    for number in set(range(20)) - set(numbers):
        (folder / f"d{number:02}.md").unlink(missing_ok=True)
    (folder / ("bad.md" if version == 1 else "d06.md")).write_bytes(b"")
    if version == 2:
        (folder / "bad.md").write_text("# Mended\n\nNow with text.\n")


def state(settings: Settings) -> Mapping[str, Any]:
    """All that a library holds, apart from row numbers, generations and times."""
    library = Library.open(settings, embeddings=HashEmbeddings())
    parts = library._parts
    ids, vectors = parts.store.vectors(sorted(parts.store.ids()))
    database = parts._database
    database.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    found = {
        "sound": database.rows("PRAGMA integrity_check"),
        "documents": database.rows("SELECT id, name, sha256, size, revision, text FROM documents ORDER BY id"),
        "passages": database.rows('SELECT id, document_id, section, start, "end", text FROM passages ORDER BY id'),
        "words": database.rows("SELECT p.id, w.content FROM words w LEFT JOIN passages p ON p.number = w.rowid "
                               "ORDER BY p.id"),
        "failures": database.rows("SELECT id, name, path, reason FROM failures ORDER BY id"),
        "unsettled": database.rows("SELECT id FROM unsettled"),
        "vectors": {id_: [round(float(value), 5) for value in row] for id_, row in zip(ids, vectors, strict=True)},
        "found": [(hit.passage.id, hit.score) for hit in library.search("Switch d03p4 of edition 2", k=8)],
    }  # fmt: skip
    library.close()
    return found


@pytest.mark.slow
def test_kills_leave_nothing_that_the_next_run_does_not_mend(
    forkers: Queue[Forker], settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    forker = forkers.get()
    write_documents(folder, 1)
    assert forker.ingest(settings, folder)[0] == 0
    write_documents(folder, 2)
    updated, fresh = at(settings, tmp_path / "updated"), at(settings, tmp_path / "fresh")
    shutil.copytree(settings.home, updated.home, symlinks=True)
    seconds = []
    for whole in (updated, fresh):
        code, taken = forker.ingest(whole, folder)
        assert code == 0
        seconds.append(taken)
    expected = [state(updated), state(fresh)]
    forkers.put(forker)
    # The spoilt document's older version is kept where there was one.
    assert [len(one["documents"]) for one in expected] == [18, 17]
    for one in expected:
        assert len(one["vectors"]) == len(one["passages"]) == len(one["words"]) > 90
        assert [row[3] for row in one["failures"]] == ["it is empty"]
        assert one["unsettled"] == []

    def killed_and_mended(number: int) -> tuple[int, Mapping[str, Any]]:
        """How many of the kills met a living ingest, and what the library holds in the end."""
        chance = random.Random(number)
        home = at(settings, tmp_path / f"home{number}")
        if not number % 2:
            shutil.copytree(settings.home, home.home, symlinks=True)
        forker = forkers.get()
        try:
            moments = [chance.uniform(0, 0.9 * seconds[number % 2]) for _ in range(2 if number % 5 == 0 else 1)]
            codes = [forker.ingest(home, folder, moment)[0] for moment in moments]
            assert set(codes) <= {-signal.SIGKILL, 0}
            assert forker.ingest(home, folder)[0] == 0
        finally:
            forkers.put(forker)
        found = state(home)
        shutil.rmtree(home.home)
        return codes.count(-signal.SIGKILL), found

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(killed_and_mended, range(POINTS)))
    assert sum(kills for kills, _ in results) >= 50
    for number, (_, found) in enumerate(results):
        for part, wanted in expected[number % 2].items():
            assert found[part] == wanted, (number, part)


def at(settings: Settings, home: Path) -> Settings:
    return settings.model_copy(update={"home": home})


def test_the_comparison_would_see_what_is_lost(settings: Settings, tmp_path: Path) -> None:
    """A vector less, or a word more, is another state."""
    write_documents(tmp_path / "docs", 1)
    library = Library.open(settings, embeddings=HashEmbeddings())
    library.ingest([tmp_path / "docs"])
    library.close()
    before = state(settings)
    assert state(settings) == before
    database = sqlite3.connect(settings.home / "library.sqlite3")
    database.execute("UPDATE words SET content = content || ' more' WHERE rowid = 1")
    database.commit()
    database.close()
    assert state(settings)["words"] != before["words"]
    library = Library.open(settings, embeddings=HashEmbeddings())
    library._parts.store.delete(sorted(library._parts.store.ids())[:1])
    library.close()
    with pytest.raises(ValueError, match="zip"):
        dict(zip(before["vectors"], state(settings)["vectors"], strict=True))
