"""The data that the calculators work on, read once from the knowledge folder."""

from __future__ import annotations

from pathlib import Path

import yaml

from app.accelerators import load_accelerators
from app.advisor.evidence import Tools
from app.errors import AdvisorError
from app.fabric.accelerator import Accelerators
from app.fabric.catalog import Catalog
from app.fabric.decision import Rules, parse_rules
from app.knowledge import load_catalog
from app.lossless_data import load_lossless
from app.serving_data import load_serving
from app.workloads import load_failures, load_workloads


def load_tools(knowledge: Path) -> Tools:
    """Catalog, accelerators and decision rules. Raises AdvisorError naming the file that is missing or malformed."""
    return Tools(
        catalog=load_catalog(knowledge / "catalog"),
        accelerators=load_accelerators(knowledge / "catalog"),
        rules=load_rules(knowledge / "catalog" / "decision.yaml"),
        lossless=load_lossless(knowledge / "catalog"),
        workloads=load_workloads(knowledge / "catalog"),
        failures=load_failures(knowledge / "catalog"),
        serving=load_serving(knowledge / "catalog"),
    )


def switch_names(catalog: Catalog) -> dict[str, tuple[str, str]]:
    """How people name switches -> (id, fabric): the series, whose first switch is meant, the designation, the id.

    `quantum-x800`, `7060x6-64pe`, `sn5600`; what names one switch more closely stands later.
    """
    names: dict[str, tuple[str, str]] = {}
    for switch in catalog.switches.values():
        for word in switch.name.partition("(")[0].split():
            if any(character.isdigit() for character in word) and any(character.isalpha() for character in word):
                names.setdefault(word.lower(), (switch.id, switch.fabric))
    return names | {switch.id.lower(): (switch.id, switch.fabric) for switch in catalog.switches.values()}


def network_speeds(accelerators: Accelerators) -> dict[str, int]:
    """Gb/s of network per GPU in the standard server of each GPU, by id and by other names."""
    speeds = {id: one.nics_per_node * one.nic_gbps // one.gpus_per_node for id, one in accelerators.by_id.items()}
    return speeds | {name: speeds[id] for name, id in accelerators.names.items() if id in speeds}


def load_rules(path: Path) -> Rules:
    try:
        return parse_rules(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
    except OSError as error:
        raise AdvisorError(
            f"Cannot read {path.name}: {error.strerror}.", "Restore knowledge/catalog from the repository."
        ) from None
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise AdvisorError(
            f"{path.name} is malformed: {error}.",
            "Correct that entry; the header of the file says its shape.",
        ) from None
