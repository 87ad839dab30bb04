"""training, goodput and validate from the shell: contract, published figures, bad input, exit codes."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from app.cli import cli
from app.commands import validate
from app.errors import AdvisorError

MEGATRON = "--model gpt3-175b --gpus 64 --gpu a100 --tp 8 --pp 8 --vp 3 --global-batch 64 --stack megatron-2022"


def run(command: str) -> Any:
    done = CliRunner().invoke(cli, [*command.split(), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def failure(command: str) -> str:
    done = CliRunner().invoke(cli, command.split())
    assert done.exit_code != 0
    return str(done.exception) if isinstance(done.exception, AdvisorError) else done.output


def test_the_contract_of_training() -> None:
    made = run(f"training {MEGATRON} --recompute full --sharding none")
    assert {"tool", "inputs", "values", "assumptions", "sources"} <= set(made)
    assert {"step_time_s", "mfu", "tokens_per_s", "exposed_communication_s"} <= set(made["values"])
    # arXiv 2205.05198, table 5: 18.13 s with full recomputation
    assert made["values"]["step_time_s"]["value"] == pytest.approx(18.13, rel=0.05)
    tokens = 64 * 2048 / made["values"]["step_time_s"]["value"]
    assert made["values"]["tokens_per_s"]["value"] == pytest.approx(tokens)


def test_no_layout_means_a_search() -> None:
    made = run("training --model llama3-70b --gpus 64")
    assert "searched" in made["assumptions"][0]
    steps = [row["step_time_s"] for row in made["rows"]]
    assert steps == sorted(steps)
    assert made["values"]["step_time_s"]["value"] == steps[0]
    assert all(row["tp"] * row["pp"] * row["cp"] * row["dp"] == 64 for row in made["rows"])
    assert run("training --model llama3-70b --gpus 64 --search")["rows"] == made["rows"]


def test_a_run_and_the_comparison_go_with_the_step() -> None:
    made = run("training --model llama3-8b --gpus 64 --tp 2 --compare --tokens 1T --scale-to 256")
    assert {"infiniband", "roce", "roce_default", "comparison", "run", "scaling"} <= set(made)
    step, whole = made["values"]["step_time_s"]["value"], made["run"]["values"]
    steps = 1e12 / (made["inputs"]["global_batch"] * made["inputs"]["sequence"])
    assert whole["run_days"]["value"] == pytest.approx(steps * step / whole["goodput"]["value"] / 86_400)
    assert whole["run_days"]["low"] < whole["run_days"]["value"] < whole["run_days"]["high"]
    assert [row["gpus"] for row in made["scaling"]["rows"]] == [64, 128, 256]


def test_a_slower_network_makes_a_longer_step() -> None:
    wide = run("training --model llama3-70b --gpus 64 --tp 4 --pp 4 --nics 8x400")["values"]
    narrow = run("training --model llama3-70b --gpus 64 --tp 4 --pp 4 --nics 8x100")["values"]
    assert narrow["step_time_s"]["value"] > wide["step_time_s"]["value"]


def test_fsdp_shards_everything_with_its_own_software() -> None:
    inputs = run("training --model mpt-7b --gpus 64 --fsdp --micro-batch 8 --global-batch 512")["inputs"]
    assert (inputs["sharding"], inputs["stack"]) == ("full", "fsdp")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--model llama3-70b --gpus 64 --tp 8 --pp 4 --dp 4", "= 128 GPUs, not 64. Use 128 GPUs, or dp 2."),
        ("--model llama3-70b --gpus 65 --tp 8", "Use 64 GPUs"),
        ("--model llama3-70b --gpus 64 --tp 8 --global-batch 33", "Use 32."),
        ("--model llama --gpus 64", "Did you mean llama3-8b"),
        ("--model llama3-405b --gpus 8", "does not fit in memory"),
        ("--model llama3-70b --gpus 64 --tp 8 --search", "leave out --tp"),
        ("--model llama3-70b --gpus -3", "gpus must be at least 1"),
        ("--model llama3-70b --gpus 64 --seq 0", "sequence must be at least 1"),
        ("--model none.yaml --gpus 64", "none.yaml is missing"),
        ("--model llama3-70b --gpus 64 --tokens many", "15T or 300B"),
        ("--model llama3-70b --gpus 64 --scale-to 64", "not above"),
    ],
)
def test_bad_input_names_the_constraint_and_a_way_out(arguments: str, said: str) -> None:
    assert said in failure(f"training {arguments}")


def test_goodput_at_the_size_of_the_published_run() -> None:
    made = run("goodput --gpus 16384")
    assert made["values"]["mtbf_h"]["value"] == pytest.approx(54 * 24 / 419, rel=0.01)
    network = next(row for row in made["rows"] if "network" in row["cause"])
    assert network["share"] == pytest.approx(35 / 419)
    assert any("one published run" in line for line in made["assumptions"])
    assert "above 0" in failure("goodput --gpus 0")


@pytest.mark.parametrize("kind", ["collectives", "training", "lossless", "inference"])
def test_published_figures_are_met(kind: str) -> None:
    made = run(f"validate {kind}")
    assert made["missed"] == []
    assert len(made["rows"]) > 20


@pytest.mark.parametrize(
    ("kind", "column", "factor"),
    [("collectives", "busbw_gbytes_per_s", 3.0), ("training", "step_s", 1.4), ("lossless", "xoff_bytes", 2.0)],
)
def test_a_model_that_misses_ends_with_one(
    kind: str, column: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = validate.reference_rows(kind)
    for row in rows:
        row |= {column: str(float(row[column]) * factor)} if row[column] else {}
        if kind == "lossless":
            row |= {column: str(int(float(row[column]))), "explained": ""}
    monkeypatch.setattr(validate, "reference_rows", lambda name: rows)
    done = CliRunner().invoke(cli, ["validate", kind])
    assert done.exit_code == 1
    assert "MISSED" in done.output


def test_hfu_counts_what_is_recomputed() -> None:
    full, none = (run(f"training {MEGATRON} --recompute {kind}")["values"] for kind in ("full", "none"))
    assert full["hfu"]["value"] == pytest.approx(full["mfu"]["value"] * 4 / 3)  # a forward pass is a third of the FLOPs
    assert none["hfu"]["value"] == none["mfu"]["value"]
    some = run(f"training {MEGATRON} --recompute selective")["values"]
    assert some["mfu"]["value"] < some["hfu"]["value"] < some["mfu"]["value"] * 4 / 3
