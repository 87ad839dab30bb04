"""training and goodput: the time of a step, of a whole run, and what failures leave of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.accelerators import load_accelerators
from app.commands.options import FABRIC, Options, options, taken
from app.commands.output import json_option, language_option, print_calculation, print_calculations
from app.errors import AdvisorError
from app.fabric.accelerator import Accelerators
from app.fabric.calculation import Calculation, Language
from app.fabric.stack import Workloads
from app.fabric.training import Training
from app.settings import knowledge_folder

JOB: Options = {
    "--model": {"required": True, "help": "Model id (knowledge/catalog/models.yaml), or a YAML file of your own."},
    "--gpus": {"type": int, "required": True, "help": "Number of GPUs."},
    "--gpu": {"default": "h100", "help": "GPU id; see knowledge/catalog/accelerators.yaml."},
    "--global-batch": {"type": int, "help": "Sequences a step; about 4 million tokens unless given."},
    "--seq sequence": {"type": int, "help": "Tokens of a sequence; the model's own unless given."},
    "--precision": {"type": click.Choice(["bf16", "fp8"]), "default": "bf16"},
    "--stack": {"help": "Software: megatron-core, megatron-2022 or fsdp; see knowledge/catalog/training.yaml."},
    "--fabric": {"type": FABRIC, "default": "infiniband"},
    "--tuning": {"type": click.Choice(["tuned", "default", "mis-tuned"]), "default": "tuned"},
}
MACHINE: Options = {
    "--gpus-per-node": {"type": int, "help": "Those of the GPU's standard server unless given."},
    "--nics": {"help": "NICs per node and their speed, e.g. 8x400; those of the standard server unless given."},
}
LAYOUT: Options = {
    "--tp": {"type": int, "help": "Tensor parallelism."},
    "--pp": {"type": int, "help": "Pipeline stages."},
    "--dp": {"type": int, "help": "Data parallelism; what remains of the GPUs unless given."},
    "--cp": {"type": int, "help": "Context parallelism."},
    "--ep": {"type": int, "help": "Expert parallelism, inside tp x cp x dp."},
    "--vp": {"type": int, "help": "Virtual stages of the interleaved pipeline."},
    "--micro-batch": {"type": int, "help": "Sequences of a micro-batch."},
    "--recompute": {"type": click.Choice(["none", "selective", "full"]), "help": "Activation recomputation."},
    "--sharding": {"type": click.Choice(["none", "optimizer", "gradients", "full"]), "help": "ZeRO stage 0 to 3."},
    "--fsdp": {"is_flag": True, "default": None, "help": "PyTorch FSDP: full sharding, its own software stack."},
}
MORE: Options = {
    "--search": {"is_flag": True, "help": "The fastest layouts that fit; also what is done where no layout is given."},
    "--keep": {"type": click.IntRange(1, 100), "default": 5, "help": "How many layouts the search lists."},
    "--compare": {"is_flag": True, "help": "The same job on InfiniBand, tuned RoCE and RoCE at default settings."},
    "--tokens": {"help": "Time and rent of a run on so many tokens, e.g. 15T or 300B."},
    "--scale-to": {"type": int, "help": "Scaling efficiency up to so many GPUs, the batch growing along."},
}


@click.command()
@options(JOB, MACHINE, LAYOUT, MORE)
@json_option
@language_option
def training(
    search: bool,
    keep: int,
    compare: bool,
    tokens: str | None,
    scale_to: int | None,
    as_json: bool,
    language: Language,
    **given: Any,
) -> None:
    """Time of a training step: compute, communication that is not hidden, pipeline bubble, MFU, memory."""
    from app.workloads import load_workloads

    catalog = knowledge_folder() / "catalog"
    accelerators, workloads = load_accelerators(catalog), load_workloads(catalog)
    layout = {name: value for name, value in taken(given, LAYOUT).items() if value is not None}
    machine = _machine(**taken(given, MACHINE))
    job = _job(given, workloads)
    if search and layout:
        raise click.UsageError(f"--search finds the layout itself; leave out {', '.join(_flags(layout))}.")
    if layout:
        step = _stated(accelerators, workloads, job | machine, layout)
        shown = step.calculation()
    else:
        step, shown = _searched(accelerators, workloads, job, machine, keep)
    more = {}
    if compare:
        more = _compared(accelerators, workloads, step)
    if tokens is not None:
        more["run"] = _run(step, parse_count(tokens))
    if scale_to is not None:
        from app.fabric.curves import scaling_curve

        more["scaling"] = scaling_curve(accelerators, workloads, [step], _doublings(step.job.gpus, scale_to))
    print_calculations(shown, more, as_json=as_json, language=language)


@click.command()
@click.option("--gpus", type=int, required=True, help="Number of GPUs.")
@click.option("--checkpoint-s", type=float, help="Seconds that a checkpoint holds training up.")
@click.option("--restart-s", type=float, help="Seconds from a failure to the first new step.")
@click.option("--interval-s", type=float, help="Seconds between checkpoints; the optimum unless given.")
@json_option
@language_option
def goodput(as_json: bool, language: Language, **given: Any) -> None:
    """What failures leave of the time: interruptions by cause, best checkpoint interval, goodput."""
    from app.fabric.goodput import estimate_goodput
    from app.workloads import load_failures

    result = estimate_goodput(load_failures(knowledge_folder() / "catalog"), **given)
    print_calculation(result.calculation(), as_json=as_json, language=language)


def parse_count(text: str) -> float:
    """A count as people write it: `15T`, `300B`, `1.5e12`. Raises AdvisorError."""
    words = text.strip().lower().replace(",", "").removesuffix("tokens").strip()
    factor = {"t": 1e12, "b": 1e9, "m": 1e6, "k": 1e3}.get(words[-1:], 1.0)
    try:
        return float(words[:-1] if factor > 1 else words) * factor
    except ValueError:
        raise AdvisorError(
            f"{text[:40]!r} is no number of tokens.",
            "Give, for example, 15T or 300B.",
            code="bad_tokens",
            values={"tokens": text[:40]},
        ) from None


def _job(given: dict[str, Any], workloads: Workloads) -> dict[str, Any]:
    """The arguments that every estimate takes, with the model's own sequence and a usual batch where unsaid."""
    from app.fabric.job import check_counts, unknown_model, usual_batch
    from app.workloads import read_model

    name = given["model"]
    file = Path(name)
    if file.suffix not in (".yaml", ".yml") and name not in workloads.models:
        raise unknown_model(name, tuple(workloads.models))
    model = read_model(file) if file.suffix in (".yaml", ".yml") else workloads.models[name]
    sequence = model.sequence if given["sequence"] is None else given["sequence"]
    check_counts(gpus=given["gpus"], sequence=sequence)
    batch = given["global_batch"]
    if batch is None:
        batch = usual_batch(given["gpus"], sequence)
    return given | {"model": model, "sequence": sequence, "global_batch": batch}


def _machine(gpus_per_node: int | None, nics: str | None) -> dict[str, Any]:
    from app.fabric.message_size import parse_nics

    machine: dict[str, Any] = {} if gpus_per_node is None else {"gpus_per_node": gpus_per_node}
    if nics is not None:
        machine["nics_per_node"], machine["nic_gbps"] = parse_nics(nics)
    return machine


def _stated(accelerators: Accelerators, workloads: Workloads, job: dict[str, Any], layout: dict[str, Any]) -> Training:
    from app.fabric.job import check_dp
    from app.fabric.training import estimate_training

    wanted, fsdp = layout.pop("dp", None), layout.pop("fsdp", False)
    if wanted is not None:
        check_dp(job["gpus"], layout.get("tp", 1), layout.get("pp", 1), layout.get("cp", 1), wanted)
    if fsdp:
        layout.setdefault("sharding", "full")
    job["stack"] = job["stack"] or ("fsdp" if fsdp else "megatron-core")
    return estimate_training(accelerators, workloads, **job, **layout)


def _searched(
    accelerators: Accelerators, workloads: Workloads, job: dict[str, Any], machine: dict[str, Any], keep: int
) -> tuple[Training, Calculation]:
    from app.fabric.layout_search import search_calculation, search_layouts
    from app.fabric.training import time_job

    job["stack"] = job["stack"] or "megatron-core"
    found = list(search_layouts(accelerators, workloads, keep=keep, **job))
    if machine:
        found = [time_job(accelerators, workloads, one.gpu, replace(one.job, **machine)) for one in found]
        found.sort(key=lambda one: one.step_s.typical)
    return found[0], search_calculation(found)


def _compared(accelerators: Accelerators, workloads: Workloads, step: Training) -> dict[str, Calculation]:
    from app.fabric.training import compare_fabrics
    from app.fabric.training_compare import compare_steps

    steps = compare_fabrics(accelerators, workloads, step)
    named = {one.label.replace(" (", "_").rstrip(")"): one.calculation() for one in steps}
    return named | {"comparison": compare_steps(steps)}


def _run(step: Training, tokens: float) -> Calculation:
    from app.fabric.goodput import estimate_goodput
    from app.fabric.training_run import estimate_run
    from app.knowledge import load_catalog
    from app.workloads import load_failures

    folder = knowledge_folder() / "catalog"
    lasting = estimate_goodput(load_failures(folder), gpus=step.job.gpus)
    return estimate_run(step, lasting, load_catalog(folder), tokens=tokens).calculation()


def _doublings(gpus: int, most: int) -> list[int]:
    """From the job's size by factors of two to `most`, which is the last."""
    if most <= gpus:
        raise AdvisorError(
            f"--scale-to {most} is not above the job's {gpus} GPUs.",
            "Give a larger number.",
            code="bad_job",
            values={"message": str(most)},
        )
    sizes = [gpus]
    while sizes[-1] * 2 < most:
        sizes.append(sizes[-1] * 2)
    return [*sizes, most]


def _flags(layout: dict[str, Any]) -> list[str]:
    return [f"--{name.replace('_', '-')}" for name in layout]
