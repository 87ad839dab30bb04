"""Measure the performance calculators: a collective, a training step, a curve, the search for a layout."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from functools import partial


def performance() -> list[tuple[str, str, str]]:
    """Rows of the benchmark: what, measured (best of several), target."""
    from app.accelerators import load_accelerators
    from app.fabric.collective import estimate_collective
    from app.fabric.curves import bandwidth_curve
    from app.fabric.layout_search import search_layouts
    from app.fabric.training import estimate_training
    from app.settings import knowledge_folder
    from app.workloads import load_workloads

    catalog = knowledge_folder() / "catalog"
    accelerators, workloads = load_accelerators(catalog), load_workloads(catalog)
    collective = partial(estimate_collective, accelerators, op="all-reduce", nodes=64, bytes=2**30)
    step = partial(
        estimate_training, accelerators, workloads, model="llama3-405b", gpus=16_384, tp=8, pp=16, global_batch=2048
    )
    sizes = [2**20 + 4096 * at for at in range(1000)]
    curve = partial(bandwidth_curve, [collective()], sizes)
    search = partial(search_layouts, accelerators, workloads, gpus=1024, global_batch=1024)
    return [
        ("one collective", f"{best_s(collective, 2000) * 1e6:.0f} µs", "50 µs"),
        ("one training step", f"{best_s(step, 100) * 1e3:.2f} ms", "2 ms"),
        ("a curve of 1,000 message sizes", f"{best_s(curve, 3) * 1e3:.0f} ms", "50 ms"),
        ("layout search, 1,024 GPUs, dense 70B", f"{best_s(partial(search, model='llama3-70b'), 1):.2f} s", "10 s"),
        ("layout search, 1,024 GPUs, DeepSeek-V3", f"{best_s(partial(search, model='deepseek-v3'), 1):.2f} s", "10 s"),
    ]


def best_s(work: Callable[[], object], number: int) -> float:
    """Seconds of one call, the best of five runs of `number` calls."""
    return min(timeit.repeat(work, number=number, repeat=5)) / number
