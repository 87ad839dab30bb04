"""The training model against hand counts, published steps and its own constraints."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from app.accelerators import load_accelerators
from app.errors import AdvisorError
from app.fabric.training import compare_fabrics, estimate_training
from app.fabric.validate_training import groups_of, validate_training
from app.workloads import load_workloads, read_model

ROOT = Path(__file__).parents[2]
ACCELERATORS, WORKLOADS = load_accelerators(ROOT / "knowledge"), load_workloads(ROOT / "knowledge")


@pytest.fixture(scope="module")
def checked():
    with (ROOT / "eval/reference/training.csv").open(encoding="utf-8") as file:
        return validate_training(csv.DictReader(file), ACCELERATORS, WORKLOADS)


def estimate(**given):
    job = {"model": "llama3-70b", "gpus": 64, "tp": 8, "pp": 4, "global_batch": 128, **given}
    return estimate_training(ACCELERATORS, WORKLOADS, **job)


@pytest.mark.parametrize(
    ("id", "billions"),
    # what the models are called; Llama 3 and DeepSeek publish 8.03, 70.6, 405, 671 (37 active)
    [
        ("llama3-8b", 8.03),
        ("llama3-70b", 70.6),
        ("llama3-405b", 405.9),
        ("gpt3-175b", 174.6),
        ("deepseek-v3", 671),
        ("qwen3-235b", 235),
        ("mpt-7b", 6.65),
        ("megatron-1t", 1008),
    ],
)
def test_parameters(id, billions):
    assert WORKLOADS.models[id].parameters / 1e9 == pytest.approx(billions, rel=0.01)


def test_active_parameters_of_experts():
    assert WORKLOADS.models["deepseek-v3"].active_parameters / 1e9 == pytest.approx(37, rel=0.03)
    assert WORKLOADS.models["qwen3-235b"].active_parameters / 1e9 == pytest.approx(22, rel=0.02)


def test_flops_of_gpt3_are_those_of_the_megatron_formula():
    # 72 s l h^2 (1 + s / 6h + V / 12lh) per sequence, without recomputation (arXiv 2104.04473, equation 3)
    s, layers, h, vocabulary = 2048, 96, 12288, 51200
    formula = 72 * s * layers * h**2 * (1 + s / (6 * h) + vocabulary / (12 * layers * h))
    ours = WORKLOADS.models["gpt3-175b"].training_flops_per_token(s, causal_half=False) * s
    assert ours == pytest.approx(formula, rel=1e-6)


def test_the_eight_a100_steps_of_the_megatron_paper(checked):
    eight = [row for row in checked if row.source.startswith("arXiv 2205.05198")]
    assert len(eight) == 8
    # calculon, calibrated on the same rows, reaches 3.65 %
    assert sum(abs(row.error_percent) for row in eight) / 8 <= 3.65


def test_steps_that_were_not_used_for_calibration(checked):
    report = {summary.group: summary for summary in groups_of(checked)}["report"]
    assert report.rows >= 50
    assert report.median_percent <= 10
    assert report.worst_percent <= 25


def test_labelled_rows_say_why(checked):
    assert all(row.note for row in checked if row.label)


def test_a_slower_fabric_never_speeds_a_job_up_and_tuned_roce_is_at_parity():
    infiniband, roce, default = compare_fabrics(ACCELERATORS, WORKLOADS, estimate(gpus=512, pp=8, vp=5))
    assert roce.step_s.typical == pytest.approx(infiniband.step_s.typical, rel=0.01)
    assert default.step_s.typical > roce.step_s.typical
    assert default.calculation().label == "roce (default)"


def test_parts_add_up():
    made = estimate()
    parts = made.compute_s + made.bubble_s + made.optimizer_s + made.exposed_communication_s
    assert parts == pytest.approx(made.step_s.typical, rel=1e-9)
    values = made.calculation().values
    assert values["tokens_per_s"].value == pytest.approx(128 * 8192 / made.step_s.typical)
    assert made.mfu == pytest.approx(made.tflops_per_gpu / 989)


def test_recomputation_trades_memory_for_time():
    none, full = estimate(recompute="none"), estimate(recompute="full")
    assert full.memory.activations_gbytes < 0.3 * none.memory.activations_gbytes
    # one more forward: 4/3 of the compute at most
    assert 1.2 < full.compute_s / none.compute_s < 1.34


def test_interleaving_divides_the_bubble():
    assert estimate(vp=5).bubble_s == pytest.approx(estimate(vp=1).bubble_s / 5, rel=0.2)


def test_memory_of_weights_and_optimizer_by_hand():
    made = estimate(gpus=8, tp=8, pp=1, global_batch=8, sharding="none")
    share = WORKLOADS.models["llama3-70b"].parameters / 8 / 1e9
    assert made.memory.weights_gbytes == pytest.approx(2 * share)
    assert made.memory.optimizer_gbytes == pytest.approx(12 * share)
    assert made.fits == "no"


def test_a_model_of_ones_own(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("layers: 2\nhidden: 128\nheads: 4\nvocabulary: 1000\nsequence: 256\ngated: false\ntied: true\n")
    model = read_model(file)
    assert model.parameters == 2 * 12 * 128**2 + 1000 * 128
    assert estimate_training(ACCELERATORS, WORKLOADS, model=model, gpus=1, global_batch=1).step_s.typical > 0
    file.write_text("layers: 2\nhiden: 128\n")
    with pytest.raises(AdvisorError, match="unknown key 'hiden'"):
        read_model(file)
    file.write_text("layers: 2\n")
    with pytest.raises(AdvisorError, match="missing 'heads'"):
        read_model(file)


def test_a_gpu_without_a_sourced_peak_rate_is_refused():
    bare = replace(ACCELERATORS.find("b300"), id="bare", compute=None)
    known = replace(ACCELERATORS, by_id={**ACCELERATORS.by_id, "bare": bare})
    with pytest.raises(AdvisorError, match="no sourced peak rate"):
        estimate_training(known, WORKLOADS, model="llama3-70b", gpus=64, tp=8, pp=4, gpu="bare", global_batch=128)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"model": "llama9"}, "Unknown model"),
        ({"gpus": 65}, "do not divide into tp 8 x pp 4"),
        ({"gpus": 0}, "gpus must be at least 1"),
        ({"tp": 3, "pp": 1, "gpus": 3}, "64 heads do not divide by tp 3"),
        ({"pp": 128, "tp": 1, "gpus": 128}, "do not fill pp 128"),
        ({"vp": 99}, "vp 99 needs"),
        ({"ep": 8}, "has no experts"),
        ({"model": "qwen3-235b", "ep": 6, "tp": 1, "pp": 1}, "Use ep 4"),
        ({"global_batch": 127}, "Use 128"),
        ({"sequence": 1001, "cp": 2}, "does not divide by cp 2"),
        ({"gpu": "a100", "precision": "fp8"}, "no FP8 tensor cores"),
        ({"stack": "magic"}, "Unknown software stack"),
    ],
)
def test_what_no_framework_runs_is_refused_with_the_nearest_value(given, says):
    with pytest.raises(AdvisorError) as error:
        estimate(**given)
    assert says in str(error.value)
