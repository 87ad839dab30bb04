"""The calculators as LangChain tools: thin wrappers whose docstrings are what a model reads.

Each gives text for the model and, as artifact, the Calculation's JSON. Bad input comes back as text to act on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from app.advisor.evidence import Tools
from app.errors import AdvisorError
from app.fabric.accelerator import Tuning
from app.fabric.calculation import Calculation
from app.fabric.collective import Operation, estimate_collective
from app.fabric.compare import compare_fabrics
from app.fabric.cost import cost_calculation
from app.fabric.topology import Fabric, Shape, size_fabric

Result = tuple[str, dict[str, Any]]
Record = Callable[[Calculation], tuple[Calculation, str]]  # gives a calculation its id, and the text for the model


def as_json_text(calculation: Calculation) -> tuple[Calculation, str]:
    """For callers that number nothing: the values as JSON."""
    return calculation, json.dumps(calculation.to_json()["values"], ensure_ascii=False)


def calculator_tools(tools: Tools, record: Record = as_json_text) -> list[BaseTool]:
    """size, cost, compare and collective over the catalog's data."""

    def run(calculate: Callable[[], Calculation]) -> Result:
        try:
            calculation, text = record(calculate())
        except AdvisorError as error:
            return f"Error: {error}", {}
        return text, calculation.to_json()

    def size(
        gpus: int,
        fabric: Fabric,
        switch: str | None = None,
        gpus_per_node: int = 8,
        gbps_per_gpu: int = 400,
        topology: Shape = "rail-optimized",
        oversubscription: float = 1.0,
        planes: int = 1,
    ) -> Result:
        """Switches, tiers and links of one fabric ("infiniband" or "roce") for a number of GPUs.

        oversubscription is down-links over up-links of a leaf, 3 for 3:1. switch is an id such as "qm9700".
        """
        return run(
            lambda: size_fabric(
                tools.catalog,
                gpus=gpus,
                fabric=fabric,
                switch=switch,
                gpus_per_node=gpus_per_node,
                gbps_per_gpu=gbps_per_gpu,
                topology=topology,
                oversubscription=oversubscription,
                planes=planes,
            ).calculation()
        )

    def cost(
        gpus: int,
        fabric: Fabric,
        switch: str | None = None,
        gpus_per_node: int = 8,
        gbps_per_gpu: int = 400,
        topology: Shape = "rail-optimized",
        oversubscription: float = 1.0,
        planes: int = 1,
    ) -> Result:
        """Network price, power and total cost of ownership of one fabric ("infiniband" or "roce"), ranges in USD."""
        return run(
            lambda: cost_calculation(
                tools.catalog,
                gpus=gpus,
                fabric=fabric,
                switch=switch,
                gpus_per_node=gpus_per_node,
                gbps_per_gpu=gbps_per_gpu,
                topology=topology,
                oversubscription=oversubscription,
                planes=planes,
            )
        )

    def compare(
        gpus: int,
        gpus_per_node: int = 8,
        gbps_per_gpu: int = 400,
        infiniband_switch: str | None = None,
        roce_switch: str | None = None,
        oversubscription: float = 1.0,
    ) -> Result:
        """InfiniBand beside RoCE for the same cluster: price, total cost of ownership, and their ratios."""
        return run(
            lambda: compare_fabrics(
                tools.catalog,
                gpus=gpus,
                gpus_per_node=gpus_per_node,
                gbps_per_gpu=gbps_per_gpu,
                infiniband_switch=infiniband_switch,
                roce_switch=roce_switch,
                oversubscription=oversubscription,
            ).calculation()
        )

    def collective(
        op: Operation,
        nodes: int,
        bytes: int,
        gpu: str = "h100",
        fabric: Fabric = "infiniband",
        gpus_per_node: int = 8,
        nics_per_node: int = 8,
        nic_gbps: int = 400,
        tuning: Tuning = "tuned",
        oversubscription: float = 1.0,
    ) -> Result:
        """Time and bus bandwidth of one collective such as "all-reduce" of so many bytes over a number of nodes."""
        return run(
            lambda: estimate_collective(
                tools.accelerators,
                op=op,
                nodes=nodes,
                bytes=bytes,
                gpu=gpu,
                fabric=fabric,
                gpus_per_node=gpus_per_node,
                nics_per_node=nics_per_node,
                nic_gbps=nic_gbps,
                tuning=tuning,
                oversubscription=oversubscription,
            ).calculation()
        )

    return [
        StructuredTool.from_function(function, response_format="content_and_artifact")
        for function in (size, cost, compare, collective)
    ]
