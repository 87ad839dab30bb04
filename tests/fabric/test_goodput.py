"""Goodput against hand arithmetic and the published run."""

from math import exp, expm1, sqrt
from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.fabric.goodput import best_interval_s, estimate_goodput, goodput_share
from app.workloads import load_failures

DATA = load_failures(Path(__file__).parents[2] / "knowledge")


def test_time_between_failures_of_the_published_run():
    # 54 days * 24 h / 419 = 3.09 h on 16,384 GPUs
    assert estimate_goodput(DATA, gpus=16384).mtbf_h.typical == pytest.approx(54 * 24 / 419, rel=0.005)


def test_the_published_run_kept_more_than_ninety_percent():
    made = estimate_goodput(DATA, gpus=16384, restart_s=300)
    assert 0.88 < made.goodput.typical < 0.95
    assert made.goodput.low < made.goodput.typical < made.goodput.high


def test_formulas_by_hand():
    assert best_interval_s(10_000, 50) == pytest.approx(sqrt(2 * 50 * 10_000) - 50)
    assert best_interval_s(10, 50) == 10
    share = goodput_share(10_000, 950, 50, 600)
    assert share == pytest.approx(950 / (10_000 * exp(0.06) * expm1(0.1)))
    # first order: 1 - d/t - (t/2 + R)/M
    assert share == pytest.approx(1 - 50 / 950 - (950 / 2 + 600) / 10_000, abs=0.015)


def test_the_best_interval_is_best():
    best = best_interval_s(11_000, 30)
    assert goodput_share(11_000, best, 30, 600) > goodput_share(11_000, best / 2, 30, 600)
    assert goodput_share(11_000, best, 30, 600) > goodput_share(11_000, best * 2, 30, 600)


def test_shares_of_causes():
    shares = {cause.id: cause.share for cause in DATA.causes}
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["network"] == pytest.approx(0.084, abs=0.001)
    values = estimate_goodput(DATA, gpus=16384).calculation().values
    assert 0 < values["network_lost_gpu_hours_per_day"].value < values["lost_gpu_hours_per_day"].value


def test_a_million_gpus_leave_little_and_bad_input_is_refused():
    assert estimate_goodput(DATA, gpus=1_000_000).goodput.typical < 0.3
    for given in ({"gpus": 0}, {"gpus": 8, "restart_s": -1}, {"gpus": 8, "interval_s": float("nan")}):
        with pytest.raises(AdvisorError, match="must be above 0"):
            estimate_goodput(DATA, **given)
