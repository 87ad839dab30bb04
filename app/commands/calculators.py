"""size, grow, cost, compare, collective, assess: the calculators from the shell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.accelerators import load_accelerators
from app.commands.options import (
    ASSESS,
    BILL,
    CLUSTER,
    COLLECTIVE,
    FACTS,
    GROW,
    LOST,
    NAAS,
    SIDE,
    SWITCH,
    TERMS,
    options,
    taken,
)
from app.commands.output import json_option, language_option, print_calculation, print_calculations, print_json
from app.errors import AdvisorError
from app.fabric.calculation import Language
from app.fabric.catalog import Catalog
from app.fabric.terms import CostTerms, default_terms
from app.knowledge import load_catalog
from app.settings import knowledge_folder

if TYPE_CHECKING:
    from app.fabric.bill import Bill


@click.command()
@options(CLUSTER, SWITCH, SIDE)
@click.option(
    "--network",
    type=click.Choice(["compute", "storage", "in-band", "out-of-band"]),
    default="compute",
    show_default=True,
    help="Which of the cluster's networks.",
)
@json_option
@language_option
def size(network: str, as_json: bool, language: Language, **given: Any) -> None:
    """Switches, tiers and links of a fabric, or of one of the networks beside it."""
    from app.fabric.cost import Design

    catalog = _catalog()
    side = taken(given, SIDE)
    sized = Design(**given).sized(catalog)
    calculation = sized.calculation()
    if network != "compute":
        from app.fabric.side_networks import size_side_networks

        calculation = size_side_networks(catalog, sized, **side).named(network).calculation()  # type: ignore[arg-type]
    print_calculation(calculation, as_json=as_json, language=language)


@click.command()
@options(GROW)
@json_option
@language_option
def grow(as_json: bool, language: Language, **given: Any) -> None:
    """What breaks when GPUs are added on switches that are there: kept, idle, to be bought."""
    from app.fabric.stock import plan_stock

    print_calculation(plan_stock(_catalog(), **given).calculation(), as_json=as_json, language=language)


@click.command()
@options(CLUSTER, SWITCH, BILL, TERMS, NAAS, SIDE)
@click.option("--networks", is_flag=True, help="Also the storage, in-band and out-of-band networks.")
@click.option("--percentiles", is_flag=True, help="P10, P50 and P90, and what moves the total most.")
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write the bill as CSV; - for stdout.")
@click.option("--xlsx", "xlsx_path", type=click.Path(path_type=Path), help="Write the bill as an Excel workbook.")
@json_option
@language_option
def cost(
    networks: bool,
    percentiles: bool,
    csv_path: Path | None,
    xlsx_path: Path | None,
    as_json: bool,
    language: Language,
    **given: Any,
) -> None:
    """Bill of materials, power and total cost of ownership of one fabric."""
    from app.fabric.cost import Design, calculation_of
    from app.fabric.uncertainty import uncertainty_calculation

    catalog = _catalog()
    terms, side = _terms(catalog, given), taken(given, SIDE)
    owned = Design(**given).cost(catalog, terms)
    _write_bill(owned.bill, csv_path, xlsx_path, language)
    if csv_path == Path("-"):
        if as_json:
            raise click.UsageError("--csv - and --json both want stdout; name a file for the CSV.")
        return
    more = {"uncertainty": uncertainty_calculation(owned)} if percentiles else {}
    if networks:
        from app.fabric.side_bill import side_calculation
        from app.fabric.side_networks import size_side_networks

        beside = size_side_networks(catalog, owned.bill.topology, **side)
        more["networks"] = side_calculation(catalog, owned, beside)
    print_calculations(calculation_of(catalog, owned), more, as_json=as_json, language=language)


@click.command()
@options(CLUSTER, BILL, TERMS, NAAS, LOST, FACTS)
@click.option("--infiniband-switch", help="Switch id of the InfiniBand side.")
@click.option("--roce-switch", help="Switch id of the RoCE side.")
@click.option("--verdict", is_flag=True, help="Also which to choose, from these figures and what is stated.")
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="RULE=FACTOR",
    help="Multiply the weight of a rule of the verdict; repeat for each.",
)
@click.option(
    "--design",
    "texts",
    multiple=True,
    metavar="NAME=FABRIC[:SWITCH][:KEY=VALUE...]",
    help="Compare these designs instead; repeat for each. Keys are those of this command, and lost-percent.",
)
@json_option
@language_option
def compare(
    texts: tuple[str, ...],
    verdict: bool,
    weights: tuple[str, ...],
    infiniband_switch: str | None,
    roce_switch: str | None,
    as_json: bool,
    language: Language,
    **given: Any,
) -> None:
    """InfiniBand beside RoCE for the same cluster, or any number of designs side by side."""
    from app.commands import compare_parts as parts
    from app.fabric.compare import compare_fabrics

    catalog = _catalog()
    lost, facts = taken(given, LOST), taken(given, FACTS)
    terms = _terms(catalog, given)
    if texts:
        if infiniband_switch or roce_switch or lost["lost_percent"] or lost["model"] or verdict:
            raise click.UsageError("With --design, give switch and lost-percent in each design, and no --verdict.")
        compared = parts.designs(catalog, texts, terms, lost["gpu_hour"], given)
        print_calculation(compared, as_json=as_json, language=language)
        return
    result = compare_fabrics(
        catalog,
        infiniband_switch=infiniband_switch,
        roce_switch=roce_switch,
        gpu_hour=lost["gpu_hour"],
        terms=terms,
        **given,
    )
    more = {}
    if lost["lost_percent"] is not None or lost["model"] is not None:
        more["slowdown"] = parts.slowdown(result, lost)
    decision = parts.decision(result, facts, weights) if verdict or weights else None
    if as_json:
        data = result.calculation().to_json(language)
        data |= {name: one.to_json(language) for name, one in more.items()}
        print_json(data | ({"decision": decision.to_json(language)} if decision else {}))
        return
    if decision:
        parts.print_decision(decision, language)
    print_calculations(result.calculation(), more, as_json=False, language=language)


@click.command()
@options(COLLECTIVE)
@json_option
@language_option
def collective(size_text: str, nics: str, as_json: bool, language: Language, **given: Any) -> None:
    """Time and bandwidth of one collective, in the terms of nccl-tests."""
    from app.fabric.collective import estimate_collective, parse_bytes, parse_nics

    nics_per_node, nic_gbps = parse_nics(nics)
    result = estimate_collective(
        load_accelerators(knowledge_folder() / "catalog"),
        bytes=parse_bytes(size_text),
        nics_per_node=nics_per_node,
        nic_gbps=nic_gbps,
        **given,
    )
    print_calculation(result.calculation(), as_json=as_json, language=language)


@click.command()
@click.argument("file")
@options(ASSESS)
@json_option
@language_option
def assess(file: str, as_json: bool, language: Language, **given: Any) -> None:
    """A measured nccl-tests table (FILE, or - for stdin) against what the hardware can give."""
    from app.fabric.assess import assess_log

    text = sys.stdin.read() if file == "-" else _read(Path(file))
    calculation = assess_log(text, load_accelerators(knowledge_folder() / "catalog"), **given)
    print_calculation(calculation, as_json=as_json, language=language)


def _catalog() -> Catalog:
    return load_catalog(knowledge_folder() / "catalog")


def _terms(catalog: Catalog, given: dict[str, Any]) -> CostTerms:
    from app.fabric.naas import Naas

    naas = Naas(**taken(given, NAAS))
    return default_terms(catalog, given["gpus"], naas=naas, **taken(given, TERMS))


def _write_bill(bill: Bill, csv_path: Path | None, xlsx_path: Path | None, language: Language) -> None:
    if csv_path is not None:
        from app.fabric.export import bill_csv

        text = bill_csv(bill, language)
        if csv_path == Path("-"):
            click.echo(text, nl=False)
        else:
            _write(csv_path, text.encode("utf-8-sig"))  # the mark lets Excel read Chinese
    if xlsx_path is not None:
        from app.workbook import bill_workbook

        _write(xlsx_path, bill_workbook(bill, language))


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise AdvisorError(
            f"Cannot write {path}: {error.strerror}.",
            "Name a file in a folder that exists and can be written.",
            code="cannot_write",
            values={"path": str(path)},
        ) from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise AdvisorError(
            f"Cannot read {path}: {error.strerror}.",
            "Name a readable file, or - for stdin.",
            code="cannot_read",
            values={"path": str(path)},
        ) from None
