"""Published nccl-tests output, shortened, and what the advisor should say of it."""

from pathlib import Path

import pytest

from app.accelerators import load_accelerators
from app.errors import AdvisorError
from app.fabric.assess import assess_log
from app.fabric.nccl_log import parse_nccl_log

KNOWLEDGE = Path(__file__).parents[2] / "knowledge"

# oci-hpc Troubleshooting.md: two H100 nodes, RoCE 16x200G; here with every rank listed
OCI_H100 = "# Collective test starting: all_reduce_perf\n" + "".join(
    f"#  Rank {rank:2d} Group  0 Pid 1 on node-{rank // 8} device {rank % 8} [0000:0f:00] NVIDIA H100\n"
    for rank in range(16)
)
OCI_H100 += """\
#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  1073741824  268435456  float  sum  -1  4478.8  239.74  449.51  0  4463.7  240.55  451.03  0
  8589934592  2147483648  float  sum  -1  34280  250.58  469.84  0  34272  250.64  469.96  0
 17179869184  4294967296  float  sum  -1  68359  251.32  471.22  0  68427  251.07  470.75  0
# Avg bus bandwidth    : 464.075
"""
# skypilot examples/coreweave_infiniband: two H200 nodes without InfiniBand
TCP_H200 = """\
# all_reduce_perf
 536870912  134217728  float  sum  -1  269865  1.99  3.73  0  267004  2.01  3.77  0
8589934592  2147483648  float  sum  -1  4280791  2.01  3.76  0  4339219  1.98  3.71  0
"""
# awsome-distributed-training, EKS sample: tagged by mpirun
EKS_P5 = """\
   [1,0]<stdout>:           0             0     float     sum      -1    15.51    0.00    0.00      0
   [1,0]<stdout>:    67108864      16777216     float     sum      -1    996.0   67.38  126.33      0
   [1,0]<stdout>:   268435456      67108864     float     sum      -1   3010.8   89.16  167.17      0
   [1,0]<stdout>:  2147483648     536870912     float     sum      -1   9197.5  233.49  437.79      0
"""
# coreweave/nccl-tests: "64 GPUs", but the ratio of the columns is that of 96
COREWEAVE = """\
   536870912  134217728  float  sum  -1  2984.6  179.88  356.01  0  2979.7  180.18  356.60  0
  8589934592  2147483648  float  sum  -1  43980  195.31  386.56  0  44094  194.81  385.56  0
"""
# SuperBench: no root column, N/A instead of a count
SUPERBENCH = """\
# all_reduce_perf
           4             1   float     sum    34.73    0.00    0.00    N/A    35.30    0.00    0.00    N/A
  8589934592    2147483648   float     sum    63896  134.44  235.26    N/A    63959  134.30  235.03    N/A
"""


@pytest.fixture(scope="module")
def accelerators():
    return load_accelerators(KNOWLEDGE)


def codes(calculation):
    return [row["code"] for row in calculation.rows]


def test_a_good_roce_fabric_between_two_nodes(accelerators):
    made = assess_log(OCI_H100, accelerators, nics=(16, 200))
    assert (made.inputs["gpu"], made.inputs["nodes"], made.inputs["gpus_per_node"]) == ("h100", 2, 8)
    assert made.values["busbw_gbytes_per_s"].value == 471.22
    assert made.values["bound_gbytes_per_s"].value == pytest.approx(480 / 1.75 * 1.875)
    assert made.values["fraction_of_bound"].value == pytest.approx(471.22 / 514.286, rel=1e-4)
    assert codes(made) == ["tuned", "two-nodes"]


def test_no_rdma_is_told_from_a_slow_fabric(accelerators):
    made = assess_log(TCP_H200, accelerators, "h200", (8, 400))
    assert made.rows[0]["code"] == "no-rdma"
    assert made.rows[0]["level"] == "fault"
    assert "0.7 %" in made.rows[0]["en"]
    assert "NET/Socket" in made.rows[0]["zh"]


def test_a_fabric_that_only_large_messages_flatter(accelerators):
    made = assess_log(EKS_P5, accelerators, "h100", (32, 100))
    assert codes(made)[0] == "slow-ramp"
    assert "167 GB/s" in made.rows[0]["en"] or "126 GB/s" in made.rows[0]["en"]


def test_the_ratio_of_the_columns_tells_the_gpus(accelerators):
    assert parse_nccl_log(COREWEAVE).gpus == 96
    made = assess_log(COREWEAVE, accelerators, "h100", (8, 400))
    assert made.inputs["nodes"] == 12
    assert made.values["fraction_of_bound"].value == pytest.approx(386.56 / 388)
    assert codes(made) == ["tuned"]


def test_columns_of_old_versions(accelerators):
    made = assess_log(SUPERBENCH, accelerators, "a100")
    assert made.inputs["nodes"] == 1
    assert codes(made) == ["slow-start", "nvlink-full"]


def shifted(busbw, gpus=64, size=8589934592):
    """One line of an all-reduce over so many GPUs that reaches so much."""
    time = size * 2 * (gpus - 1) / gpus / busbw / 1000
    algbw = size / time / 1000
    columns = f"{time:.1f} {algbw:.2f} {busbw:.2f} 0"
    return f"# all_reduce_perf\n{size} 1 float sum -1 {columns} {columns}\n"


@pytest.mark.parametrize(
    ("busbw", "code"),
    [
        (375, "tuned"),
        (300, "below-tuned"),
        (150, "mis-tuned"),
        (40, "few-nics"),
        (2.5, "no-rdma"),
        (470, "above-bound"),
    ],
)
def test_levels_between_nodes(accelerators, busbw, code):
    made = assess_log(shifted(busbw), accelerators, "h100", (8, 400))
    assert made.inputs["nodes"] == 8
    assert code in codes(made)


def test_a_missing_rail_is_named(accelerators):
    expected = assess_log(shifted(370), accelerators, "h100").values["expected_busbw_gbytes_per_s"].value
    made = assess_log(shifted(expected * 6 / 8), accelerators, "h100", (8, 400))
    assert "6 of 8 NICs" in next(row["en"] for row in made.rows if row["code"] == "rails-missing")


def test_nvls_off_inside_a_node(accelerators):
    assert codes(assess_log(shifted(365, gpus=8), accelerators, "h100"))[0] == "nvls-off"
    assert codes(assess_log(shifted(200, gpus=8), accelerators, "h100"))[0] == "nvlink-low"


def test_a_dip_and_wrong_elements_are_found(accelerators):
    lines = OCI_H100.replace("469.84  0", "300.00  7")
    assert codes(assess_log(lines, accelerators, nics=(16, 200)))[:2] == ["wrong-data", "dip"]


@pytest.mark.parametrize(
    ("text", "given", "says"),
    [
        ("", {}, "No nccl-tests table"),
        ("just words\n1 2 3", {}, "No nccl-tests table"),
        ("x" * 20_000_001, {}, "too long"),
        (COREWEAVE, {}, "does not name a GPU"),
        (COREWEAVE, {"gpu": "h1000"}, "Unknown GPU"),
        (
            "1048576 1 float none -1 996.7 1.05 0.99 N/A 1007.1 1.04 0.98 N/A",
            {"gpu": "h100"},
            "which collective",
        ),
        ("16 4 float sum -1 62.15 0.00 0.00 0\n# all_reduce_perf", {"gpu": "h100"}, "how many GPUs"),
        (COREWEAVE, {"gpu": "h100", "nodes": 7}, "do not spread evenly"),
    ],
)
def test_what_cannot_be_assessed_is_refused(accelerators, text, given, says):
    with pytest.raises(AdvisorError, match=says):
        assess_log(text, accelerators, **given)
