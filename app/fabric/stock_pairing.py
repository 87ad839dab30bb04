"""Ways to pair the models of switches that are there with each other and with one that can be bought.

A tier is of one model; leaves, and spines with cores, may be of two. Sizes come from topology.py and tree.py, so that
a pairing of one model with itself has the counts of `size`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

from app.errors import AdvisorError
from app.fabric.catalog import Catalog, Switch
from app.fabric.topology import Topology, size_fabric
from app.fabric.tree import Tree, grow, spread, times

Wiring = Literal["rail-optimized", "fat-tree"]  # shapes that a spine of another model can serve


@dataclass(frozen=True, slots=True)
class Pairing:
    """One way to build it: `leaf` switches under `spine` switches (the cores are of the spines' model)."""

    leaf: Switch
    spine: Switch
    tree: Tree
    trees: int

    def needed(self) -> Mapping[str, int]:
        """Switches by model."""
        counts = {self.leaf.id: self.tree.leaves * self.trees}
        above = (self.tree.spines + self.tree.cores) * self.trees
        return counts | ({self.spine.id: counts.get(self.spine.id, 0) + above} if above else {})

    def loads(self) -> Mapping[str, list[int]]:
        """Links on each switch, by model, the fullest first."""
        tree = self.tree
        below_core, above_leaf = tree.spine_core * self.trees, tree.leaf_spine * self.trees
        tiers = (
            (self.leaf.id, tuple((n, links + tree.up) for n, links in times(tree.leaf_loads, self.trees))),
            (self.spine.id, spread(above_leaf + below_core, tree.spines * self.trees)),
            (self.spine.id, spread(below_core, tree.cores * self.trees)),
        )
        found: dict[str, list[int]] = {}
        for id, loads in tiers:
            found.setdefault(id, []).extend(links for count, links in loads for _ in range(count))
        return {id: sorted(links, reverse=True) for id, links in found.items()}

    def oversubscription(self) -> float:
        """Links down over links up of the fullest leaf; 1 where one tier joins all."""
        if not self.tree.up:
            return 1.0
        return max((links / self.tree.up for _, links in self.tree.leaf_loads), default=1.0)


def fitting(catalog: Catalog, there: Mapping[str, int], fabric: str, link_gbps: int) -> dict[str, Switch]:
    """The models of `there` that are of this fabric and have ports of this speed."""
    rows = {id: catalog.switch(id) for id in there}
    return {id: row for id, row in rows.items() if row.fabric == fabric and row.radix(link_gbps)}


@dataclass(frozen=True)
class Search:
    """Sizes pairings of the models at other numbers of GPUs and other ratios."""

    catalog: Catalog
    there: Mapping[str, int]
    link_gbps: int
    rails: int
    design: Mapping[str, Any]

    def sized(self, switch: str, gpus: int, ratio: float) -> Topology | None:
        """One model alone, as `size` has it; None where three tiers do not carry it."""
        try:
            return size_fabric(self.catalog, gpus=gpus, switch=switch, oversubscription=ratio, **self.design)
        except AdvisorError as error:
            if error.code != "gpus_out_of_range":
                raise
            return None

    def best(self, models: Mapping[str, Switch], gpus: int, ratio: float, *, keeping: bool = False) -> Pairing | None:
        """The pairing that buys the fewest; with `keeping` of those that keep some of the switches there."""
        found = self._pairings(models, gpus, ratio)
        kept = (one for one in found if not keeping or self._short(one) < sum(one.needed().values()))
        return min(kept, key=self._rank, default=None)

    def suffices(self, fit: Mapping[str, Switch], gpus: int, ratio: float) -> bool:
        """Whether nothing has to be bought."""
        found = self.best(fit, gpus, ratio)
        return found is not None and self._short(found) == 0

    def most_gpus(self, fit: Mapping[str, Switch], ratio: float) -> int:
        """GPUs, in whole nodes, that the switches there carry by themselves; 0 where they carry none."""
        node = int(self.design["gpus_per_node"])
        ports = sum(self.there[id] * row.radix(self.link_gbps) for id, row in fit.items())
        low, high = 0, ports // node + 1  # carried, not carried
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.suffices(fit, middle * node, ratio) else (low, middle)
        return low * node

    def _short(self, pairing: Pairing) -> int:
        return sum(max(0, count - self.there.get(id, 0)) for id, count in pairing.needed().items())

    def _rank(self, pairing: Pairing) -> tuple[int, int, int, int]:
        """Fewest to buy; of equals the leaves that are there, then fewer tiers and switches."""
        total = sum(pairing.needed().values())
        return self._short(pairing), pairing.leaf.id not in self.there, pairing.tree.tiers, total

    def _pairings(self, models: Mapping[str, Switch], gpus: int, ratio: float) -> Iterator[Pairing]:
        for leaf in models.values():
            if one := self.sized(leaf.id, gpus, ratio):
                yield Pairing(leaf, leaf, one.tree, one.trees)
            for spine in models.values():
                if spine.id != leaf.id and (tree := self._mixed(leaf, spine, gpus, ratio)):
                    yield Pairing(leaf, spine, tree, self.design["planes"])

    def _mixed(self, leaf: Switch, spine: Switch, gpus: int, ratio: float) -> Tree | None:
        node = int(self.design["gpus_per_node"])
        positions = ceil(gpus / node) * node // self.rails
        radix, above = leaf.radix(self.link_gbps), spine.radix(self.link_gbps)
        whole = self.design["whole_units"]
        return grow(positions, positions, self.rails, radix, (ratio, 1.0), whole=whole, extra=0, spine_radix=above)
