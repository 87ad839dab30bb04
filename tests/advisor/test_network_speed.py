"""The network of a GPU, from the NICs of a node; ports of other networks say nothing of it."""

import pytest

from app.advisor.network_speed import gbps_per_gpu


@pytest.mark.parametrize(
    ("text", "per_node", "gbps"),
    [
        ("8x400g per node", 8, 400),
        ("4 x 400g nics per node", 8, 200),
        ("each node has 2 nics of 200g", 8, 50),
        ("8 nics each, 400g", 8, 400),
        ("1 400g nic per node", 8, 50),
        ("每台服务器8块400g网卡", 8, 400),
        ("每台2块200g网卡", 8, 50),
        ("2x400g ports per gpu", 8, 800),
        ("每gpu 2个400g口", 8, 800),
        ("3.2t per node", 8, 400),
        ("400g per gpu", 8, 400),
        ("64卡a100,200g网卡", 8, 200),
        ("ndr for 64 gpus", 8, 400),
        # other networks
        ("20 nodes with 2 x 100g uplinks to the campus", 8, None),
        ("2 x 100g uplinks, 8x400g per node", 8, 400),
        ("storage over 100g, back end 400g", 8, 400),
        ("a 100g storage network", 8, None),
        ("存储网100g,计算网400g", 8, 400),
        ("10t tokens", 8, None),
        ("64 gpus", 8, None),
    ],
)
def test_what_each_gpu_gets(text: str, per_node: int, gbps: int | None) -> None:
    assert gbps_per_gpu(text, per_node) == gbps
