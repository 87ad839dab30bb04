"""The catalog's files: complete, sourced, fast to read, and refused by name and row where they are wrong."""

import shutil
import time
from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.knowledge import _load, load_catalog

FOLDER = Path(__file__).parents[2] / "knowledge" / "catalog"
FILES = (
    "sources",
    "switches",
    "nics",
    "optics",
    "cables",
    "gpus",
    "servers",
    "services",
    "prices",
    "defaults",
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in FILES:
        shutil.copy(FOLDER / f"{name}.yaml", tmp_path)
    return tmp_path


def test_knowledge_folder_and_catalog_folder_are_the_same() -> None:
    assert load_catalog(FOLDER) is load_catalog(FOLDER.parent)


def test_every_price_is_of_something_in_the_catalog() -> None:
    catalog = load_catalog(FOLDER)
    items = {
        *catalog.switches,
        *catalog.nics,
        *catalog.optics,
        *catalog.cables,
        *catalog.servers,
        *catalog.services,
    }
    assert set(catalog.prices) <= items
    assert {*catalog.nics, *catalog.optics, *catalog.cables, *catalog.services} <= set(catalog.prices)


def test_every_price_and_default_says_why_in_both_languages() -> None:
    catalog = load_catalog(FOLDER)
    for row in (*catalog.prices.values(), *catalog.defaults.values()):
        assert row.sources and row.note.en and row.note.zh


def test_switch_ports_fit_their_cages() -> None:
    for switch in load_catalog(FOLDER).switches.values():
        for speed, count in switch.ports.items():
            assert speed * count <= switch.cages * switch.cage_gbps, switch.id
            assert count % switch.cages == 0, switch.id


def test_lookup_forgives_spelling_and_suggests() -> None:
    catalog = load_catalog(FOLDER)
    assert catalog.switch("QM 9700").id == "qm9700"
    with pytest.raises(AdvisorError, match="qm9700"):
        catalog.switch("qm970")
    with pytest.raises(AdvisorError) as caught:
        catalog.nic("???")
    assert caught.value.code == "unknown_nic" and "connectx-7" in str(caught.value)


@pytest.mark.parametrize(
    ("file", "old", "new", "row", "words"),
    [
        ("prices", "usd: [36000, 38000, 50000]", "usd: [50000, 38000, 36000]", "qm9700", "not in order"),
        ("prices", "usd: [36000, 38000, 50000]", "usd: [36000, cheap]", "qm9700", "row qm9700"),
        (
            "prices",
            "sources: [h100-sheet, morocco-notes, aidc-catalog]",
            "sources: [nobody]",
            "qm9700",
            "nobody",
        ),
        ("switches", "cages: 32\n", "cages: 0\n", "qm9700", "cage"),
        ("switches", "id: qm9790", "id: qm9700", "qm9700", "twice"),
        ("nics", "form: OSFP", "shape: OSFP", "connectx-7", "shape"),
        ("sources", "trust: vendor}", "trust: me}", "h100-ra-fabrics", "trust"),
        ("defaults", "rows:", "rows: [", "the file", "defaults.yaml"),
        ("optics", "rows:", "row:", "rows", "list"),
    ],
)
def test_bad_data_names_the_file_and_the_row(
    copy: Path, file: str, old: str, new: str, row: str, words: str
) -> None:
    path = copy / f"{file}.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(AdvisorError, match=words) as caught:
        load_catalog(copy)
    assert f"{file}.yaml" in str(caught.value) and row in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(copy: Path) -> None:
    (copy / "cables.yaml").unlink()
    with pytest.raises(AdvisorError, match=r"cables\.yaml is missing"):
        load_catalog(copy)


def test_loading_takes_less_than_80_milliseconds() -> None:
    def elapsed() -> float:
        _load.cache_clear()
        start = time.perf_counter()
        load_catalog(FOLDER)
        return time.perf_counter() - start

    assert min(elapsed() for _ in range(5)) < 0.080
