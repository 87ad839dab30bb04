"""The search for a parallel layout."""

from pathlib import Path

import pytest

from app.accelerators import load_accelerators
from app.errors import AdvisorError
from app.fabric.layout_search import search_layouts
from app.fabric.training import estimate_training
from app.workloads import load_workloads

ROOT = Path(__file__).parents[2]
ACCELERATORS, WORKLOADS = load_accelerators(ROOT / "knowledge"), load_workloads(ROOT / "knowledge")


def search(**given):
    return search_layouts(ACCELERATORS, WORKLOADS, **{"model": "llama3-70b", "gpus": 64, "global_batch": 256, **given})


def test_the_best_layout_fits_and_beats_a_published_one():
    best = search(global_batch=128, precision="fp8")
    assert all(made.fits == "yes" for made in best)
    assert [made.step_s.typical for made in best] == sorted(made.step_s.typical for made in best)
    published = estimate_training(
        ACCELERATORS, WORKLOADS, model="llama3-70b", gpus=64, tp=4, pp=8, vp=5, global_batch=128, precision="fp8"
    )
    assert best[0].step_s.typical <= published.step_s.typical


def test_tensor_parallelism_stays_in_a_node():
    assert all(made.job.tp <= 8 for made in search(model="gpt3-175b", gpus=128, global_batch=512))


def test_what_cannot_fit_is_refused():
    with pytest.raises(AdvisorError, match="does not fit in memory"):
        search(model="deepseek-v3", gpus=8, global_batch=64)
    with pytest.raises(AdvisorError, match="does not divide"):
        search(gpus=7, global_batch=4)
