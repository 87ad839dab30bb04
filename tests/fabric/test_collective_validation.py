"""The model against the published measurements of eval/reference/collectives.csv."""

import csv
from pathlib import Path

import pytest

from app.accelerators import load_accelerators
from app.errors import AdvisorError
from app.fabric.validate_collectives import groups_of, summarise, validate_collectives

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def checked():
    with (ROOT / "eval/reference/collectives.csv").open(encoding="utf-8") as file:
        return validate_collectives(csv.DictReader(file), load_accelerators(ROOT / "knowledge"))


def test_large_messages_that_were_not_used_for_calibration_have_a_median_error_below_ten_percent(checked):
    large = {summary.group: summary for summary in groups_of(checked)}["report large"]
    assert large.rows >= 60
    assert large.median_percent <= 10


def test_every_row_beyond_forty_percent_is_labelled_with_its_reason(checked):
    known = [row for row in checked if row.split != "blind"]
    assert [row.id for row in known if abs(row.error_percent) > 40 and not row.label] == []
    assert all(row.note for row in checked if row.label and row.label != "EFA latency")


def test_blind_rows_were_added_after_the_freeze_and_nothing_is_left_out_of_their_error(checked):
    blind = [row for row in checked if row.split == "blind"]
    assert len(blind) >= 8 and {row.size_class for row in blind} == {"large"}
    assert all("after the constants were frozen (commit 9661ca7)" in row.note for row in blind)
    assert not any(row.label for row in blind)
    assert {summary.group: summary.rows for summary in groups_of(checked)}["blind large"] == len(blind)


def test_a_known_row_by_hand(checked):
    row = {row.id: row for row in checked}["h200-2n-ib-8GiB"]
    assert row.published == 481.35
    assert row.error_percent == pytest.approx(100 * (row.computed / 481.35 - 1))
    assert row.size_class == "large"
    tcp = {row.id: row for row in checked}["h200-2n-tcp-8GiB"]
    assert (tcp.label, tcp.published) == ("no RDMA", 3.76)


def test_labelled_rows_stay_out_of_the_medians(checked):
    assert sum(summary.rows for summary in groups_of(checked)) == sum(not row.label for row in checked)


def test_the_report_names_what_it_counts(checked):
    report = summarise(checked)
    assert report["report large messages, median error %"] <= 10
    assert "+" in checked[0].line() or "-" in checked[0].line()
    assert checked[0].to_json()["published"] == checked[0].published


def test_a_row_that_cannot_be_read_is_named():
    with pytest.raises(AdvisorError, match="Row broken of the collectives"):
        validate_collectives([{"id": "broken", "op": "all-reduce"}], load_accelerators(ROOT / "knowledge"))
