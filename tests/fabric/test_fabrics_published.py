"""Every published fabric size: eval/reference/fabrics.csv against the sizing and the bill."""

import csv
from pathlib import Path

import pytest

from app.fabric.validate_fabrics import Row, validate_fabrics
from app.fabric.validate_side_networks import validate_side_networks
from app.knowledge import load_catalog

ROOT = Path(__file__).parents[2]
CATALOG = load_catalog(ROOT / "knowledge" / "catalog")


def reference() -> list[dict[str, str]]:
    with (ROOT / "eval" / "reference" / "fabrics.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


ROWS = validate_fabrics(reference(), CATALOG)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.id}-{row.quantity}")
def test_published_figure(row: Row) -> None:
    assert row.matches or row.explanation, row.line()


def test_only_the_known_figures_differ() -> None:
    assert {(row.id, row.quantity) for row in ROWS if not row.matches} == {
        ("b300-xdr-18su", "gpus"),  # misprint: 9,216 for 10,368
        ("basepod-4", "fibres"),  # counts cages of two links
        ("basepod-8", "fibres"),
        ("juniper-jvd", "switches"),  # GPU count not stated
        ("juniper-jvd", "leaf"),
        ("juniper-jvd", "spine"),
        ("meta-roce", "leaf"),  # one top-of-rack switch a rack
    }


def test_every_row_has_a_source_and_a_figure() -> None:
    rows = reference()
    assert len({row["id"] for row in rows}) == len(rows) == 43
    assert all(row["source"] and row["date"] and row["trust"] for row in rows)
    assert {row.id for row in ROWS} == {row["id"] for row in rows}


def networks() -> list[dict[str, str]]:
    with (ROOT / "eval" / "reference" / "networks.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_reference_rows_have_as_many_cells_as_the_heading() -> None:
    assert all(None not in row and None not in row.values() for row in (*reference(), *networks()))


def test_published_networks_beside_the_back_end() -> None:
    rows = validate_side_networks(networks(), CATALOG)
    assert len(rows) == 20 and not [row.line() for row in rows if row.unexplained]
    assert {(row.id, row.quantity) for row in rows if not row.matches} == {
        ("h100-4su-networks", "storage_switch_modules"),  # ends halved; we round each switch up
        ("basepod-8-networks", "oob_switches"),
    }


def test_a_wrong_figure_is_reported() -> None:
    row = next(row for row in reference() if row["id"] == "h100-3su") | {"spine": "12"}
    wrong = next(found for found in validate_fabrics([row], CATALOG) if found.quantity == "spine")
    assert (wrong.published, wrong.computed, wrong.difference, wrong.unexplained) == (12, 16, 4, True)
    assert "UNEXPLAINED" in wrong.line()
