"""What failures leave of the time of a large training run.

With exponential failures of mean time M between them, checkpoints every t seconds that hold training up for
d, and restarts of R, a stretch of t useful seconds takes M exp(R/M) (exp((t + d)/M) - 1) on average (Daly
2006); goodput is t over that. The best interval is close to sqrt(2 d M) - d for d < 2 M, and M beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, sqrt

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Calculation, Source, Value
from app.fabric.estimate import Estimate

_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause of interruptions and its share of them."""

    id: str
    name: Bilingual
    share: float


@dataclass(frozen=True, slots=True)
class FailureData:
    """What is known of failures; see knowledge/catalog/goodput.yaml."""

    per_gpu_hour: Estimate
    checkpoint_s: Estimate
    restart_s: Estimate
    causes: tuple[Cause, ...]
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Goodput:
    """Shares of the time; the low goodput goes with frequent failures, slow checkpoints and slow restarts."""

    gpus: int
    mtbf_h: Estimate
    checkpoint_interval_s: Estimate
    goodput: Estimate
    data: FailureData

    @property
    def lost_gpu_hours_per_day(self) -> float:
        return (1 - self.goodput.typical) * 24 * self.gpus

    def lost_to(self, cause: str) -> float:
        """GPU-hours a day lost to one cause, if every interruption costs the same; checkpoints are not counted."""
        share = next(one.share for one in self.data.causes if one.id == cause)
        interval, mtbf = self.checkpoint_interval_s.typical, self.mtbf_h.typical * _HOUR
        each_s = interval / 2 + self.data.restart_s.typical
        return share * 24 * _HOUR / mtbf * each_s / _HOUR * self.gpus

    def calculation(self) -> Calculation:
        return Calculation(
            tool="goodput",
            inputs={"gpus": self.gpus},
            values={
                "goodput": Value.of(self.goodput, "fraction"),
                "mtbf_h": Value.of(self.mtbf_h, "h"),
                "checkpoint_interval_min": Value.of(self.checkpoint_interval_s * (1 / 60), "min"),
                "lost_gpu_hours_per_day": Value(self.lost_gpu_hours_per_day, "GPU-hours"),
                "network_lost_gpu_hours_per_day": Value(self.lost_to("network"), "GPU-hours"),
            },
            assumptions=(_ONE_RUN, _NETWORK),
            sources=self.data.sources,
            rows=tuple(
                {"cause": one.name.en, "cause_zh": one.name.zh, "share": one.share} for one in self.data.causes
            ),
        )


_ONE_RUN = Bilingual(
    "The failure rate comes from one published run on H100 (419 interruptions, 54 days, 16,384 GPUs); its range, "
    "the checkpoint and the restart times are our assumptions.",
    "故障率取自一次公开的 H100 训练（16,384 GPU、54 天、419 次中断）；其范围以及检查点、重启时间为我们的假设。",
)
_NETWORK = Bilingual(
    "In that run 8.4 % of the interruptions came from switches or cables, on RoCE; no comparable count for "
    "InfiniBand was found.",
    "该次训练（RoCE）中 8.4% 的中断来自交换机或线缆；未找到可比的 InfiniBand 统计。",
)


def goodput_share(mtbf_s: float, interval_s: float, checkpoint_s: float, restart_s: float) -> float:
    """Useful share of the time (Daly 2006)."""
    stretch = (interval_s + checkpoint_s) / mtbf_s
    if stretch > 700 or restart_s / mtbf_s > 700:
        return 0.0
    return interval_s / (mtbf_s * exp(restart_s / mtbf_s) * expm1(stretch))


def best_interval_s(mtbf_s: float, checkpoint_s: float) -> float:
    """Close to the optimum checkpoint interval (Young 1974, Daly 2006)."""
    if checkpoint_s >= 2 * mtbf_s:
        return mtbf_s
    return max(checkpoint_s, sqrt(2 * checkpoint_s * mtbf_s) - checkpoint_s)


def estimate_goodput(
    data: FailureData,
    *,
    gpus: int,
    checkpoint_s: float | None = None,
    restart_s: float | None = None,
    interval_s: float | None = None,
) -> Goodput:
    """Goodput of a run on so many GPUs; what is not given has the data's range, the interval its optimum.

    Raises AdvisorError on numbers that are not positive.
    """
    given = {"GPUs": gpus, "checkpoint": checkpoint_s, "restart": restart_s, "interval": interval_s}
    for name, value in given.items():
        if value is not None and not 0 < value < 1e9:
            raise AdvisorError(f"{name} must be above 0, not {value:g}.", "Give a positive number.")
    holds = data.checkpoint_s if checkpoint_s is None else Estimate.exact(checkpoint_s)
    restarts = data.restart_s if restart_s is None else Estimate.exact(restart_s)
    made = []
    for point in ("low", "typical", "high"):
        mtbf = _HOUR / (getattr(data.per_gpu_hour, point) * gpus)
        hold, restart = getattr(holds, point), getattr(restarts, point)
        interval = interval_s or best_interval_s(mtbf, hold)
        made.append((mtbf, interval, goodput_share(mtbf, interval, hold, restart)))
    rare, typical, often = made
    intervals = sorted(one[1] for one in made)
    return Goodput(
        gpus=gpus,
        mtbf_h=Estimate(often[0] / _HOUR, typical[0] / _HOUR, rare[0] / _HOUR),
        checkpoint_interval_s=Estimate(intervals[0], typical[1], intervals[2]),
        goodput=Estimate(often[2], typical[2], rare[2]),
        data=data,
    )
