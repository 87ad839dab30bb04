"""Ranking by words in memory gives what FTS5's own ranking gives, and follows every change."""

import random
from pathlib import Path

import pytest

from app.library import word_index
from app.library.library import Library

VOCABULARY = ["leaf", "spine", "port", "交换机", "拥塞", "roce", "nccl_ib_tc", "400g", "optic", "cable"]


def write(folder: Path, seed: int, count: int) -> None:
    chance = random.Random(seed)
    folder.mkdir(exist_ok=True)
    for number in range(count):
        sections = [
            f"## Part {part}\n\n{' '.join(chance.choices(VOCABULARY, weights=range(1, 11), k=chance.randint(1, 40)))}"
            for part in range(5)
        ]
        (folder / f"{seed}-{number}.md").write_text(f"# D{number}\n\n" + "\n\n".join(sections), encoding="utf-8")


def by_fts5(library: Library, names: list[tuple[str, ...]], limit: int) -> list[tuple[str, float]]:
    expression = " OR ".join("(" + " AND ".join(f'"{word}"' for word in name) + ")" for name in names)
    return [
        (id_, score)
        for id_, score in library._parts._database.rows(
            """SELECT p.id, -bm25(words) FROM words JOIN passages p ON p.number = words.rowid
               WHERE words MATCH ? ORDER BY bm25(words), p.number LIMIT ?""",
            (expression, limit),
        )
    ]


@pytest.mark.parametrize(
    "names",
    [
        [("leaf",)],
        [("cable",)],  # in nearly every passage: weighs next to nothing, but counts
        [("nccl_ib_tc",), ("400g",), ("none",)],
        [("leaf", "port"), ("交换机", "拥塞"), ("spine",)],
        [("leaf", "none")],
        [("leaf",), ("leaf", "spine")],  # a word of two names weighs twice where both are there
    ],
)
def test_scores_are_those_of_fts5(library: Library, tmp_path: Path, names: list[tuple[str, ...]]) -> None:
    write(tmp_path / "docs", 1, 12)
    library.ingest([tmp_path / "docs"])
    ours, theirs = library._parts.index.match(names, 1000), by_fts5(library, names, 1000)
    assert {id_ for id_, _ in ours} == {id_ for id_, _ in theirs}
    assert dict(ours) == pytest.approx(dict(theirs), rel=1e-4)
    scores = [score for _, score in ours]
    assert scores == sorted(scores, reverse=True)
    assert library._parts.index.match(names, 3) == ours[:3]


def test_words_follow_what_is_added_changed_and_removed(library: Library, tmp_path: Path) -> None:
    write(tmp_path / "docs", 1, 6)
    library.ingest([tmp_path / "docs"])
    names = [(word,) for word in VOCABULARY]
    library._parts.index.match(names, 100)
    write(tmp_path / "docs", 2, 6)
    write(tmp_path / "docs", 1, 3)
    (tmp_path / "docs" / "1-5.md").unlink()
    library.ingest([tmp_path / "docs"])
    assert dict(library._parts.index.match(names, 1000)) == pytest.approx(dict(by_fts5(library, names, 1000)), rel=1e-4)
    counted = library._parts.index.document_frequency([*VOCABULARY, "none"])
    assert counted == dict(library._parts._database.rows("SELECT term, doc FROM vocabulary WHERE term IN "
                           f"({','.join('?' * len(VOCABULARY))})", VOCABULARY))  # fmt: skip


def test_filters_choose_before_the_best_are_taken(library: Library, tmp_path: Path) -> None:
    library.ensure_notes()
    (tmp_path / "mine.md").write_text("# Mine\n\nA PFC deadlock of my own, between two switches.\n")
    library.ingest([tmp_path / "mine.md"])
    index = library._parts.index
    own = library.document("mine.md").id
    places = {place.id: place for place in index.places()}
    for options, wanted in (
        ({"kind": "note"}, lambda place: place.kind == "note"),
        ({"language": "zh"}, lambda place: place.language == "zh"),
        ({"documents": [own]}, lambda place: place.document_id == own),
        ({"documents": []}, lambda place: False),
    ):
        found = [id_ for id_, _ in index.match([("pfc",), ("switch",)], 1, **options)]  # type: ignore[arg-type]
        every = [id_ for id_, _ in index.match([("pfc",), ("switch",)], 99)]
        assert found == [id_ for id_ in every if wanted(places[id_])][:1], options


def test_only_so_many_words_are_kept(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "docs", 1, 4)
    library.ingest([tmp_path / "docs"])
    monkeypatch.setattr(word_index, "_MOST_BYTES", 900)
    words = library._parts.index._words
    first = words.best([(word,) for word in VOCABULARY], 50)
    assert words._state is not None
    assert 1 <= len(words._state.postings) < len(VOCABULARY)
    assert words._state.bytes == sum(kept.bytes for kept in words._state.postings.values()) <= 900
    assert words.best([(word,) for word in VOCABULARY], 50) == first
