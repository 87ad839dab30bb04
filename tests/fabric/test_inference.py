"""Serving against hand arithmetic, published figures and its own constraints."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from app.accelerators import load_accelerators
from app.errors import AdvisorError
from app.fabric.estimate import Estimate
from app.fabric.inference import estimate_inference
from app.fabric.inference_memory import kv_bytes_per_token
from app.fabric.inference_time import decode_bytes, prefill_flops
from app.fabric.inference_transfer import transfer_s
from app.fabric.transformer import Transformer
from app.fabric.validate_inference import missed_targets, summarise, validate_inference
from app.serving_data import load_serving
from app.workloads import load_workloads

ROOT = Path(__file__).parents[2]
ACCELERATORS, SERVING = load_accelerators(ROOT / "knowledge"), load_serving(ROOT / "knowledge")
MODELS = load_workloads(ROOT / "knowledge").models


def serve(**given):
    return estimate_inference(ACCELERATORS, MODELS, SERVING, **{"model": "llama3-70b", "fabric": "roce", **given})


@pytest.mark.parametrize(
    ("model", "value_bytes", "per_token"),
    [
        ("llama3-70b", 2, 2 * 80 * 8 * 128 * 2),  # 327,680: grouped queries, 8 KV heads
        ("llama3-70b", 1, 163_840),  # FP8 cache
        ("llama2-7b", 2, 2 * 32 * 32 * 128 * 2),  # 524,288: every head keeps its own
        ("llama3-405b", 2, 516_096),
        ("deepseek-v3", 2, 61 * (512 + 64) * 2),  # 70,272: latent attention, whatever its 128 heads
    ],
)
def test_kv_cache_per_token(model, value_bytes, per_token):
    assert kv_bytes_per_token(MODELS[model], value_bytes) == per_token


def test_the_cache_of_32k_tokens_takes_215_ms_over_one_nic_of_50_gbytes_per_s():
    kv_gbytes = serve().memory.kv_request_gbytes
    assert kv_gbytes == pytest.approx(10.737, abs=0.001)  # 32,768 x 327,680 B
    none = Estimate.exact(0.0)
    assert transfer_s(kv_gbytes, Estimate.exact(50.0), none).typical == pytest.approx(0.2147, abs=0.0001)
    started = transfer_s(10.0, Estimate(10.0, 20.0, 40.0), Estimate(1.0, 2.0, 3.0))
    assert (started.low, started.typical, started.high) == pytest.approx((0.251, 0.502, 1.003))


def test_flops_of_a_prompt_counted_by_hand():
    tiny = Transformer("t", "t", 1, 4, 1, 1, 4, 8, 10, 2)
    # attention 4 x 16 = 64, feedforward 3 x 32 = 96; scores 8 x 2 tokens; the output layer once: 2 x 40
    assert prefill_flops(tiny, 2) == 2 * (2 * 160 + 16) + 80


def test_a_prefill_runs_at_a_share_of_the_peak_that_the_matrix_products_bound():
    made = serve()
    seconds_at_peak = prefill_flops(MODELS["llama3-70b"], 32_768) / (8 * 989e12)
    assert made.prefill_s.typical == pytest.approx(2 * seconds_at_peak)
    assert made.prefill_s.low == pytest.approx(seconds_at_peak / 0.803)
    assert made.prefill_s.high == pytest.approx(seconds_at_peak / 0.136)
    assert serve(precision="fp8").prefill_s.typical == pytest.approx(made.prefill_s.typical * 989 / 1979)


def test_a_decode_step_reads_the_weights_and_the_cache_once():
    made = serve(concurrent=4)
    weights = 2 * (80 * 855_638_016 + 128_256 * 8192)  # layers and output layer, not the look-up
    cache = 4 * (32_768 + 256) * 327_680
    assert decode_bytes(made.job) == weights + cache
    assert made.decode_s.typical == pytest.approx((weights + cache) / (8 * 3.35e12 * 0.7))


def test_few_tokens_read_few_experts():
    one, many = (
        serve(model="qwen3-235b", gpus=8, concurrent=size, prompt_tokens=1, output_tokens=1) for size in (1, 999)
    )
    experts = 2 * MODELS["qwen3-235b"].expert_parameters
    rest = decode_bytes(one.job) - experts * 8 / 128
    assert decode_bytes(many.job) == pytest.approx(rest + experts, rel=0.01)


def test_memory_says_what_fits_and_how_much():
    made = serve()
    assert made.memory.weights_gbytes == pytest.approx(141.1, abs=0.1)
    assert made.memory.usable_gbytes == pytest.approx(8 * 80 * 0.9)
    assert made.memory.most_concurrent == 39  # (576 - 141.1) / (33,280 x 327,680 B)
    assert serve(concurrent=39).memory.fits and not serve(concurrent=40).memory.fits
    alone = serve(gpus=1)
    assert not alone.memory.fits
    assert "do not fit" in alone.assumptions[0].en
    spread = serve(model="deepseek-v3", gpus=32, tp=8, precision="fp8").memory.weights_gbytes
    assert spread < serve(model="deepseek-v3", gpus=8, tp=8, precision="fp8").memory.weights_gbytes / 3


def test_serving_70b_does_not_need_400g():
    made = serve()
    assert made.needs_400g == "no"
    assert made.enough.link.name == "8x100G RDMA"
    by_name = {one.link.name: one for one in made.links}
    assert by_name["8x100G RDMA"].rate_gbytes_per_s.typical == pytest.approx(100 * 0.774)
    assert by_name["8x100G RDMA"].share_of_prefill == pytest.approx(
        (0.00042 + 10.737 / 77.4) / made.prefill_s.typical, rel=1e-3
    )
    assert by_name["8x400G TCP"].rate_gbytes_per_s.typical == 41
    assert by_name["8x100G TCP"].rate_gbytes_per_s.typical == pytest.approx(36)
    assert by_name["8x400G TCP"].enough == "keeps up"  # more than a tenth of the prefill
    assert by_name["8x100G RDMA, default"].time_s.typical > by_name["8x100G RDMA"].time_s.typical
    assert made.transfer_s == by_name["8x400G RDMA"].time_s


def test_the_demand_is_the_prefill_at_full_rate_or_what_is_stated():
    full = serve()
    assert full.needed_gbytes_per_s.typical == pytest.approx(10.737 / full.prefill_s.typical, rel=1e-3)
    stated = serve(gpus=16, tp=8, requests_per_s=4.0)
    assert stated.job.replicas == 2
    assert stated.needed_gbytes_per_s.typical == pytest.approx(2 * 10.737, rel=1e-3)
    flood = serve(requests_per_s=100.0)
    assert (flood.enough, flood.needs_400g) == (None, "not enough either")
    assert {one.enough for one in flood.links} == {"too slow"}


def test_a_fast_gpu_makes_every_link_noticed_but_not_too_slow():
    made = serve(gpu="b200", precision="fp8")  # 8 x 4,500 TFLOP/s: a third of a second, of which 35 ms are a tenth
    assert made.prefill_s.typical == pytest.approx(0.328, abs=0.003)
    assert (made.enough, made.needs_400g) == (None, "only for the first token")
    assert made.keeps_up.enough == "keeps up" and made.keeps_up.load <= 0.8
    assert {one.link.name: one.enough for one in made.links}["1x400G RDMA"] == "too slow"


def test_two_all_reduces_a_layer_and_token():
    made = serve()
    assert made.all_reduce.inputs.bytes == 8192 * 2
    assert (made.all_reduce.inputs.nodes, made.all_reduce_two_nodes.inputs.nodes) == (1, 2)
    values = made.calculation().values
    assert values["tp_all_reduce_s_per_token"].value == pytest.approx(160 * made.all_reduce.time_us / 1e6)
    assert values["tp_share_two_nodes"].value > values["tp_share"].value
    assert "tp_all_reduce_us" not in serve(model="llama3-8b", gpus=1).calculation().values


def test_experts_beyond_a_node_keep_the_network_fast_whatever_the_cache_needs():
    made = serve(model="deepseek-v3", gpus=32, tp=8, precision="fp8")
    assert made.needs_400g == "yes, for the experts"
    assert "on top" in made.assumptions[0].en
    assert (made.experts.dispatch_us.typical, made.experts.combine_us.typical) == (155, 273)  # DeepEP, EP32
    assert made.experts.step_s.typical == pytest.approx(58 * (155 + 273) / 1e6)
    assert serve(gpus=16, tp=16).needs_400g == "yes, for tensor parallelism"
    inside = serve(model="deepseek-v3", gpus=72, tp=4, ep=64, gpu="gb200", gpus_per_node=4, precision="fp8")
    assert not inside.job.ep_crosses  # one NVLink rack


def test_expert_latency_is_published_or_left_out():
    other = serve(model="qwen3-235b", gpus=32, tp=8).experts  # 4096 wide: between the table and the table by bytes
    assert (other.dispatch_us.low, other.dispatch_us.high) == (pytest.approx(155 * 4096 / 7168), 155)
    assert serve(model="qwen3-235b", gpus=32, tp=8, gpu="b200").experts is None
    assert serve(model="qwen3-235b", gpus=32, tp=8, nic_gbps=200).experts is None
    assert serve(model="qwen3-235b", gpus=4).experts is None
    between = replace(SERVING.experts, rows=(SERVING.experts.rows[0], SERVING.experts.rows[2]))  # 8 and 32 GPUs
    made = estimate_inference(
        ACCELERATORS, MODELS, replace(SERVING, experts=between), model="deepseek-v3", gpus=16, tp=8, precision="fp8"
    )
    assert made.experts.dispatch_us.typical == pytest.approx((77 + 155) / 2)  # 16 is halfway on a log scale


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"model": "llama9-70b"}, "Unknown model"),
        ({"gpus": 12, "tp": 8}, "Use tp 4"),
        ({"gpus": 3}, "64 heads do not divide by tp 3. Use tp 1"),
        ({"gpus": 0}, "gpus must be between 1"),
        ({"prompt_tokens": 0}, "prompt_tokens must be between 1"),
        ({"ep": 8}, "has no experts"),
        ({"model": "deepseek-v3", "ep": 3}, "Use ep 2"),
        ({"gpu": "a100", "precision": "fp8"}, "no FP8 tensor cores"),
        ({"gpus_per_node": 16}, "at most 8 GPUs"),
        ({"nics_per_node": 0}, "carry nothing"),
        ({"requests_per_s": -1.0}, "no rate"),
        ({"tp": 12, "gpus": 12, "model": "mpt-3b"}, "do not divide by tp 12"),
    ],
)
def test_what_no_server_runs_is_refused_with_the_nearest_value(given, says):
    with pytest.raises(AdvisorError) as error:
        serve(**given)
    assert says in str(error.value)


@pytest.mark.parametrize("gpu", sorted(ACCELERATORS.by_id))
def test_every_gpu_serves_and_its_ranges_hold_the_typical(gpu):
    made = serve(model="llama3-8b", gpu=gpu, gpus=ACCELERATORS.find(gpu).gpus_per_node)
    for value in made.calculation().values.values():
        if value.low is not None:
            assert value.low <= value.value <= value.high
    assert made.calculation().rows


@pytest.fixture(scope="module")
def checked():
    with (ROOT / "eval/reference/inference.csv").open(encoding="utf-8") as file:
        return validate_inference(csv.DictReader(file), ACCELERATORS, MODELS, SERVING)


def test_published_figures_are_met_and_calibrating_rows_do_not_count(checked):
    summary = summarise(checked)
    assert not missed_targets(summary)
    assert summary["transfer-ms rows"] == 7 and summary["expert-gbytes-per-s rows"] == 12
    assert not any(row.counts for row in checked if row.split == "calibrate")
    assert [row.id for row in checked if row.label and not row.note] == []
    by_id = {row.id: row for row in checked}
    assert by_id["kv-deepseek-v3-token"].computed == 70_272
    assert by_id["deepep-v1-ep16-dispatch"].label == "kernel limit"


def test_a_miss_is_a_miss():
    assert missed_targets({"transfer-ms, median error %": 15.1, "transfer-ms, worst error %": 20.0})
    assert missed_targets({"transfer-ms, median error %": 5.0, "transfer-ms, worst error %": 25.1})
    assert not missed_targets({"transfer-ms rows": 99, "transfer-ms, median error %": 15.0})


def test_a_row_that_cannot_be_read_is_named(checked):
    row = {"id": "broken", "metric": "kv-bytes", "model": "llama3-70b"}
    with pytest.raises(AdvisorError, match="Row broken of the inference figures"):
        validate_inference([row], ACCELERATORS, MODELS, SERVING)
