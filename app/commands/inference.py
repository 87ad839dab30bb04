"""inference: what serving a model asks of the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from app.accelerators import load_accelerators
from app.commands.options import FABRIC, Options, options
from app.commands.output import json_option, language_option, print_calculation
from app.fabric.calculation import Language
from app.settings import knowledge_folder

_PRECISION = click.Choice(["bf16", "fp8"])
SERVING: Options = {
    "--model": {
        "default": "llama3-70b",
        "help": "Model id (knowledge/catalog/models.yaml), or a YAML file of your own.",
    },
    "--gpu": {"default": "h100", "help": "GPU id; see knowledge/catalog/accelerators.yaml."},
    "--gpus": {"type": int, "default": 8, "help": "GPUs that serve it, all replicas together."},
    "--gpus-per-node": {"type": int, "help": "Those of the GPU's standard server unless given."},
    "--tp": {"type": int, "help": "GPUs of a replica; a node unless given."},
    "--ep": {"type": int, "help": "GPUs that share the experts; all unless given."},
    "--prompt-tokens prompt_text": {"default": "32k", "help": "Tokens of a prompt; 32k is 32,768."},
    "--output-tokens output_text": {"default": "512", "help": "Tokens of an answer."},
    "--concurrent": {"type": int, "default": 1, "help": "Requests that decode at once on a replica."},
    "--requests-per-s": {"type": float, "help": "Over all GPUs; prefill at full rate unless given."},
    "--precision": {"type": _PRECISION, "default": "bf16"},
    "--kv-precision": {"type": _PRECISION, "default": "bf16"},
    "--fabric": {"type": FABRIC, "default": "infiniband"},
    "--tuning": {"type": click.Choice(["tuned", "default", "mis-tuned"]), "default": "tuned"},
    "--nics": {"help": "NICs per node and their speed, e.g. 8x400; those of the standard server unless given."},
}


@click.command()
@options(SERVING)
@json_option
@language_option
def inference(
    model: str,
    prompt_text: str,
    output_text: str,
    nics: str | None,
    as_json: bool,
    language: Language,
    **given: Any,
) -> None:
    """Serving a model: KV cache, prefill and decode, and whether the network hides behind them."""
    from app.fabric.inference import estimate_inference
    from app.fabric.message_size import parse_nics
    from app.serving_data import load_serving
    from app.workloads import load_workloads, read_model

    folder = knowledge_folder() / "catalog"
    file = Path(model)
    nics_per_node, nic_gbps = (None, None) if nics is None else parse_nics(nics)
    result = estimate_inference(
        load_accelerators(folder),
        load_workloads(folder).models,
        load_serving(folder),
        model=read_model(file) if file.suffix in (".yaml", ".yml") else model,
        prompt_tokens=parse_tokens(prompt_text),
        output_tokens=parse_tokens(output_text),
        nics_per_node=nics_per_node,
        nic_gbps=nic_gbps,
        **given,
    )
    print_calculation(result.calculation(), as_json=as_json, language=language)


def parse_tokens(text: str) -> int:
    """Tokens as people write them: 32k is 32,768, 1M is 1,048,576. Raises click.BadParameter."""
    words = text.strip().lower().replace(",", "").replace("_", "")
    factor = {"k": 1024, "m": 1024**2}.get(words[-1:], 1)
    digits = words[:-1] if factor > 1 else words
    if not digits.isdecimal():
        raise click.BadParameter(f"not a number of tokens: {text[:40]!r}; write for example 4096 or 32k.")
    return int(digits) * factor
