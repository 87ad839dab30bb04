"""What a person asks of a search: scores, filters, each statement once, both languages, exact codes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.errors import AdvisorError
from app.library.duplicates import say_the_same
from app.library.filters import Filters
from app.library.library import Library
from app.settings import Settings

REPORT = (
    "Eleven of the 96 adapters in row four trained at half width after the riser boards were changed. "
    "The jobs lost a third of their speed until the boards were changed back. {end}\n"
)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory, model_home: Path, e5: Any) -> Iterator[Library]:
    """The shipped notes and a few documents in one language each."""
    folder = tmp_path_factory.mktemp("documents")
    texts = {
        "风扇手册.md": "# 风扇告警手册\n\n叶交换机坏一个风扇，最多还能运行72小时；坏两个必须在30分钟内关机。\n",
        "drill.md": "# Subnet manager drill\n\nThe standby took over after 23 seconds; running traffic went on.\n",
        "risers.txt": REPORT.format(end="We closed the case."),
        "risers-copy.txt": REPORT.format(end="We closed this case."),
        "risers-revised.txt": REPORT.replace("Eleven", "Twelve").replace("96", "98").format(end="We closed the case."),
        "codes.txt": "Set RING_BUFFER_DEPTH_MAX to 64 on the probes.\n",
        "codes-too.txt": "Set RING_BUFFER_DEPTH_MIN to 8 on the probes.\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    home = tmp_path_factory.mktemp("mixed-home")
    (home / "models").symlink_to(model_home / "models")
    library = Library.open(Settings(home=home, _env_file=None), embeddings=e5)  # type: ignore[call-arg]
    library.ensure_notes()
    assert not library.ingest([folder]).failed
    yield library
    library.close()


def names(library: Library, query: str, **options: Any) -> list[str]:
    return [hit.passage.document for hit in library.search(query, **options)]


def test_each_language_finds_what_only_the_other_has(mixed: Library) -> None:
    assert names(mixed, "how long may a leaf switch run with one failed fan?")[0] == "风扇手册.md"
    assert "drill.md" in names(mixed, "子网管理器主备切换演练用了几秒")


def test_near_duplicates_are_folded_and_revised_figures_are_not(mixed: Library) -> None:
    found = names(mixed, "adapters at half width after riser boards were changed", k=10)
    assert len({"risers.txt", "risers-copy.txt"} & set(found)) == 1
    assert "risers-revised.txt" in found


def test_a_revised_figure_makes_another_statement() -> None:
    words = frozenset(["standby", "took", "over", "after", "23", "seconds", "traffic", "went", "on", "before"])
    assert not say_the_same(words, words - {"before"} | {"ever"})  # 9 of 11 words: below nine tenths
    many = words | {f"w{letter}" for letter in "abcdefghijklmnop"}
    assert say_the_same(many, many - {"before"})
    assert not say_the_same(many, many - {"23"} | {"24"})


def test_codes_are_exact(mixed: Library) -> None:
    assert names(mixed, "RING_BUFFER_DEPTH_MAX", k=1) == ["codes.txt"]
    assert names(mixed, "RING_BUFFER_DEPTH_MIN", k=1) == ["codes-too.txt"]
    for code in ("NCCL_IB_GID_INDEX", "NCCL_IB_SPLIT_DATA_ON_QPS", "rx_discards_phy", "PortXmitWait"):
        assert code in mixed.search(code, k=1)[0].passage.text, code


def test_filters(mixed: Library) -> None:
    query = "PFC watchdog"
    assert {hit.passage.language for hit in mixed.search(query, k=5, filters=Filters(language="zh"))} == {"zh"}
    chosen = mixed.document("pfc.en.md").id
    assert set(names(mixed, query, k=5, filters=Filters(documents=(chosen,)))) == {"pfc.en.md"}
    assert set(names(mixed, "half width", k=5, filters=Filters(source="risers-rev"))) == {"risers-revised.txt"}
    recent = mixed.search(query, k=5, filters=Filters(since="2026-09"))
    for hit in recent:
        sources = mixed.note_sources(hit.passage.document_id)
        dates = [date for source in sources.values() if (date := source.get("date", "")) != "undated"]
        assert max(dates, default="2026-09") >= "2026-09", hit.passage.document
    with pytest.raises(AdvisorError, match="is not a date"):
        Filters(since="last week")
    for text in ("2026-13", "2026-02-30", "26", "2026-1", "undated"):
        with pytest.raises(AdvisorError, match="not a date"):
            Filters(since=text)
    assert not mixed.search(query, k=5, filters=Filters(since="2099"))  # an undated source is not the newest


def test_scores_fall_and_stay_between_nothing_and_one(mixed: Library) -> None:
    for query in ("PFC死锁", "half width", "InfiniBand vs RoCE", "NCCL_IB_GID_INDEX"):
        scores = [hit.score for hit in mixed.search(query, k=10)]
        assert scores == sorted(scores, reverse=True), query
        assert all(0 < score <= 1 for score in scores), query


def test_both_sides_of_a_comparison_are_found(mixed: Library) -> None:
    topics = [hit.passage.topic for hit in mixed.search("credits vs PFC", k=5)]
    assert "infiniband-lossless" in topics
    assert "pfc" in topics


def test_slips_of_the_finger_do_no_harm(mixed: Library) -> None:
    for wrong, right in (("infinband latancy", "infiniband latency"), ("PFC headrom", "PFC headroom")):
        assert names(mixed, wrong, k=3) == names(mixed, right, k=3)


def test_the_nearest_is_shown_as_weak_where_nothing_is_clear(mixed: Library) -> None:
    query = "cheapest way to wire 32 gpus"  # of our field, but no passage is about it
    assert mixed.search(query) == []
    weak = mixed.search(query, weak=True)
    assert weak
    assert all(hit.weak for hit in weak)
    assert mixed.search("how do I cook rice", weak=True) == []
    assert not any(hit.weak for hit in mixed.search("PFC deadlock", weak=True))
