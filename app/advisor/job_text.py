"""What the templates of training and goodput answers show, from the calculations; words are in phrases.yaml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.advisor.figures import figure, plain
from app.fabric.calculation import Calculation, Language

LEVEL_SHARE = 0.01  # steps that differ by less are called level: less than the model can tell
COLUMNS = ("infiniband", "roce", "roce (default)")
DEGREES = ("tp", "pp", "cp", "ep", "vp")  # shown where above 1; what remains is data parallelism


def training_context(
    calculations: Sequence[Calculation],
    value: Callable[[str, str, str], str],
    words: Mapping[str, Any],
    language: Language,
) -> dict[str, Any]:
    """`job` of the training template: rows of the table, batch, layout, how much slower the RoCE steps are."""
    found = {(one.tool, one.label): one for one in calculations}
    first = found.get(("training", COLUMNS[0]))
    if first is None:
        return {}
    inputs = first.inputs
    rows = []
    for key, (tool, name) in words["rows"].items():
        if (tool, COLUMNS[0]) in found and name in found[tool, COLUMNS[0]].values:
            rows.append((words["row_names"][key][language], [value(tool, label, name) for label in COLUMNS]))
    ids = [", ".join(one.id for one in calculations if one.label == label) for label in COLUMNS]
    rows.append((words["row_names"]["calculations"][language], ids))
    batch, sequence = int(inputs["global_batch"] or 0), int(inputs["sequence"] or 0)
    return {
        "model": str(inputs["model_name"]),
        "rows": rows,
        "batch": words["batch"][language].format(batch=plain(batch), sequence=plain(sequence)),
        "layout": _layout(inputs, words, language),
        "slower": _slower(found.get(("training_comparison", "")), words, language),
        "tokens": _tokens(found.get(("training_run", COLUMNS[0])), language),
    }


def serving_context(
    calculations: Sequence[Calculation], words: Mapping[str, Any], language: Language, *, gpus_said: bool
) -> dict[str, Any]:
    """`serving` of the inference template: the verdict in words, the model, and a row for every link.

    `alone`: the GPUs that were said are those of one server, and it holds the model: nothing crosses a network.
    `overfull`: they are those of one server, and it does not hold the model.
    """
    one = next((one for one in calculations if one.tool == "inference"), None)
    if one is None:
        return {}
    needs, enough = str(one.values["needs_400g_rdma"].value), str(one.values["slowest_enough"].value)
    inside = int(one.inputs["gpus"] or 0) <= int(one.inputs["gpus_per_node"] or 0)
    fits = float(one.values["weights_gbytes"].value) <= float(one.values["memory_usable_gbytes"].value)
    return {
        "alone": gpus_said and inside and fits,
        "overfull": gpus_said and inside and not fits,
        "precision": str(one.inputs["precision"]).upper(),
        "verdict": words["needs"][needs][language].format(
            enough=enough, keeps=str(one.values["slowest_that_keeps_up"].value)
        ),
        "model": str(one.inputs["model_name"]),
        "prompt": plain(int(one.inputs["prompt_tokens"] or 0)),
        "gpus": plain(int(one.inputs["gpus"] or 0)),
        "nics": f"{one.inputs['nics_per_node']}x{one.inputs['nic_gbps']}G",
        "links": [
            {
                "name": str(row["link"]),
                "line": f"{plain(float(row['line_rate_ms'] or 0))} ms",
                "ms": f"{plain(float(row['transfer_ms'] or 0))} ms",
                "share": figure(float(row["percent_of_prefill"] or 0), "percent", language),
                "load": figure(float(row["load_percent"] or 0), "percent", language),
                "enough": words["enough"][str(row["enough"])][language],
            }
            for row in one.rows
        ],
    }


def causes(calculations: Sequence[Calculation], language: Language) -> list[dict[str, str]]:
    """Causes of interruptions and their shares, of the goodput calculation."""
    rows = next((one.rows for one in calculations if one.tool == "goodput"), ())
    column = "cause_zh" if language == "zh" else "cause"
    return [{"name": str(row[column]), "share": figure(float(row["share"] or 0), "fraction", language)} for row in rows]


def _layout(inputs: Mapping[str, Any], words: Mapping[str, Any], language: Language) -> str:
    parts = [f"{name.upper()} {inputs[name]}" for name in DEGREES if int(inputs[name]) > 1]
    parts.append(f"DP {inputs['dp']}")
    precision = str(inputs["precision"]).upper()
    text = " × ".join(parts) + str(words["layout"][language]).format(
        micro_batch=inputs["micro_batch"], precision=precision
    )
    if inputs["recompute"] != "none":
        text += str(words["recompute"][language]).format(kind=inputs["recompute"])
    return text


def _slower(comparison: Calculation | None, words: Mapping[str, Any], language: Language) -> str:
    if comparison is None:
        return ""
    shares = {
        name: float(comparison.values[f"roce_{name}_slower_share"].value) for name in ("tuned", "default", "mis_tuned")
    }

    def said(share: float) -> str:
        if abs(share) < LEVEL_SHARE:
            return str(words["level"][language])
        key = "slower_by" if share > 0 else "faster_by"
        return str(words[key][language].format(share=figure(abs(share), "fraction", language)))

    told = {name: said(share) for name, share in shares.items()}
    return str(words["slower"][language].format(**told, id=comparison.id))


def _tokens(run: Calculation | None, language: Language) -> str:
    if run is None:
        return ""
    tokens = float(run.inputs["tokens"] or 0)
    if language == "zh":
        return f"{plain(tokens / 1e12)} 万亿" if tokens >= 1e12 else f"{plain(tokens / 1e8)} 亿"
    return f"{plain(tokens / 1e12)}T" if tokens >= 1e12 else f"{plain(tokens / 1e9)}B"
