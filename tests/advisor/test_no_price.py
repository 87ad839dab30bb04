"""A switch without a price has sizes and no costs: counted as 0 it would turn a comparison round."""

import pytest

from app.advisor.advisor import Advisor
from app.errors import AdvisorError
from app.fabric.cost import Design
from app.knowledge import load_catalog
from app.settings import knowledge_folder

CATALOG = load_catalog(knowledge_folder() / "catalog")
UNPRICED = [id for id in CATALOG.switches if CATALOG.price(id) is None]


@pytest.mark.parametrize("id", UNPRICED)
def test_no_cost_without_a_price(id: str) -> None:
    switch = CATALOG.switches[id]
    gbps = min(400, max(switch.ports))
    with pytest.raises(AdvisorError, match="No price is known"):
        Design(64, switch.fabric, switch=id, gbps_per_gpu=gbps).cost(CATALOG)


def test_the_answer_gives_sizes_and_says_why_there_is_no_price(advisor: Advisor) -> None:
    answer = advisor.answer("RoCE or IB for 256 H200s on SN4700s, 3:1 to the spine?")
    assert (answer.kind, answer.verdict) == ("sizing", None)
    assert answer.spec["roce_switch"] == "sn4700"
    assert {one["tool"] for one in answer.calculations} == {"size"}
    assert "No price is known for NVIDIA Spectrum-3 SN4700" in answer.notices[0]
    chinese = advisor.answer("256张H200，用SN4700，RoCE网络多少钱？")
    assert "没有 NVIDIA Spectrum-3 SN4700 的价格" in chinese.notices[0]
