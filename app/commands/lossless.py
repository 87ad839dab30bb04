"""lossless: what a RoCE link needs, from PFC headroom to NCCL_IB_TC."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from app.commands.options import Options, options
from app.commands.output import json_option, language_option, print_calculation
from app.fabric.calculation import Calculation, Language
from app.lossless_data import load_lossless
from app.settings import knowledge_folder

LINK: Options = {
    "--gbps": {"type": int, "required": True, "help": "Speed of the link, Gb/s."},
    "--cable-m": {"type": float, "required": True, "help": "Length of the cable, metres."},
    "--mtu": {"type": int, "help": "MTU of the port, bytes."},
    "--switch-family": {"help": "ASIC, e.g. spectrum-4 or tomahawk-5; unset: a range over all."},
    "--platform": {"help": "sonic, cumulus, eos, nx-os or junos; unset: all."},
    "--lossless-mtu": {"type": int, "help": "MTU of the lossless class in the headroom formula, bytes."},
    "--small-packet-percent": {"type": float, "help": "64-byte packets in that class, % by number."},
    "--loss": {"type": float, "help": "Probability that a packet is lost, e.g. 1e-4."},
    "--rtt-us round_trip_us": {"type": float, "help": "Round trip, microseconds."},
    "--rdma-mtu": {"type": int, "help": "RDMA path MTU, bytes."},
    "--dscp": {"type": int, "help": "DSCP of RoCE; gives NCCL_IB_TC."},
    "--traffic-class": {"type": int, "help": "NCCL_IB_TC; gives the DSCP."},
    "--pause-point": {"type": int, "help": "Queue depth at which the switch sends PFC, bytes."},
    "--shared-buffer": {"type": int, "help": "Shared buffer, bytes; with --alpha it gives the pause point."},
    "--alpha": {"type": float, "default": 1.0, "help": "Dynamic threshold: share of the free buffer."},
    "--congested": {"type": int, "default": 1, "help": "Priority groups congested at once."},
}


@click.command()
@options(LINK)
@json_option
@language_option
def lossless(as_json: bool, language: Language, **given: Any) -> None:
    """PFC headroom, ECN thresholds, priorities and NCCL settings of a RoCE link."""
    from app.fabric.lossless_plan import PARTS, Asked, plan_lossless

    plan = plan_lossless(load_lossless(knowledge_folder() / "catalog"), Asked(**given))
    if as_json:
        print_calculation(plan.calculation(), as_json=True, language=language)
        return
    for name in PARTS:
        print_calculation(_in_language(plan.part(name), language), as_json=False, language=language)


def _in_language(part: Calculation, language: Language) -> Calculation:
    """Rows for people: the note of one language only, and words for truth values."""
    words = {True: "是", False: "否"} if language == "zh" else {True: "yes", False: "no"}
    kept, dropped = ("note_zh", "note") if language == "zh" else ("note", "note_zh")
    rows = []
    for row in part.rows:
        shown = {
            name: words[value] if isinstance(value, bool) else value
            for name, value in row.items()
            if name not in {kept, dropped}
        }
        rows.append(shown | ({"note": row[kept]} if kept in row else {}))
    return replace(part, rows=tuple(rows))
