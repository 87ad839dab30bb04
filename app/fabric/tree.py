"""Port arithmetic of one switch tree: how many leaves, spines and cores join so many ports, with which links.

It knows nothing of products, money or planes; topology.py asks it for one plane, or one rail, at a time.

Rules, from NVIDIA's published SuperPOD tables:
- two tiers: leaves come in whole rail groups; spines are the smallest divisor of a leaf's uplinks that has
  enough ports, so that every leaf has the same whole number of links to every spine;
- three tiers at 1:1 and radix r: 2N/r leaves, 2N/r spines, N/r cores, N links in each tier.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

Loads = tuple[tuple[int, int], ...]  # (how many switches, links in use on each)


@dataclass(frozen=True, slots=True)
class Tree:
    """Counts of one tree. `leaf_loads` are links to nodes on each leaf; a leaf is built for `down` and `up`.

    `positions` are the ports a rail is built for. `even` is false where some pair of switches has one link
    more than another. Back to back, `leaf_spine` counts the links between the two switches.
    """

    tiers: int
    leaves: int
    spines: int
    cores: int
    down: int
    up: int
    leaf_spine: int
    spine_core: int
    leaf_loads: Loads
    positions: int
    even: bool = True

    @property
    def switches(self) -> int:
        return self.leaves + self.spines + self.cores


@lru_cache(maxsize=4096)
def divisors(number: int) -> tuple[int, ...]:
    return tuple(candidate for candidate in range(1, number + 1) if number % candidate == 0)


def smallest_divisor(number: int, at_least: int) -> int:
    """The smallest divisor of `number` that is at least `at_least` (which must not exceed `number`)."""
    found = divisors(number)
    return found[bisect_left(found, at_least)]


@lru_cache(maxsize=256)
def splits(radix: int, oversubscription: float) -> tuple[tuple[int, int], ...]:
    """(ports down, ports up) that a switch may be wired with; at 1:1 only the even split.

    Above 1:1 every split that keeps at least half of the ports down and does not exceed the ratio, for each
    number of uplinks the one with the most ports down.
    """
    if oversubscription == 1:
        return ((radix // 2, radix // 2),)
    pairs = ((down, ceil(down / oversubscription - 1e-9)) for down in range(max(1, radix // 2), radix))
    most_down = {up: down for down, up in pairs if down + up <= radix}
    return tuple((down, up) for up, down in most_down.items())


def capacity(rails: int, radix: int, tiers: int, oversubscription: float, core_oversubscription: float) -> int:
    """The most ports that so many tiers join: r, r^2/2 and r^3/4 at 1:1 where the rails divide the radix."""
    if tiers == 1:
        return radix
    down = splits(radix, oversubscription)[-1][0]
    if tiers == 2:
        return radix // rails * rails * down
    spine_down = splits(radix, core_oversubscription)[-1][0]
    return radix * spine_down // rails * rails * down


def back_to_back(used: int, ports: int, oversubscription: float) -> Tree:
    """Two switches joined to each other, half of the ports on each (DGX BasePOD); `used` are taken."""
    half = ceil(ports / 2)
    between = ceil(half / oversubscription - 1e-9)
    return Tree(1, 2, 0, 0, half, between, between, 0, spread(used, 2), ports)


def single_tier(used: int, positions: int, rails: int, radix: int, *, whole: bool) -> Tree:
    """Separate switches without uplinks: one a rail, or one for several rails where counts are exact."""
    rails_each = 1 if whole else max(k for k in divisors(rails) if positions * k <= radix)
    leaves = rails // rails_each
    return Tree(1, leaves, 0, 0, radix, 0, 0, 0, spread(used, leaves), positions)


def grow(
    nodes: int,
    built: int,
    rails: int,
    radix: int,
    ratios: tuple[float, float],
    *,
    whole: bool,
    extra: int,
    spine_radix: int | None = None,
) -> Tree | None:
    """The smallest tree of two or three tiers for `built` x `rails` ports and `extra` reserved ones.

    `nodes` of the `built` are there. `ratios` are the oversubscription of leaves and of spines. Each rail of
    a node goes to another leaf. None if three tiers do not suffice. Where the ratios leave a choice, the
    wiring with the fewest switches. `spine_radix` is that of spines and cores where they are another switch.
    """
    positions = built + ceil(extra / rails)
    need = _Need(nodes, positions, rails, radix, spine_radix or radix, ratios, whole, extra)
    for build in (_two_tiers, _three_tiers):
        trees = [build(need, down, up) for down, up in splits(radix, ratios[0])]
        found = [tree for tree in trees if tree is not None]
        if found:
            return min(found, key=lambda tree: tree.switches)
    return None


@dataclass(frozen=True, slots=True)
class _Need:
    """What a tree is to join; `positions` are the node positions of a rail, reserved ones included."""

    nodes: int
    positions: int
    rails: int
    radix: int
    spine_radix: int
    ratios: tuple[float, float]
    whole: bool
    extra: int

    def uplinks(self, links: int) -> int:
        return ceil(links / self.ratios[0] - 1e-9)


def _two_tiers(need: _Need, down: int, up: int) -> Tree | None:
    groups = ceil(need.positions / down)
    rails_each = 1
    if not need.whole and groups == 1:
        rails_each = max(k for k in divisors(need.rails) if need.positions * k <= down)
    leaves = need.rails * groups // rails_each
    if leaves > need.spine_radix:
        return None
    if need.whole:
        spines = smallest_divisor(up, ceil(leaves * up / need.spine_radix))
    else:
        used = ceil(need.positions / groups) * rails_each
        least = need.uplinks(used)
        choices = range(least, max(least, need.radix - used) + 1)
        spines, up = min((smallest_divisor(u, ceil(leaves * u / need.spine_radix)), u) for u in choices)
    loads = _loads(need, down, groups, rails_each)
    positions = groups * down if need.whole else need.positions
    return Tree(2, leaves, spines, 0, down, up, leaves * up, 0, loads, positions)


def _three_tiers(need: _Need, down: int, up: int) -> Tree | None:
    spine_down, spine_up = splits(need.spine_radix, need.ratios[1])[-1]
    groups = ceil(need.positions / down)
    leaves = need.rails * groups
    pods = ceil(leaves / spine_down)
    if pods > need.spine_radix:
        return None
    if not need.whole:
        up = need.uplinks(ceil(need.positions / groups))
    leaf_spine = leaves * up
    spines = ceil(leaf_spine / spine_down)
    spine_core = ceil(leaf_spine * spine_up / spine_down)
    cores = ceil(spine_core / need.spine_radix)
    even = (
        leaves % spine_down == 0
        and spines % pods == 0
        and cores * pods % spines == 0
        and spine_up % max(1, cores * pods // spines) == 0
    )
    positions = groups * down if need.whole else need.positions
    loads = _loads(need, down, groups, 1)
    return Tree(3, leaves, spines, cores, down, up, leaf_spine, spine_core, loads, positions, even)


def _loads(need: _Need, down: int, groups: int, rails_each: int) -> Loads:
    """Links to nodes on each leaf. Whole units fill leaf after leaf; exact counts spread them evenly."""
    if rails_each > 1:
        return spread(need.nodes * need.rails + need.extra, need.rails // rails_each)
    each, more = divmod(need.extra, need.rails)
    loads: list[tuple[int, int]] = []
    for rails, links in ((more, need.nodes + each + 1), (need.rails - more, need.nodes + each)):
        full, rest = divmod(links, down)
        if not need.whole:
            loads += [(rails * count, on_each) for count, on_each in spread(links, groups)]
        elif full < groups:
            loads += [(rails * full, down), (rails, rest), (rails * (groups - full - 1), 0)]
        else:
            loads.append((rails * full, down))
    return tuple((count, links) for count, links in loads if count)


def spread(links: int, switches: int) -> Loads:
    """Links over switches as evenly as whole numbers allow."""
    if not switches:
        return ()
    each, more = divmod(links, switches)
    both = ((more, each + 1), (switches - more, each))
    return tuple((count, on_each) for count, on_each in both if count)


def times(loads: Loads, trees: int) -> Loads:
    return tuple((count * trees, links) for count, links in loads)


def cages(loads: Loads, links_per_cage: int) -> int:
    """Module positions in use: on each switch its links, rounded up to whole cages."""
    return sum(count * ceil(links / links_per_cage) for count, links in loads)
