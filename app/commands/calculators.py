"""size, cost, compare, collective, assess: the calculators from the shell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from app.accelerators import load_accelerators
from app.commands.output import json_option, language_option, print_calculation
from app.errors import AdvisorError
from app.fabric.calculation import Language
from app.fabric.catalog import Catalog
from app.knowledge import load_catalog
from app.settings import knowledge_folder

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
FABRIC = click.Choice(["infiniband", "roce"])


def cluster_options(function: Decorated) -> Decorated:
    for option in reversed(
        (
            click.option("--gpus", type=int, required=True, help="Number of GPUs."),
            click.option("--gpus-per-node", type=int, default=8, show_default=True),
            click.option("--gbps-per-gpu", type=int, default=400, show_default=True, help="Network speed per GPU, Gb/s."),
            click.option("--planes", type=int, default=1, show_default=True, help="Parallel fabrics that share the bandwidth."),
            click.option(
                "--topology",
                type=click.Choice(["rail-optimized", "fat-tree", "rail-only"]),
                default="rail-optimized",
                show_default=True,
            ),
            click.option("--oversubscription", type=float, default=1.0, show_default=True, help="Down-links over up-links of a leaf."),
        )
    ):
        function = option(function)
    return function


def term_options(function: Decorated) -> Decorated:
    for option in reversed(
        (
            click.option("--years", type=int, default=None, help="Years of operation."),
            click.option("--pue", type=float, default=None, help="Facility power over IT power."),
            click.option("--usd-per-kwh", type=float, default=None, help="Price of electricity."),
        )
    ):
        function = option(function)
    return function


@click.command()
@cluster_options
@click.option("--fabric", type=FABRIC, required=True)
@click.option("--switch", default=None, help="Switch id; see knowledge/catalog/switches.yaml.")
@click.option("--whole-units/--exact", default=True, show_default=True, help="Size for whole scalable units, or for these GPUs only.")
@json_option
@language_option
def size(fabric: str, switch: str | None, whole_units: bool, as_json: bool, language: Language, **cluster: Any) -> None:
    """Switches, tiers and links of a fabric."""
    from app.fabric.topology import size_fabric

    sized = size_fabric(_catalog(), fabric=fabric, switch=switch, whole_units=whole_units, **cluster)  # type: ignore[arg-type]
    print_calculation(sized.calculation(), as_json=as_json, language=language)


@click.command()
@cluster_options
@click.option("--fabric", type=FABRIC, required=True)
@click.option("--switch", default=None, help="Switch id; see knowledge/catalog/switches.yaml.")
@term_options
@json_option
@language_option
def cost(
    fabric: str,
    switch: str | None,
    years: int | None,
    pue: float | None,
    usd_per_kwh: float | None,
    as_json: bool,
    language: Language,
    **cluster: Any,
) -> None:
    """Bill of materials, power and total cost of ownership of one fabric."""
    from app.fabric.cost import cost_calculation
    from app.fabric.terms import default_terms

    catalog = _catalog()
    calculation = cost_calculation(
        catalog, fabric=fabric, switch=switch, terms=default_terms(catalog, cluster["gpus"], years=years, pue=pue, usd_per_kwh=usd_per_kwh), **cluster  # type: ignore[arg-type]
    )
    print_calculation(calculation, as_json=as_json, language=language)


@click.command()
@cluster_options
@click.option("--infiniband-switch", default=None)
@click.option("--roce-switch", default=None)
@term_options
@json_option
@language_option
def compare(
    infiniband_switch: str | None,
    roce_switch: str | None,
    years: int | None,
    pue: float | None,
    usd_per_kwh: float | None,
    as_json: bool,
    language: Language,
    **cluster: Any,
) -> None:
    """InfiniBand beside RoCE for the same cluster."""
    from app.fabric.compare import compare_fabrics
    from app.fabric.terms import default_terms

    catalog = _catalog()
    result = compare_fabrics(
        catalog,
        infiniband_switch=infiniband_switch,
        roce_switch=roce_switch,
        terms=default_terms(catalog, cluster["gpus"], years=years, pue=pue, usd_per_kwh=usd_per_kwh),
        **cluster,
    )
    print_calculation(result.calculation(), as_json=as_json, language=language)


@click.command()
@click.option(
    "--op",
    type=click.Choice(["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv"]),
    default="all-reduce",
    show_default=True,
)
@click.option("--nodes", type=int, required=True)
@click.option("--gpus-per-node", type=int, default=8, show_default=True)
@click.option("--gpu", default="h100", show_default=True, help="GPU id; see knowledge/catalog/accelerators.yaml.")
@click.option("--fabric", type=FABRIC, default="infiniband", show_default=True)
@click.option("--nics", default="8x400", show_default=True, help="NICs per node and their speed in Gb/s.")
@click.option("--bytes", "size_text", default="1GiB", show_default=True, help="Size of the collective, e.g. 8GiB.")
@click.option("--tuning", type=click.Choice(["tuned", "default", "mis-tuned"]), default="tuned", show_default=True)
@click.option("--sharp", is_flag=True, help="In-network reduction (InfiniBand).")
@click.option("--oversubscription", type=float, default=1.0, show_default=True)
@json_option
@language_option
def collective(size_text: str, nics: str, as_json: bool, language: Language, **options: Any) -> None:
    """Time and bandwidth of one collective, in the terms of nccl-tests."""
    from app.fabric.collective import estimate_collective, parse_bytes, parse_nics

    nics_per_node, nic_gbps = parse_nics(nics)
    result = estimate_collective(
        load_accelerators(knowledge_folder() / "catalog"),
        bytes=parse_bytes(size_text),
        nics_per_node=nics_per_node,
        nic_gbps=nic_gbps,
        **options,
    )
    print_calculation(result.calculation(), as_json=as_json, language=language)


@click.command()
@click.argument("file")
@click.option("--gpu", default="h100", show_default=True)
@click.option("--nics", default="8x400", show_default=True, help="NICs per node and their speed in Gb/s.")
@json_option
@language_option
def assess(file: str, gpu: str, nics: str, as_json: bool, language: Language) -> None:
    """A measured nccl-tests table (FILE, or - for stdin) against what the hardware can give."""
    from app.fabric.assess import assess_log

    text = click.get_text_stream("stdin").read() if file == "-" else _read(Path(file))
    calculation = assess_log(text, load_accelerators(knowledge_folder() / "catalog"), gpu=gpu, nics=nics)
    print_calculation(calculation, as_json=as_json, language=language)


def _catalog() -> Catalog:
    return load_catalog(knowledge_folder() / "catalog")




def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise AdvisorError(f"Cannot read {path}: {error.strerror}.", "Name a readable file, or - for stdin.") from None
