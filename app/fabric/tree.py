"""Port arithmetic of one switch tree: how many leaves, spines and cores join so many ports, and with how many links.

It knows nothing of products, money or planes; app/fabric/topology.py asks it for one plane, or one rail, at a time.

Rules, from NVIDIA's published SuperPOD tables:
- two tiers: leaves come in whole rail groups; spines are the smallest divisor of a leaf's uplinks that has enough
  ports, so that every leaf has the same whole number of links to every spine;
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
    """Counts of one tree. `leaf_loads` are the links to nodes on each leaf; `down` and `up` what a leaf is built for.

    `even` is false where some pair of switches has one link more than another. Back to back, `leaf_spine` counts the
    links between the two switches.
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

    Above 1:1 every split that keeps at least half of the ports down and does not exceed the ratio.
    """
    if oversubscription == 1:
        return ((radix // 2, radix // 2),)
    pairs = ((down, ceil(down / oversubscription - 1e-9)) for down in range(max(1, radix // 2), radix))
    return tuple((down, up) for down, up in pairs if down + up <= radix)


def capacity(rails: int, radix: int, tiers: int, oversubscription: float, core_oversubscription: float) -> int:
    """The most ports that a tree of so many tiers joins: r, r^2/2 and r^3/4 at 1:1 where rails divide the radix."""
    if tiers == 1:
        return radix
    down = splits(radix, oversubscription)[-1][0]
    if tiers == 2:
        return radix // rails * rails * down
    spine_down = splits(radix, core_oversubscription)[-1][0]
    return radix * spine_down // rails * rails * down


def back_to_back(ports: int, radix: int, oversubscription: float) -> Tree:
    """Two switches joined to each other, half of the ports on each (DGX BasePOD); needs ports <= radix."""
    half = ceil(ports / 2)
    between = ceil(half / oversubscription - 1e-9)
    loads = ((1, half), (1, ports - half))
    return Tree(1, 2, 0, 0, half, between, between, 0, loads, ports)


def single_tier(positions: int, rails: int, radix: int, *, whole: bool, extra: int = 0) -> Tree:
    """Separate switches without uplinks, each serving one rail, or several whole rails where exact counts are asked."""
    rails_each = 1 if whole else max(k for k in divisors(rails) if positions * k <= radix)
    leaves = rails // rails_each
    links = (positions - ceil(extra / rails)) * rails + extra
    return Tree(1, leaves, 0, 0, radix, 0, 0, 0, spread(links, leaves), positions)


def grow(
    nodes: int, rails: int, radix: int, *, oversubscription: float, core_oversubscription: float, whole: bool, extra: int
) -> Tree | None:
    """The smallest tree of two or three tiers that joins `nodes` x `rails` ports and `extra` reserved ones.

    Each rail of a node goes to another leaf. None if three tiers do not suffice. Where the oversubscription leaves a
    choice of leaf wiring, the one with the fewest switches.
    """
    positions = nodes + ceil(extra / rails)
    best: Tree | None = None
    for down, up in splits(radix, oversubscription):
        tree = _two_tiers(nodes, positions, rails, radix, down, up, oversubscription, whole, extra)
        if tree is not None and (best is None or tree.switches < best.switches):
            best = tree
    if best is not None:
        return best
    spine_down, spine_up = splits(radix, core_oversubscription)[-1]
    for down, up in splits(radix, oversubscription):
        tree = _three_tiers(
            nodes, positions, rails, radix, down, up, oversubscription, spine_down, spine_up, whole, extra
        )
        if tree is not None and (best is None or tree.switches < best.switches):
            best = tree
    return best


def _two_tiers(
    nodes: int, positions: int, rails: int, radix: int, down: int, up: int, ratio: float, whole: bool, extra: int
) -> Tree | None:
    groups = ceil(positions / down)
    leaves = rails * groups
    rails_each = 1
    if not whole and groups == 1:
        rails_each = max(k for k in divisors(rails) if positions * k <= down)
        leaves = rails // rails_each
    if leaves > radix:
        return None
    if whole:
        uplinks = up
        spines = smallest_divisor(up, ceil(leaves * up / radix))
    else:
        used = ceil(positions / groups) * rails_each
        needed = ceil(used / ratio - 1e-9)
        options = (
            (smallest_divisor(u, ceil(leaves * u / radix)), u) for u in range(needed, max(needed, radix - used) + 1)
        )
        spines, uplinks = min(options)
    loads = _loads(nodes, rails, down, groups, extra, whole, rails_each)
    return Tree(2, leaves, spines, 0, down, uplinks, leaves * uplinks, 0, loads, groups * down if whole else positions)


def _three_tiers(
    nodes: int,
    positions: int,
    rails: int,
    radix: int,
    down: int,
    up: int,
    ratio: float,
    spine_down: int,
    spine_up: int,
    whole: bool,
    extra: int,
) -> Tree | None:
    groups = ceil(positions / down)
    leaves = rails * groups
    pods = ceil(leaves / spine_down)
    if pods > radix:
        return None
    uplinks = up if whole else ceil(ceil(positions / groups) / ratio - 1e-9)
    leaf_spine = leaves * uplinks
    spines = ceil(leaf_spine / spine_down)
    spine_core = ceil(leaf_spine * spine_up / spine_down)
    cores = ceil(spine_core / radix)
    per_pod, per_spine = divmod(spines, pods), divmod(cores * pods, spines)
    even = leaves % spine_down == 0 and per_pod[1] == 0 and per_spine[1] == 0 and spine_up % max(1, per_spine[0]) == 0
    loads = _loads(nodes, rails, down, groups, extra, whole, 1)
    sized = groups * down if whole else positions
    return Tree(3, leaves, spines, cores, down, uplinks, leaf_spine, spine_core, loads, sized, even)


def _loads(nodes: int, rails: int, down: int, groups: int, extra: int, whole: bool, rails_each: int) -> Loads:
    """Links to nodes on each leaf. Whole units fill leaf after leaf; exact counts spread them evenly."""
    if rails_each > 1:
        return spread(nodes * rails + extra, rails // rails_each)
    each, more = divmod(extra, rails)
    loads: list[tuple[int, int]] = []
    for rail_count, links in ((more, nodes + each + 1), (rails - more, nodes + each)):
        if not rail_count:
            continue
        if whole:
            full, rest = divmod(links, down)
            loads += [(rail_count * full, down), (rail_count, rest)]
        else:
            loads += [(rail_count * count, on_each) for count, on_each in spread(links, groups)]
    return tuple((count, links) for count, links in loads if count and links)


def spread(links: int, switches: int) -> Loads:
    """Links over switches as evenly as whole numbers allow."""
    if not switches:
        return ()
    each, more = divmod(links, switches)
    return tuple((count, on_each) for count, on_each in ((more, each + 1), (switches - more, each)) if count and on_each)


def cages(loads: Loads, links_per_cage: int) -> int:
    """Module positions in use: on each switch its links, rounded up to whole cages."""
    return sum(count * ceil(links / links_per_cage) for count, links in loads)
