"""Published figures of serving against the model: published, computed, error.

Rows come from eval/reference/inference.csv. `calibrate` rows set constants of knowledge/catalog/inference.yaml and stay
out of the reported error; `label` names what the model does not cover. `gpus` of a row are those of one replica, or
those that share the experts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, cast

from app.errors import AdvisorError
from app.fabric.accelerator import Accelerators, Fabric
from app.fabric.estimate import Estimate
from app.fabric.inference import Inference, estimate_inference
from app.fabric.inference_data import ServingData
from app.fabric.inference_time import expert_dispatch
from app.fabric.inference_transfer import Link, Transport, link_rate
from app.fabric.transformer import Transformer

# What `fabric-advisor validate inference` promises of every metric, in per cent, over the rows that neither calibrate
# nor have a label.
MEDIAN_TARGET = 15.0
WORST_TARGET = 25.0


@dataclass(frozen=True, slots=True)
class CheckedInference:
    """One row; `published` and `computed` are in the unit of the metric."""

    id: str
    metric: str
    unit: str
    published: float
    computed: float
    low: float
    high: float
    error_percent: float
    split: str
    label: str
    note: str
    source: str
    date: str
    trust: str

    @property
    def counts(self) -> bool:
        """Whether the row is part of the reported error."""
        return self.split != "calibrate" and not self.label

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def line(self) -> str:
        """The row as one line of a report."""
        why = f" ({self.label}: {self.note})" if self.label else ""
        return (
            f"{self.id}: published {self.published:,.4g} {self.unit}, computed {self.computed:,.4g} "
            f"({self.low:,.4g} to {self.high:,.4g}), {self.error_percent:+.1f} %, {self.split}{why}"
        )


def validate_inference(
    rows: Iterable[Mapping[str, str]],
    accelerators: Accelerators,
    models: Mapping[str, Transformer],
    data: ServingData,
) -> tuple[CheckedInference, ...]:
    """Each published figure beside the computed one. Raises AdvisorError that names the row that cannot be read."""
    return tuple(_check(row, accelerators, models, data) for row in rows)


def summarise(checked: Iterable[CheckedInference]) -> dict[str, float]:
    """Rows, median and worst absolute error of what counts, by metric; rounded for reading.

    Sizes of KV caches are arithmetic and say nothing of the times, so no group mixes them with others.
    """
    groups: dict[str, list[float]] = {}
    for row in checked:
        if row.counts:
            groups.setdefault(row.metric, []).append(abs(row.error_percent))
    found: dict[str, float] = {}
    for group, errors in groups.items():
        found[f"{group} rows"] = len(errors)
        found[f"{group}, median error %"] = round(median(errors), 1)
        found[f"{group}, worst error %"] = round(max(errors), 1)
    return found


def missed_targets(summary: Mapping[str, float]) -> list[str]:
    """In words, each metric that is beyond the median or the worst error that is promised."""
    limits = {"median error %": MEDIAN_TARGET, "worst error %": WORST_TARGET}
    return [
        f"{name}: {value:g} is above {limits[measure]:g}"
        for name, value in summary.items()
        if (measure := name.split(", ")[-1]) in limits and value > limits[measure]
    ]


def _check(
    row: Mapping[str, str], accelerators: Accelerators, models: Mapping[str, Transformer], data: ServingData
) -> CheckedInference:
    try:
        unit, computed = _compute(row, accelerators, models, data)
        published = float(row["published"])
    except (KeyError, ValueError) as error:
        raise AdvisorError(
            f"Row {row.get('id', '?')} of the inference figures cannot be read: {error}.", "Correct that row."
        ) from None
    return CheckedInference(
        id=row["id"],
        metric=row["metric"],
        unit=unit,
        published=published,
        computed=computed.typical,
        low=computed.low,
        high=computed.high,
        error_percent=100 * (computed.typical - published) / published,
        split=row["split"],
        label=row["label"],
        note=row["note"],
        source=row["source"],
        date=row["date"],
        trust=row["trust"],
    )


def _compute(
    row: Mapping[str, str], accelerators: Accelerators, models: Mapping[str, Transformer], data: ServingData
) -> tuple[str, Estimate]:
    metric, made = row["metric"], _estimate(row, accelerators, models, data)
    if metric == "kv-bytes":
        return "B", Estimate.exact(made.memory.kv_bytes_per_token * int(row["tokens"]))
    if metric == "transfer-ms":
        return "ms", made.transfer_s * 1e3
    if metric == "prefill-ms":
        return "ms", made.prefill_s * 1e3
    if metric == "transfer-gbytes-per-s":
        link = Link(int(row["nics_per_node"]), int(row["nic_gbps"]), cast(Transport, row["transport"]))
        return "GB/s", link_rate(made.job, link, data, accelerators.constants)
    if metric == "expert-gbytes-per-s":
        exchange = expert_dispatch(
            accelerators, made.job, tokens=int(row["tokens"]), value_bytes=int(row["value_bytes"])
        )
        if exchange is not None:
            sent = exchange.inputs.bytes / 1e3
            times = exchange.time_range_us
            return "GB/s", Estimate(sent / times.high, sent / times.typical, sent / times.low)
    if metric in ("expert-dispatch-us", "expert-combine-us") and made.experts is not None:
        return "us", made.experts.dispatch_us if metric == "expert-dispatch-us" else made.experts.combine_us
    raise ValueError(f"metric {metric!r} does not apply to {row['model']}")


def _estimate(
    row: Mapping[str, str], accelerators: Accelerators, models: Mapping[str, Transformer], data: ServingData
) -> Inference:
    gpus, experts = int(row["gpus"]), models[row["model"]].experts is not None
    return estimate_inference(
        accelerators,
        models,
        data,
        model=row["model"],
        gpu=row["gpu"],
        gpus=gpus,
        tp=min(gpus, int(row["gpus_per_node"])),
        ep=gpus if experts and row["metric"].startswith("expert") else 1,
        prompt_tokens=int(row["tokens"]),
        fabric=cast(Fabric, row["fabric"]),
        gpus_per_node=int(row["gpus_per_node"]),
        nics_per_node=int(row["nics_per_node"]),
        nic_gbps=int(row["nic_gbps"]),
    )
