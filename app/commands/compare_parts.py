"""What `compare` can add to its table: other designs, the cost of a slower network, a verdict."""

from __future__ import annotations

from typing import Any

import click

from app.accelerators import load_accelerators
from app.fabric.calculation import Calculation, Language
from app.fabric.catalog import Catalog
from app.fabric.compare import Comparison
from app.fabric.cost import Design
from app.fabric.decision import Decision, decide
from app.fabric.design_text import parse_design, parse_factor, parse_range
from app.fabric.network_loss import network_loss
from app.fabric.options import compare_designs
from app.fabric.terms import CostTerms
from app.settings import knowledge_folder
from app.workloads import load_workloads


def slowdown(comparison: Comparison, lost: dict[str, Any]) -> Calculation:
    """What the slower network loses: as stated, or as the training model gives it."""
    used = lost["used_percent"]
    if lost["model"] is None:
        percent = parse_range("lost_percent", lost["lost_percent"])
        return comparison.slowdown(lost["slower"], percent, used_percent=used)
    if lost["lost_percent"] is not None or lost["slower"] != "roce":
        raise click.UsageError("--model says what RoCE loses; leave out --lost-percent and --slower.")
    folder = knowledge_folder() / "catalog"
    loss = network_loss(
        load_accelerators(folder),
        load_workloads(folder),
        model=lost["model"],
        gpus=comparison.owned["roce"].gpus,
        gpu=lost["gpu"],
        global_batch=lost["global_batch"],
    )
    return comparison.slowdown("roce", loss.percent, used_percent=used, notes=loss.notes, sources=loss.sources)


def decision(comparison: Comparison, facts: dict[str, Any], weights: tuple[str, ...]) -> Decision:
    """Which to choose, from our figures and the facts stated, with the weights of rules multiplied."""
    from app.advisor.tools import load_rules  # here: it loads the advisor, which the rest does without

    rules = load_rules(knowledge_folder() / "catalog" / "decision.yaml")
    return decide(rules, comparison.situation(**facts), factors=dict(map(parse_factor, weights)))


def print_decision(made: Decision, language: Language) -> None:
    data = made.to_json(language)
    click.secho(f"verdict: {data['choice']} (confidence {data['confidence']})", bold=True)
    for name in ("reasons_for", "reasons_against", "reasons_neutral", "would_flip"):
        if data[name]:
            click.echo(f"  {name.replace('_', ' ')}:")
        for one in data[name]:
            end = f" -> {one['choice']}" if name == "would_flip" else f" [{one['rule']}]"
            click.echo(f"    - {one['text']}{end}")


def designs(
    catalog: Catalog, texts: tuple[str, ...], terms: CostTerms, gpu_hour: str, given: dict[str, Any]
) -> Calculation:
    """Designs as texts side by side; `given` are the options that they all start from."""
    parsed = [parse_design(text, Design(fabric="roce", **given)) for text in texts]
    names = [name for name, _, _ in parsed]
    if twice := {name for name in names if names.count(name) > 1}:
        raise click.UsageError(f"Two designs have the name {min(twice)}; give each its own.")
    return compare_designs(
        catalog,
        {name: design for name, design, _ in parsed},
        terms=terms,
        lost_percent={name: lost for name, _, lost in parsed if lost is not None},
        gpu_hour=gpu_hour,
    )
