"""One training job on several fabrics: how much slower each is than the first, and where its step goes."""

from __future__ import annotations

from collections.abc import Sequence

from app.fabric.calculation import Bilingual, Calculation, Scalar, Value
from app.fabric.training import Training

_SAME = Bilingual(
    "The same layout and batch on each fabric; only the network differs.",
    "各网络采用相同的并行方式与批大小，仅网络不同。",
)
_LEVEL = Bilingual(
    "Within the range of a step, fabrics that differ by a few per cent cannot be told apart.",
    "相差百分之几的网络，在单步误差范围内无法区分。",
)


def compare_steps(steps: Sequence[Training]) -> Calculation:
    """Shares by which each job is slower than the first (0.04: 4 % more time a step); rows split every step.

    Rows: fabric, tuning and seconds of compute, exposed traffic by kind, bubble and optimizer; they add up to
    `step_time_s`.
    """
    first = steps[0]
    values = {
        f"{one.job.fabric}_{one.job.tuning.replace('-', '_')}_slower_share": Value(
            one.step_s.typical / first.step_s.typical - 1, "fraction"
        )
        for one in steps[1:]
    }
    job = first.job
    return Calculation(
        tool="training_comparison",
        inputs={"model": job.model.id, "gpu": first.gpu.id, "gpus": job.gpus, "global_batch": job.global_batch},
        values=values,
        assumptions=(_SAME, _LEVEL),
        rows=tuple(_breakdown(one) for one in steps),
    )


def _breakdown(one: Training) -> dict[str, Scalar]:
    parts: dict[str, Scalar] = {
        "fabric": one.job.fabric,
        "tuning": one.job.tuning,
        "step_time_s": one.step_s.typical,
        "compute_s": one.compute_s,
    }
    parts |= {f"{kind}_s": seconds for kind, seconds in one.exposed_s.items()}
    return parts | {"bubble_s": one.bubble_s, "optimizer_s": one.optimizer_s}
