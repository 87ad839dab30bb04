"""What a slower network costs: the GPU hours it wastes, beside the money that the cheaper network saves."""

from __future__ import annotations

from app.fabric.calculation import Bilingual, Calculation, Source, Value
from app.fabric.checks import bad_value
from app.fabric.cost import HOURS_PER_YEAR, Cost
from app.fabric.estimate import Estimate


def slower_network(
    cheap: Cost,
    dear: Cost,
    *,
    lost_percent: Estimate,
    gpu_hour_usd: Estimate,
    used_percent: float = 100.0,
    sources: tuple[Source, ...] = (),
) -> Calculation:
    """Whether the cheaper of two networks stays cheaper when it wastes GPU hours.

    `lost_percent`: per cent of the used GPU hours that `cheap` loses and `dear` does not (from a performance
    model). `used_percent`: how much of the time the GPUs run jobs. Both costs must be of as many GPUs and on
    the same terms. Lost money = GPUs x hours x used x lost x price of a GPU hour; break-even where it equals
    the saving. Raises AdvisorError for percentages outside 0-100 or clusters of different size.
    """
    for name, value in (("lost_percent", lost_percent.high), ("used_percent", used_percent)):
        if not 0 <= value <= 100:
            raise bad_value(name, value, "Choose a percentage from 0 to 100.")
    if cheap.gpus != dear.gpus:
        raise bad_value("gpus", cheap.gpus, f"Compare clusters of the same size; the other has {dear.gpus}.")
    hours = cheap.gpus * HOURS_PER_YEAR * cheap.terms.annuity_years * used_percent / 100
    lost_hours = lost_percent * (hours / 100)
    lost_usd = Estimate(
        lost_hours.low * gpu_hour_usd.low,
        lost_hours.typical * gpu_hour_usd.typical,
        lost_hours.high * gpu_hour_usd.high,
    )
    saving = dear.tco_usd.typical - cheap.tco_usd.typical
    values = {
        "gpu_hours": Value(hours, "GPU-hours"),
        "lost_gpu_hours": Value.of(lost_hours, "GPU-hours"),
        "lost_usd": Value.of(lost_usd, "USD"),
        "tco_saving_usd": Value(saving, "USD"),
        "net_saving_usd": Value(
            saving - lost_usd.typical, "USD", saving - lost_usd.high, saving - lost_usd.low
        ),
    }
    if hours and gpu_hour_usd.typical:
        values["break_even_lost_percent"] = Value(100 * saving / (hours * gpu_hour_usd.typical), "%")
    if lost_hours.typical:
        values["break_even_gpu_hour_usd"] = Value(saving / lost_hours.typical, "USD")
    return Calculation(
        tool="slowdown",
        label=cheap.bill.topology.fabric,
        inputs={
            "gpus": cheap.gpus,
            "cheap_switch": cheap.bill.topology.switch.id,
            "dear_switch": dear.bill.topology.switch.id,
            "lost_percent": lost_percent.typical,
            "gpu_hour_usd": gpu_hour_usd.typical,
            "used_percent": used_percent,
            "years": cheap.terms.years,
        },
        values=values,
        assumptions=(
            Bilingual(
                f"GPUs run jobs {used_percent:g} % of the time, and an hour lost is worth its rent.",
                f"GPU 有 {used_percent:g}% 的时间在运行任务，损失的每小时按租价计。",
            ),
            Bilingual(
                "Savings compare typical TCO; a negative net saving means that the cheaper network is the "
                "dearer choice.",
                "节省按典型 TCO 比较；净节省为负，说明较便宜的网络反而更贵。",
            ),
        ),
        sources=sources,
    )
