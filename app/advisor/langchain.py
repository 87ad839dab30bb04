"""The advisor in LangChain's terms: the calculators as tools, and the whole as a Runnable chain.

For people who compose it with what they know; the product's own pages and commands do not go through here.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool

from app.advisor.advisor import Advisor
from app.advisor.evidence import Tools
from app.errors import AdvisorError
from app.fabric.calculation import Calculation
from app.fabric.collective import Operation, estimate_collective
from app.fabric.compare import compare_fabrics
from app.fabric.cost import cost_calculation
from app.fabric.topology import Fabric, size_fabric

Result = tuple[str, dict[str, Any]]


def calculator_tools(tools: Tools) -> list[BaseTool]:
    """size, cost, compare and collective; each gives the model text and the program the Calculation's JSON."""

    def size(
        gpus: int, fabric: Fabric, gpus_per_node: int = 8, gbps_per_gpu: int = 400, oversubscription: float = 1.0
    ) -> Result:
        """Switches, tiers and links of a fabric ("infiniband" or "roce") for a number of GPUs."""
        return _result(
            lambda: size_fabric(
                tools.catalog,
                gpus=gpus,
                fabric=fabric,
                gpus_per_node=gpus_per_node,
                gbps_per_gpu=gbps_per_gpu,
                oversubscription=oversubscription,
            ).calculation()
        )

    def cost(gpus: int, fabric: Fabric, gpus_per_node: int = 8, gbps_per_gpu: int = 400) -> Result:
        """Network capex, power and TCO of a fabric ("infiniband" or "roce"), as ranges in USD."""
        return _result(
            lambda: cost_calculation(
                tools.catalog,
                gpus=gpus,
                fabric=fabric,
                gpus_per_node=gpus_per_node,
                gbps_per_gpu=gbps_per_gpu,
            )
        )

    def compare(gpus: int, gpus_per_node: int = 8, gbps_per_gpu: int = 400) -> Result:
        """InfiniBand beside RoCE for the same cluster: capex, TCO and their ratio."""
        return _result(
            lambda: compare_fabrics(
                tools.catalog, gpus=gpus, gpus_per_node=gpus_per_node, gbps_per_gpu=gbps_per_gpu
            ).calculation()
        )

    def collective(
        op: Operation, nodes: int, bytes: int, gpu: str = "h100", fabric: Fabric = "infiniband", gpus_per_node: int = 8
    ) -> Result:
        """Time and bus bandwidth of a collective such as "all-reduce" over a number of nodes."""
        return _result(
            lambda: estimate_collective(
                tools.accelerators,
                op=op,
                nodes=nodes,
                bytes=bytes,
                gpu=gpu,
                fabric=fabric,
                gpus_per_node=gpus_per_node,
            ).calculation()
        )

    return [
        StructuredTool.from_function(function, response_format="content_and_artifact")
        for function in (size, cost, compare, collective)
    ]


def as_runnable(advisor: Advisor) -> Runnable[Any, Any]:
    """A Runnable from a question (str, or {"question", "history"}) to an Answer."""

    def run(asked: Any) -> Any:
        if isinstance(asked, str):
            return advisor.answer(asked)
        return advisor.answer(asked["question"], asked.get("history", ()))

    return RunnableLambda(run, name="fabric_advisor")


def _result(calculate: Any) -> Result:
    """The calculation, or for bad input the error as text that the model can act on."""
    try:
        calculation: Calculation = calculate()
    except AdvisorError as error:
        return str(error), {}
    data = calculation.to_json()
    return json.dumps(data["values"], ensure_ascii=False), data
