"""The chat store on the real SQLite: order, isolation, ratings, export, errors where it cannot be used."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.advisor.answer import Answer, Assumption, Citation, Reason, Verdict
from app.advisor.chats import ChatStore
from app.errors import AdvisorError
from app.settings import Settings

CITATION = Citation(
    marker=1,
    document="pfc.en.md",
    document_id="d1",
    passage_id="p1",
    title="Priority flow control",
    url="https://example.org/pfc",
    section="PFC › Headroom",
    passage="A pause frame stops one priority.",
    start=10,
    end=43,
    sources=({"title": "IEEE 802.1Qbb", "url": "https://example.org/qbb", "date": "2011", "trust": "standard"},),
)
CALCULATION = {
    "id": "T1",
    "tool": "cost",
    "label": "roce",
    "inputs": {"gpus": 64, "switch": None},
    "values": {
        "capex_usd": {"value": 400_000, "unit": "USD", "low": 300_000, "high": 500_000},
        "tiers": {"value": 1, "unit": "", "low": None, "high": None},
    },
    "assumptions": [],
    "sources": [],
    "rows": [],
}


def answer(question: str = "RoCE vs IB for a 64-GPU cluster") -> Answer:
    return Answer(
        question=question,
        language="en",
        kind="decision",
        spec={"gpus": 64},
        verdict=Verdict("roce", "medium", (Reason("cheaper", "calculator", "roce", "T1"),), ("8192 GPUs",)),
        text="**RoCE** costs $400k [1].",
        citations=(CITATION,),
        calculations=(CALCULATION,),
        assumptions=(Assumption("gpus_per_node", "8 GPUs per node"),),
        timings_ms={"total": 12.5},
    )


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


@pytest.fixture
def store(settings: Settings) -> ChatStore:
    return ChatStore.open(settings)


def test_an_answer_comes_back_as_it_was_given(store: ChatStore) -> None:
    chat = store.new()
    assert store.append(chat, answer()) == 1
    assert store.append(chat, answer("What about 512?"), {"years": 3}) == 2
    assert store.history(chat) == [answer(), answer("What about 512?")]
    assert [turn.changes for turn in store.turns(chat)] == [{}, {"years": 3}]


def test_ids_are_url_safe_and_differ(store: ChatStore) -> None:
    ids = {store.new() for _ in range(50)}
    assert len(ids) == 50
    assert all(id.replace("-", "").replace("_", "").isalnum() and len(id) >= 20 and id[0] != "-" for id in ids)
    assert all(store.exists(id) for id in ids)


def test_an_id_chosen_by_the_user_starts_a_chat(store: ChatStore) -> None:
    assert not store.exists("my-project.1")
    assert store.history("my-project.1") == []
    store.append("my-project.1", answer())
    assert store.exists("my-project.1")


@pytest.mark.parametrize("id", ["", "a b", "../x", "x" * 65, "集群", "a\n"])
def test_an_unusable_id_is_refused(store: ChatStore, id: str) -> None:
    with pytest.raises(AdvisorError, match="conversation id"):
        store.append(id, answer())
    with pytest.raises(AdvisorError, match="conversation id"):
        store.history(id)


def test_chats_are_listed_latest_first_with_cut_titles_and_without_empty_ones(settings: Settings) -> None:
    clock = iter(datetime(2026, 12, 1, tzinfo=UTC) + timedelta(minutes=minute) for minute in range(100))
    store = ChatStore.open(settings, now=lambda: next(clock))
    store.append("old", answer("short\n question"))
    store.append("long", answer("word " * 30))
    store.append("zh", answer("集群" * 50))
    store.append("old", answer("again"))
    store.new()
    listed = store.chats()
    assert [one.id for one in listed] == ["old", "zh", "long"]
    assert [one.turns for one in listed] == [2, 1, 1]
    assert listed[0].title == "short question"
    assert listed[1].title == "集群" * 29 + "集…"
    assert listed[2].title == ("word " * 11).strip() + "…"
    assert all(len(one.title) <= 60 for one in listed)


def test_deleting_a_chat_deletes_its_turns_and_ratings_only(store: ChatStore) -> None:
    for id in ("one", "two"):
        store.append(id, answer())
        store.rate(id, 1, 1)
    store.delete("one")
    store.delete("never-was")
    assert not store.exists("one")
    assert [one.id for one in store.chats()] == ["two"]
    store.append("one", answer("a new start"))
    assert [turn.rating for turn in store.turns("one")] == [None]
    assert [turn.rating for turn in store.turns("two")] == [1]


def test_a_rating_replaces_the_earlier_one_and_can_be_taken_back(store: ChatStore) -> None:
    store.append("c", answer())
    store.rate("c", 1, 1)
    store.rate("c", 1, 0, "the price is too low")
    assert (store.turns("c")[0].rating, store.turns("c")[0].comment) == (0, "the price is too low")
    store.rate("c", 1, None)
    assert store.turns("c")[0].rating is None
    with pytest.raises(AdvisorError, match="turn 2"):
        store.rate("c", 2, 1)
    with pytest.raises(AdvisorError, match="rating"):
        store.rate("c", 1, 5)


def test_threads_that_append_at_once_each_get_their_own_number(store: ChatStore) -> None:
    numbers: list[int] = []

    def add() -> None:
        for _ in range(5):
            numbers.append(store.append("shared", answer()))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(1, 21))
    assert [turn.number for turn in store.turns("shared")] == list(range(1, 21))


def test_another_process_sees_what_was_stored(settings: Settings, store: ChatStore) -> None:
    store.append("c", answer())
    script = (
        "import sys; from pathlib import Path; from app.settings import Settings;"
        "from app.advisor.chats import ChatStore;"
        "s = ChatStore.open(Settings(home=Path(sys.argv[1])));"
        "assert s.history('c')[0].verdict.choice == 'roce'; s.append('c', s.history('c')[0])"
    )
    subprocess.run([sys.executable, "-c", script, str(settings.home)], check=True)
    assert len(store.history("c")) == 2


def test_another_database_is_used_where_one_is_named(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", database_url=f"sqlite:///{tmp_path}/elsewhere.db")
    ChatStore.open(settings).append("c", answer())
    assert (tmp_path / "elsewhere.db").is_file()
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("url", ["nonsense", "madeupdb://host/name"])
def test_an_unusable_address_is_one_clear_error(tmp_path: Path, url: str) -> None:
    with pytest.raises(AdvisorError, match="FABRIC_ADVISOR_DATABASE_URL") as caught:
        ChatStore.open(Settings(home=tmp_path, database_url=url))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_database_is_one_clear_error_and_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "chats.sqlite3").write_text("not a database, but somebody's file" * 50)
    with pytest.raises(AdvisorError, match="not a database"):
        ChatStore.open(Settings(home=tmp_path))
    assert (tmp_path / "chats.sqlite3").read_text().startswith("not a database, but")


def test_a_home_that_is_a_file_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(AdvisorError, match="FABRIC_ADVISOR_HOME"):
        ChatStore.open(Settings(home=tmp_path / "home"))


def test_sqlite_is_in_wal_mode(settings: Settings, store: ChatStore) -> None:
    store.append("c", answer())
    engine = sa.create_engine(f"sqlite:///{settings.home}/chats.sqlite3")
    with engine.connect() as connection:
        assert connection.execute(sa.text("PRAGMA journal_mode")).scalar() == "wal"


def test_the_export_lists_question_answer_sources_and_calculations(store: ChatStore) -> None:
    store.append("c", answer())
    assert store.export_markdown("c") == (
        "## RoCE vs IB for a 64-GPU cluster\n\n"
        "**RoCE** costs $400k [1].\n\n"
        "**Sources**\n\n"
        "- [1] Priority flow control › PFC › Headroom; characters 10–43 of pfc.en.md; "
        "IEEE 802.1Qbb, https://example.org/qbb, 2011, standard\n\n"
        "**Assumptions**\n\n"
        "- 8 GPUs per node\n\n"
        "**Calculations**\n\n"
        "- T1 cost roce (gpus = 64): capex_usd = $400k ($300k to $500k); tiers = 1\n"
    )
    assert store.export_markdown("unknown") == ""
