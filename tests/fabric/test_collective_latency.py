"""NCCL's latency formulas (v2.30.7) against values worked out by hand; 8 GPUs a node, microseconds."""

from pathlib import Path

import pytest

from app.accelerators import load_accelerators
from app.fabric.latency import collnet_us, nvls_us, ring_us, tree_us

KNOWLEDGE = Path(__file__).parents[2] / "knowledge"


@pytest.fixture(scope="module")
def latencies():
    return load_accelerators(KNOWLEDGE).constants.latencies


@pytest.mark.parametrize(
    ("nodes", "ring_ll", "ring_simple", "tree_ll", "tree_simple", "nvls"),
    [
        (1, 15.0, 56.0, 15.2, 64.4, 25.0),
        (2, 40.0, 131.6, 25.2, 92.4, 66.8),
        (4, 78.8, 282.8, 35.2, 120.4, 108.6),
        (8, 156.4, 585.2, 45.2, 148.4, 150.4),
        (128, 2484.4, 9657.2, 85.2, 260.4, 317.6),
    ],
)
def test_all_reduce_latency(latencies, nodes, ring_ll, ring_simple, tree_ll, tree_simple, nvls):
    shape = {"gpus": 8 * nodes, "domains": nodes}
    assert ring_us(latencies, latencies.ring_ll, passes=2, **shape) == pytest.approx(ring_ll)
    assert ring_us(latencies, latencies.ring_simple, passes=2, **shape) == pytest.approx(ring_simple)
    assert tree_us(latencies.tree_ll, **shape) == pytest.approx(tree_ll)
    assert tree_us(latencies.tree_simple, **shape) == pytest.approx(tree_simple)
    assert nvls_us(latencies, domains=nodes) == pytest.approx(nvls)


def test_sharp_is_constant_and_one_gpu_a_node_takes_the_tree_step(latencies):
    assert collnet_us(latencies, gpus=16, domains=2) == pytest.approx(44.0)
    assert collnet_us(latencies, gpus=1024, domains=128) == pytest.approx(44.0)
    # 4 nodes of one GPU, all-gather: 6.6 + 3 * 5.0
    assert ring_us(latencies, latencies.ring_ll, gpus=4, domains=4, passes=1) == pytest.approx(21.6)


def test_network_factor_scales_only_the_network_steps(latencies):
    # two nodes, tree LL: 6.8 + 2 (7 * 0.6 + 5.0 * 2)
    assert tree_us(latencies.tree_ll, gpus=16, domains=2, net_factor=2) == pytest.approx(35.2)
