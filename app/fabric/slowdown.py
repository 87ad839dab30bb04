"""What a slower network costs: the GPU hours it wastes, beside the money that it saves."""

from __future__ import annotations

from app.fabric.calculation import Bilingual, Calculation, Source, Value
from app.fabric.checks import bad_value, between
from app.fabric.cost import HOURS_PER_YEAR, Cost
from app.fabric.estimate import Estimate


def lost_money(
    cost: Cost, lost_percent: Estimate, gpu_hour_usd: Estimate, *, used_percent: float = 100.0
) -> Estimate:
    """US dollars of GPU time that a network wastes over the years of the terms, discounted as they say.

    GPUs x hours x used x lost x price of a GPU hour. Raises AdvisorError for percentages outside 0-100.
    """
    hours = _lost_hours(cost, lost_percent, used_percent)
    return Estimate(
        hours.low * gpu_hour_usd.low, hours.typical * gpu_hour_usd.typical, hours.high * gpu_hour_usd.high
    )


def slower_network(
    slow: Cost,
    fast: Cost,
    *,
    lost_percent: Estimate,
    gpu_hour_usd: Estimate,
    used_percent: float = 100.0,
    sources: tuple[Source, ...] = (),
    notes: tuple[Bilingual, ...] = (),
) -> Calculation:
    """Whether the slower of two networks is still the cheaper one when its wasted GPU hours are counted.

    `lost_percent`: per cent of the used GPU hours that `slow` loses and `fast` does not (from a performance
    model). `used_percent`: how much of the time the GPUs run jobs. Both costs must be of as many GPUs and on
    the same terms. Break-even where the lost money equals the saving; there is none unless `slow` saves money.
    Raises AdvisorError for percentages outside 0-100 or clusters of different size.
    """
    if slow.gpus != fast.gpus:
        same = Bilingual(
            f"Compare clusters of the same size; the other has {fast.gpus:,}.",
            f"请比较相同规模的集群；另一个为 {fast.gpus:,} 块。",
        )
        raise bad_value("gpus", slow.gpus, same)
    lost_usd = lost_money(slow, lost_percent, gpu_hour_usd, used_percent=used_percent)
    lost_hours = _lost_hours(slow, lost_percent, used_percent)
    hours = _gpu_hours(slow, used_percent)
    saving = fast.tco_usd.typical - slow.tco_usd.typical
    values = {
        "gpu_hours": Value(hours, "GPU-hours"),
        "lost_gpu_hours": Value.of(lost_hours, "GPU-hours"),
        "lost_usd": Value.of(lost_usd, "USD"),
        "tco_saving_usd": Value(saving, "USD"),
        "net_saving_usd": Value(
            saving - lost_usd.typical, "USD", saving - lost_usd.high, saving - lost_usd.low
        ),
    }
    if saving > 0 and hours * gpu_hour_usd.typical:
        values["break_even_lost_percent"] = Value(100 * saving / (hours * gpu_hour_usd.typical), "%")
    if saving > 0 and lost_hours.typical:
        values["break_even_gpu_hour_usd"] = Value(saving / lost_hours.typical, "USD")
    return Calculation(
        tool="slowdown",
        label=slow.bill.topology.fabric,
        inputs={
            "gpus": slow.gpus,
            "slow_switch": slow.bill.topology.switch.id,
            "fast_switch": fast.bill.topology.switch.id,
            "lost_percent": lost_percent.typical,
            "gpu_hour_usd": gpu_hour_usd.typical,
            "used_percent": used_percent,
            "years": slow.terms.years,
        },
        values=values,
        assumptions=(*notes, *_notes(used_percent, saving)),
        sources=sources,
    )


def _gpu_hours(cost: Cost, used_percent: float) -> float:
    return cost.gpus * HOURS_PER_YEAR * cost.terms.annuity_years * used_percent / 100


def _lost_hours(cost: Cost, lost_percent: Estimate, used_percent: float) -> Estimate:
    for name, value in (
        ("lost_percent", lost_percent.low),
        ("lost_percent", lost_percent.high),
        ("used_percent", used_percent),
    ):
        if not 0 <= value <= 100:
            raise bad_value(name, value, between(0, 100))
    return lost_percent * (_gpu_hours(cost, used_percent) / 100)


def _notes(used_percent: float, saving: float) -> tuple[Bilingual, ...]:
    notes = [
        Bilingual(
            f"GPUs run jobs {used_percent:g} % of the time, and an hour lost is worth its rent.",
            f"GPU 有 {used_percent:g}% 的时间在运行任务，损失的每小时按租价计。",
        ),
        Bilingual(
            "Savings compare typical TCO; a negative net saving means that the slower network is the dearer "
            "choice.",
            "节省按典型 TCO 比较；净节省为负，说明较慢的网络反而更贵。",
        ),
    ]
    if saving <= 0:
        notes.append(
            Bilingual(
                "The slower network does not save money in the first place, so there is no break-even.",
                "较慢的网络本来就不省钱，因此没有盈亏平衡点。",
            )
        )
    return tuple(notes)
