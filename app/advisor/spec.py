"""The cluster being talked about: what was said, and what is assumed until somebody says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from app.errors import AdvisorError

GIB = 2**30


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """Fields named as in the contract. None: not known, and no default would be honest."""

    gpus: int | None = None
    gpus_per_node: int = 8
    gpu_model: str = "h100"
    accelerator: str | None = None  # one that the calculators have no figures of: id in other_accelerators.yaml
    gbps_per_gpu: int = 400
    nics_per_gpu: float = 1.0  # NIC ports; 0.25: four GPUs share one
    years: int = 5
    oversubscription: float = 1.0
    planes: int = 1
    topology: str = "rail-optimized"
    operation: str = "all-reduce"
    message_bytes: int = GIB
    tuning: str = "tuned"  # how well a RoCE fabric is set up: tuned | default | mis-tuned
    workload: str | None = None  # pretraining | finetuning | inference
    budget: str | None = None  # ample | tight
    network_team: str | None = None  # strong | none
    priority: str | None = None  # performance | cost
    hybrid: bool | None = None  # spans sites or clouds
    ethernet_estate: bool | None = None  # runs data-centre Ethernet already
    avoid_lock_in: bool | None = None
    excluded: str | None = None  # infiniband | roce: ruled out by those who ask
    tenancy: str | None = None  # single | multi
    region: str | None = None  # china | elsewhere
    supply: str | None = None  # constrained | open
    time_to_market: str | None = None  # urgent | relaxed
    usd_per_kwh: float | None = None  # None: the catalog's default
    pue: float | None = None
    infiniband_switch: str | None = None
    roce_switch: str | None = None
    keep: str | None = None  # switches that are there: "40x sn4700, 4x sn5600"
    gpus_there: int | None = None  # of `gpus`, those that hang on them already
    gpu_model_there: str | None = None  # where they are of another model than those that are added, gpu_model
    model: str | None = None  # id of the catalog's models.yaml
    train_tokens: float | None = None
    sequence: int | None = None  # tokens of one sequence; of one prompt for inference
    global_batch: int | None = None  # sequences of one step
    precision: str | None = None  # bf16 | fp8
    layout: str | None = None  # degrees of parallelism: "tp=8,pp=4"

    @property
    def nodes(self) -> int:
        """Servers needed for the GPUs (the last may be partly filled); 0 while the scale is unknown."""
        return -(-(self.gpus or 0) // self.gpus_per_node)

    @property
    def nics_per_node(self) -> int:
        """NIC ports of one server, all planes taken as one."""
        return max(1, round(self.gpus_per_node * self.nics_per_gpu))

    @property
    def nic_gbps(self) -> int:
        """Gb/s of one NIC port, all planes taken as one."""
        return round(self.gbps_per_gpu / self.nics_per_gpu)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def changed(self, changes: Mapping[str, Any]) -> ClusterSpec:
        """A copy with fields replaced; raises AdvisorError on an unknown field or a value of the wrong type."""
        types = {field.name: str(field.type) for field in fields(self)}
        converted: dict[str, Any] = {}
        for name, value in changes.items():
            if name not in types:
                raise AdvisorError(f"There is no field {name!r}.", f"Fields: {', '.join(types)}.")
            converted[name] = _convert(name, value, types[name])
        return replace(self, **converted)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ClusterSpec:
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})


def _convert(name: str, value: Any, type_name: str) -> Any:
    if value is None or value == "":
        if "None" in type_name:
            return None
        raise AdvisorError(f"{name} needs a value.", "Give a number, or leave it as it was.")
    try:
        if "bool" in type_name:
            return value if isinstance(value, bool) else str(value).lower() in {"true", "yes", "1"}
        if "int" in type_name:
            number = float(value)
            if number != int(number):
                raise ValueError
            return int(number)
        if "float" in type_name:
            return float(value)
    except (ValueError, OverflowError):
        raise AdvisorError(f"{value!r} is not a value for {name}.", "Give a plain number.") from None
    return str(value)
