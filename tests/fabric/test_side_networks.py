"""Storage, in-band and out-of-band networks against the 4-unit SuperPOD H100 bill, and what must hold of any size."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import AdvisorError
from app.fabric.cost import Design
from app.fabric.side_bill import side_calculation, side_costs
from app.fabric.side_networks import STORAGE_GBPS, SideNetworks, size_side_networks
from app.fabric.terms import default_terms
from app.knowledge import load_catalog

CATALOG = load_catalog(Path(__file__).parents[2] / "knowledge" / "catalog")


def networks(gpus: int, fabric: str = "infiniband", **options: int) -> SideNetworks:
    return size_side_networks(CATALOG, Design(gpus, fabric).sized(CATALOG), **options)  # type: ignore[arg-type]


def test_superpod_storage_by_hand() -> None:
    """127 nodes x 2 ports on 2 x 4 leaves of 32 down and 24 up (4:3); 48 cables to storage on 4 leaves of 12 down
    and 12 up (1:1), since each takes a whole cage; 8 x 24 + 4 x 12 = 240 trunks on 4 spines of 60."""
    storage = networks(1016).storage
    node_leaves = [group for group in storage.groups if group.up == 24]
    assert [(group.leaves, group.ends) for group in node_leaves] == [(6, 32), (2, 31)]
    assert [(g.leaves, g.storage, g.up) for g in storage.groups if g.storage] == [(4, 12, 12)]
    assert storage.links["leaf_spine"] == 240
    assert (storage.leaves, storage.spines, storage.switches) == (12, 4, 16)


def test_management_networks_of_the_superpod() -> None:
    made = networks(1016)
    assert (made.in_band.leaves, made.in_band.cores) == (6, 2)
    assert made.in_band.links["leaf_core"] == 24
    # 127 nodes, 48 + 16 switches, 4 servers and 4 UFM, 8 in-band switches, 3 x 32 + 2 x 6 power strips, 48 of storage
    assert sum(made.out_of_band.links.values()) - made.out_of_band.links["uplink"] == 127 + 64 + 8 + 8 + 108 + 48
    assert made.out_of_band.switches == 8  # 363 ports on 48 each


def test_a_small_cluster_has_pairs() -> None:
    made = networks(64)
    assert (made.storage.switches, made.in_band.switches, made.out_of_band.switches) == (2, 2, 1)
    assert made.storage.links["between"] == 9  # half of 16 + 4 ends and 2 of 3 storage cables, 12 at 4:3


@settings(max_examples=150, deadline=None)
@given(
    gpus=st.integers(1, 400_000),
    fabric=st.sampled_from(["infiniband", "roce"]),
    links=st.one_of(st.none(), st.integers(1, 2_000)),
)
def test_no_cage_or_port_is_oversold(gpus: int, fabric: str, links: int | None) -> None:
    gpus = min(gpus, 65_536) if fabric == "infiniband" else gpus
    made = networks(gpus, fabric, **({} if links is None else {"storage_links": links}))
    storage = made.storage
    per_cage = storage.switch.links_per_cage(STORAGE_GBPS)
    for group in storage.groups:
        assert group.storage + -(-(group.ends + group.up) // per_cage) <= storage.switch.cages
    below = sum(group.leaves * (group.ends + group.storage) for group in storage.groups)
    assert below >= sum(storage.links[name] for name in ("node_leaf", "storage", "manager"))
    if storage.tiers == 2:
        assert storage.links["leaf_spine"] == sum(group.leaves * group.up for group in storage.groups)
        assert storage.links["leaf_spine"] <= storage.spines * storage.switch.radix(STORAGE_GBPS)
        assert all(group.up % storage.spines == 0 for group in storage.groups)
    assert all(group.ends + group.up <= 64 for group in made.in_band.groups)
    assert made.in_band.links["leaf_core"] + made.in_band.links["site"] <= max(64, 64 * made.in_band.cores)
    assert all(group.ends <= 48 for group in made.out_of_band.groups)
    assert made.in_band.links["out_of_band"] == 2 * made.out_of_band.switches


@settings(max_examples=60, deadline=None)
@given(few=st.integers(1, 60_000), more=st.integers(1, 5_000))
def test_more_gpus_never_need_fewer_switches(few: int, more: int) -> None:
    small, large = networks(few, "roce"), networks(few + more, "roce")
    for one, other in zip(small.all(), large.all(), strict=True):
        assert one.leaves <= other.leaves


def test_bills_add_up_and_the_back_ends_management_is_not_counted_twice() -> None:
    cost = Design(1016, "infiniband", reserved_ports=4).cost(CATALOG, default_terms(CATALOG, 1016))
    beside = networks(1016)
    found = side_calculation(CATALOG, cost, beside)
    assert cost.bill.quantity("sn2201") == 4  # 127 nodes and 48 switches
    extra = [row for row in found.rows if row["item"] == "sn2201" and row["role"] != "spare"]
    assert [row["quantity"] for row in extra] == [8 - 4]
    for name in ("storage", "in-band", "out-of-band"):
        lines = [float(str(row["total_usd"])) for row in found.rows if row["network"] == name]
        assert found.values[f"{name.replace('-', '_')}_capex_usd"].value == pytest.approx(sum(lines))
    capex = sum(float(found.values[f"{name}_capex_usd"].value) for name in ("storage", "in_band", "out_of_band"))
    assert found.values["all_networks_capex_usd"].value == pytest.approx(cost.capex_usd.typical + capex)
    assert {row["item"]: row["quantity"] for row in found.rows}["sn4600c"] == 8


def test_every_line_has_a_price_a_source_and_what_it_serves() -> None:
    for fabric in ("infiniband", "roce"):
        for cost in side_costs(CATALOG, networks(2048, fabric), default_terms(CATALOG, 2048)):
            for line in cost.lines:
                assert line.priced and line.sources and line.serves.en and line.serves.zh
                assert line.price_note.en and line.price_note.zh
            items = {line.item for line in cost.lines}
            if cost.network.name == "storage":
                assert ("ufm-license" in items) == (fabric == "infiniband")
                assert ("ethernet-manager" in items) == (fabric == "roce")


@pytest.mark.parametrize("links", [0, -1, 2_000_000])
def test_storage_links_out_of_range(links: int) -> None:
    with pytest.raises(AdvisorError, match="1 to 1,000,000"):
        networks(64, storage_links=links)


def test_a_storage_switch_of_the_other_fabric() -> None:
    with pytest.raises(AdvisorError) as caught:
        size_side_networks(CATALOG, Design(64, "roce").sized(CATALOG), storage_switch="qm9700")
    assert caught.value.code == "switch_of_other_fabric"
