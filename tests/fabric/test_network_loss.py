"""GPU hours that RoCE loses in training: the shares follow from the step times that the training model gives."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.accelerators import load_accelerators
from app.errors import AdvisorError
from app.fabric.layout_search import search_layouts
from app.fabric.network_loss import network_loss
from app.fabric.training import time_job
from app.workloads import load_workloads

FOLDER = Path(__file__).parents[2] / "knowledge" / "catalog"
ACCELERATORS, WORKLOADS = load_accelerators(FOLDER), load_workloads(FOLDER)


def test_shares_follow_from_the_steps() -> None:
    found = network_loss(ACCELERATORS, WORKLOADS, model="llama3-70b", gpus=1024)
    base = found.step_s["infiniband"]
    assert found.percent.high == pytest.approx(100 * (1 - base / found.step_s["mis-tuned"]))
    assert found.percent.typical == pytest.approx(100 * (1 - base / found.step_s["default"]))
    assert 0 <= found.percent.low <= found.percent.typical < found.percent.high < 50


def test_steps_are_those_of_the_fastest_layout() -> None:
    found = network_loss(ACCELERATORS, WORKLOADS, model="gpt3-175b", gpus=512, global_batch=1024)
    best = search_layouts(ACCELERATORS, WORKLOADS, model="gpt3-175b", gpus=512, global_batch=1024, keep=1)[0]
    assert found.step_s["infiniband"] == best.step_s.typical
    worst = time_job(ACCELERATORS, WORKLOADS, best.gpu, replace(best.job, fabric="roce", tuning="mis-tuned"))
    assert found.step_s["mis-tuned"] == worst.step_s.typical
    assert "1,024" in found.notes[0].en and "1,024" in found.notes[0].zh and found.sources


def test_unknown_model() -> None:
    with pytest.raises(AdvisorError, match="no-such"):
        network_loss(ACCELERATORS, WORKLOADS, model="no-such", gpus=64)
