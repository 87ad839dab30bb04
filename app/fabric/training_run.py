"""Time and rent of a whole training run: tokens over the rate of a step, stretched by the goodput."""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Calculation, Source, Value
from app.fabric.catalog import Catalog
from app.fabric.estimate import Estimate
from app.fabric.goodput import Goodput
from app.fabric.training import Training

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """`days` of wall-clock time; `usd` is None where no price of a GPU hour is known."""

    training: Training
    goodput: Goodput
    tokens: float
    days: Estimate
    gpu_hours: Estimate
    gpu_hour_usd: Estimate | None
    price_sources: tuple[Source, ...]

    @property
    def usd(self) -> Estimate | None:
        if self.gpu_hour_usd is None:
            return None
        hours, price = self.gpu_hours, self.gpu_hour_usd
        return Estimate(hours.low * price.low, hours.typical * price.typical, hours.high * price.high)

    def calculation(self) -> Calculation:
        job = self.training.job
        values = {
            "run_days": Value.of(self.days, "days"),
            "run_gpu_hours": Value.of(self.gpu_hours, "GPU-hours"),
            "goodput": Value.of(self.goodput.goodput, "fraction"),
        }
        if self.usd is not None:
            values["run_usd"] = Value.of(self.usd, "USD")
        return Calculation(
            tool="training_run",
            label=self.training.label,
            inputs={
                "model": job.model.id,
                "gpu": self.training.gpu.id,
                "gpus": job.gpus,
                "tokens": self.tokens,
                "gpu_hour_usd": self.gpu_hour_usd.typical if self.gpu_hour_usd else None,
            },
            values=values,
            assumptions=(_METHOD, *(() if self.gpu_hour_usd else (_NO_PRICE,))),
            sources=tuple(dict.fromkeys((*self.goodput.data.sources, *self.price_sources))),
        )


_METHOD = Bilingual(
    "Days = tokens / (tokens per second x goodput); rent at the catalog's price of a GPU hour, network included.",
    "天数 = token 数 /（每秒 token 数 × goodput）；租金按目录中的 GPU 小时价，其中已含网络。",
)
_NO_PRICE = Bilingual(
    "No sourced price of an hour of this GPU: no rent is given.", "没有该 GPU 小时价的来源，因此不给出租金。"
)


def estimate_run(training: Training, goodput: Goodput, catalog: Catalog, *, tokens: float) -> TrainingRun:
    """The run of `tokens` training tokens, rented at the catalog's price of an hour of its GPU, where there is one.

    Raises AdvisorError where the tokens are not positive.
    """
    if not 0 < tokens < 1e18:
        raise AdvisorError(
            f"Tokens must be above 0, not {tokens:g}.",
            "Give, for example, 15T.",
            code="bad_tokens",
            values={"tokens": f"{tokens:g}"},
        )
    price = catalog.price(f"gpu-hour-{training.gpu.id}")
    step, useful = training.step_s, goodput.goodput
    steps = tokens / (training.job.global_batch * training.job.sequence)
    days = Estimate(
        steps * step.low / useful.high / _DAY_S,
        steps * step.typical / useful.typical / _DAY_S,
        steps * step.high / useful.low / _DAY_S,
    )
    return TrainingRun(
        training,
        goodput,
        tokens,
        days,
        gpu_hours=days * (24.0 * training.job.gpus),
        gpu_hour_usd=price.usd if price else None,
        price_sources=price.sources if price else (),
    )
