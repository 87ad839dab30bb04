"""The options that several commands share, each said once: click's declarations -> its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Options = Mapping[str, Mapping[str, Any]]
FABRIC = click.Choice(["infiniband", "roce"])

CLUSTER: Options = {
    "--gpus": {"type": int, "required": True, "help": "Number of GPUs."},
    "--gpus-per-node": {"type": int, "default": 8, "help": "GPUs of a node or NVLink domain."},
    "--gbps-per-gpu": {"type": int, "default": 400, "help": "Network speed per GPU, Gb/s."},
    "--nics-per-gpu": {"type": float, "default": 1.0, "help": "NIC ports of a GPU and plane; 0.5: two GPUs share one."},
    "--planes": {"type": int, "default": 1, "help": "Parallel fabrics that share the bandwidth."},
    "--topology": {"type": click.Choice(["rail-optimized", "fat-tree", "rail-only"]), "default": "rail-optimized"},
    "--oversubscription": {"type": float, "default": 1.0, "help": "Down-links over up-links of a leaf."},
    "--core-oversubscription": {"type": float, "default": 1.0, "help": "Down-links over up-links of a spine."},
    "--reserved-ports": {"type": int, "default": 0, "help": "Leaf ports of each plane kept free, e.g. for UFM."},
    "--grow-to": {"type": int, "help": "Build switches and their links for so many GPUs."},
    "--single-switch": {"is_flag": True, "help": "One switch where its ports suffice, rather than a pair."},
    "--whole-units/--exact": {"default": True, "help": "Whole scalable units, or for these GPUs only."},
}
SWITCH: Options = {
    "--fabric": {"type": FABRIC, "required": True},
    "--switch": {"help": "Switch id; see knowledge/catalog/switches.yaml."},
}
GROW: Options = {
    "--keep": {"required": True, "help": 'Switches there: "40x sn4700, 4x sn5600"; ids as in switches.yaml.'},
    "--add add_gpus": {"type": int, "required": True, "help": "GPUs that are added."},
    "--there gpus_there": {"type": int, "default": 0, "help": "GPUs that hang on these switches already."},
    "--fabric": {"type": FABRIC, "help": "The network of the GPUs; by default that of the switches."},
    "--gpus-per-node": CLUSTER["--gpus-per-node"],
    "--gbps-per-gpu": CLUSTER["--gbps-per-gpu"],
    "--planes": CLUSTER["--planes"],
    "--topology": {"type": click.Choice(["rail-optimized", "fat-tree"]), "default": "rail-optimized"},
    "--oversubscription": CLUSTER["--oversubscription"],
    "--new-switch": {"help": "Switch id to buy where those there do not do; more of them may be bought too."},
    "--whole-units/--exact": CLUSTER["--whole-units/--exact"],
}
BILL: Options = {
    "--nic": {"help": "NIC id; see knowledge/catalog/nics.yaml."},
    "--node-leaf-m": {"type": float, "help": "Length of node-leaf links, metres."},
    "--leaf-spine-m": {"type": float, "help": "Length of leaf-spine links, metres."},
    "--spine-core-m": {"type": float, "help": "Length of spine-core links, metres."},
    "--twin-port-nodes": {"is_flag": True, "help": "One twin-port module for two NICs, as in DGX H100."},
}
TERMS: Options = {
    "--years": {"type": float, "help": "Years of operation."},
    "--pue": {"type": float, "help": "Facility power over IT power."},
    "--usd-per-kwh": {"type": float, "help": "Price of electricity."},
    "--discount discount_percent": {"type": float, "help": "Discount rate, % a year."},
    "--support support_percent": {"type": float, "help": "Support, % of hardware price a year."},
    "--staff-fte": {"type": float, "help": "Network staff, full-time equivalents."},
    "--salary salary_usd": {"type": float, "help": "Pay of one of them, USD a year."},
    "--spares spares_percent": {"type": float, "help": "Spares, % of each part."},
}
NAAS: Options = {
    "--naas-10g ports_10g": {"type": int, "default": 0, "help": "Rented 10G ports to sites or clouds."},
    "--naas-100g ports_100g": {"type": int, "default": 0, "help": "Rented 100G ports to sites or clouds."},
    "--naas-egress-tb egress_tb_per_month": {"type": float, "default": 0.0, "help": "TB a month out of the cloud."},
}
SIDE: Options = {
    "--storage-links": {"type": int, "help": "400G links to storage devices; 3 for 8 nodes unless given."},
    "--storage-switch": {"help": "Switch id of the storage network."},
}
LOST: Options = {
    "--lost-percent": {"help": "GPU hours that the slower network loses, %: 5, or low/typical/high."},
    "--model": {"help": "Or take them from training this model; see knowledge/catalog/models.yaml."},
    "--gpu": {"default": "h100", "help": "GPU id of that training."},
    "--global-batch": {"type": int, "help": "Sequences a step of that training; one a GPU unless given."},
    "--slower": {"type": FABRIC, "default": "roce", "help": "The network that loses them."},
    "--used-percent": {"type": float, "default": 100.0, "help": "How much of the time the GPUs run jobs."},
    "--gpu-hour": {"default": "gpu-hour-h100", "help": "What prices a GPU hour; see knowledge/catalog/services.yaml."},
}
_YES = {"type": bool, "default": None}
FACTS: Options = {
    "--workload": {"type": click.Choice(["pretraining", "finetuning", "inference"])},
    "--budget": {"type": click.Choice(["ample", "tight"])},
    "--network-team": {"type": click.Choice(["strong", "none"])},
    "--priority": {"type": click.Choice(["performance", "cost"])},
    "--hybrid": {**_YES, "help": "The cluster spans sites or clouds."},
    "--ethernet-estate": {**_YES, "help": "You run data-centre Ethernet already."},
    "--avoid-lock-in": {**_YES, "help": "You must avoid a single vendor."},
    "--tenancy": {"type": click.Choice(["single", "multi"])},
    "--region": {"type": click.Choice(["china", "elsewhere"])},
    "--supply": {"type": click.Choice(["constrained", "open"])},
    "--time-to-market": {"type": click.Choice(["urgent", "relaxed"])},
}
_OPERATIONS = click.Choice(["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv"])
COLLECTIVE: Options = {
    "--op": {"type": _OPERATIONS, "default": "all-reduce"},
    "--nodes": {"type": int, "required": True},
    "--gpus-per-node": {"type": int, "default": 8},
    "--gpu": {"default": "h100", "help": "GPU id; see knowledge/catalog/accelerators.yaml."},
    "--fabric": {"type": FABRIC, "default": "infiniband"},
    "--nics": {"default": "8x400", "help": "NICs per node and their speed in Gb/s."},
    "--bytes size_text": {"default": "1GiB", "help": "Size of the collective, e.g. 8GiB."},
    "--tuning": {"type": click.Choice(["tuned", "default", "mis-tuned"]), "default": "tuned"},
    "--sharp": {"is_flag": True, "help": "In-network reduction (InfiniBand)."},
    "--oversubscription": {"type": float, "default": 1.0},
}
ASSESS: Options = {
    "--op": {"type": _OPERATIONS, "help": "The collective, where the log does not say it."},
    "--gpu": {"help": "GPU id, where the log does not say it."},
    "--nodes": {"type": int, "help": "Number of nodes, where the log does not say it."},
    "--nics": {"help": "NICs per node and their speed, e.g. 8x400; else those of the GPU's standard server."},
    "--fabric": {"type": FABRIC, "default": "roce"},
}


def options(*tables: Options) -> Callable[[Decorated], Decorated]:
    """Add the options of these tables to a command, in their order."""

    def decorate(function: Decorated) -> Decorated:
        for table in reversed(tables):
            for names, settings in reversed(list(table.items())):
                function = click.option(*names.split(), **{"show_default": True, **settings})(function)
        return function

    return decorate


def taken(given: dict[str, Any], *tables: Options) -> dict[str, Any]:
    """Take the arguments of these tables out of a command's keyword arguments."""
    return {name: given.pop(name) for table in tables for name in map(_argument, table)}


def _argument(names: str) -> str:
    """click's name for the argument: the one without dashes, or the first long option's."""
    plain = names.split()[-1]
    return plain.split("/")[0].removeprefix("--").replace("-", "_")
