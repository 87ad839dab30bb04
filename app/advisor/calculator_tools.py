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
from app.fabric.goodput import estimate_goodput
from app.fabric.inference import estimate_inference
from app.fabric.job import Precision, unknown_model, usual_batch
from app.fabric.layout_search import search_calculation, search_layouts
from app.fabric.stock import plan_stock
from app.fabric.stock_pairing import Wiring
from app.fabric.topology import Fabric, Shape, size_fabric
from app.fabric.training import estimate_training

Result = tuple[str, dict[str, Any]]
Record = Callable[[Calculation], tuple[Calculation, str]]  # gives a calculation its id, and the text for the model


def as_json_text(calculation: Calculation) -> tuple[Calculation, str]:
    """For callers that number nothing: the values as JSON."""
    return calculation, json.dumps(calculation.to_json()["values"], ensure_ascii=False)


def calculator_tools(tools: Tools, record: Record = as_json_text) -> list[BaseTool]:
    """The calculators over the catalog's data."""

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

    def grow(
        keep: str,
        add_gpus: int,
        gpus_there: int = 0,
        fabric: Fabric | None = None,
        gpus_per_node: int = 8,
        gbps_per_gpu: int = 400,
        planes: int = 1,
        topology: Wiring = "rail-optimized",
        oversubscription: float = 1.0,
        new_switch: str | None = None,
    ) -> Result:
        """What breaks when a cluster grows on switches that are there already: which are kept, idle, to be bought.

        keep says the switches there, such as "40x sn4700, 4x sn5600"; gpus_there the GPUs on them already, add_gpus
        those that are added. oversubscription is down-links over up-links of a leaf, 3 for 3:1 to the spine.
        """
        return run(
            lambda: plan_stock(
                tools.catalog,
                keep=keep,
                add_gpus=add_gpus,
                gpus_there=gpus_there,
                fabric=fabric,
                gpus_per_node=gpus_per_node,
                gbps_per_gpu=gbps_per_gpu,
                planes=planes,
                topology=topology,
                oversubscription=oversubscription,
                new_switch=new_switch,
            ).calculation()
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

    def training(
        model: str,
        gpus: int,
        gpu: str = "h100",
        global_batch: int | None = None,
        sequence: int | None = None,
        precision: Precision = "bf16",
        tp: int | None = None,
        pp: int | None = None,
        cp: int = 1,
        ep: int = 1,
        fabric: Fabric = "infiniband",
        tuning: Tuning = "tuned",
        nic_gbps: int | None = None,
    ) -> Result:
        """Time of one training step, MFU and communication that is not hidden, e.g. for "llama3-70b" on 1024 GPUs.

        Without tp and pp the fastest layout that fits is searched. tuning "default" is an untuned RoCE fabric.
        """

        def step() -> Calculation:
            if model not in tools.workloads.models:
                raise unknown_model(model, tuple(tools.workloads.models))
            tokens = sequence or tools.workloads.models[model].sequence
            job: dict[str, Any] = {
                "model": model,
                "gpus": gpus,
                "gpu": gpu,
                "global_batch": global_batch or usual_batch(max(1, gpus), tokens),
                "sequence": tokens,
                "precision": precision,
                "fabric": fabric,
                "tuning": tuning,
            }
            if tp is None and pp is None:
                found = search_layouts(tools.accelerators, tools.workloads, keep=1, **job)
                if nic_gbps is None:
                    return search_calculation(found)
                layout = found[0].job
                job |= {
                    name: getattr(layout, name) for name in ("tp", "pp", "cp", "ep", "vp", "micro_batch", "recompute")
                }
            else:
                job |= {"tp": tp or 1, "pp": pp or 1, "cp": cp, "ep": ep}
            return estimate_training(tools.accelerators, tools.workloads, nic_gbps=nic_gbps, **job).calculation()

        return run(step)

    def goodput(gpus: int, checkpoint_s: float | None = None, restart_s: float | None = None) -> Result:
        """How often a training job of so many GPUs is interrupted, the best checkpoint interval, the goodput."""
        return run(
            lambda: estimate_goodput(
                tools.failures, gpus=gpus, checkpoint_s=checkpoint_s, restart_s=restart_s
            ).calculation()
        )

    def inference(
        model: str = "llama3-70b",
        gpus: int = 8,
        gpu: str = "h100",
        tp: int | None = None,
        prompt_tokens: int = 32_768,
        output_tokens: int = 512,
        requests_per_s: float | None = None,
        precision: Precision = "bf16",
        fabric: Fabric = "infiniband",
        nics_per_node: int | None = None,
        nic_gbps: int | None = None,
        tuning: Tuning = "tuned",
    ) -> Result:
        """Serving a model: KV cache size and transfer, prefill and decode time, and whether 400G RDMA is needed.

        model is an id such as "llama3-70b" or "deepseek-v3"; tp is the GPUs of a replica.
        """
        return run(
            lambda: estimate_inference(
                tools.accelerators,
                tools.workloads.models,
                tools.serving,
                model=model,
                gpus=gpus,
                gpu=gpu,
                tp=tp,
                prompt_tokens=prompt_tokens,
                output_tokens=output_tokens,
                requests_per_s=requests_per_s,
                precision=precision,
                fabric=fabric,
                nics_per_node=nics_per_node,
                nic_gbps=nic_gbps,
                tuning=tuning,
            ).calculation()
        )

    return [
        StructuredTool.from_function(function, response_format="content_and_artifact")
        for function in (size, grow, cost, compare, collective, training, goodput, inference)
    ]
