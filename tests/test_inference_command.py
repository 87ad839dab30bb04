"""fabric-advisor inference and validate inference, as scripts call them."""

import json

import pytest
from click.testing import CliRunner

from app.cli import cli
from app.serving_data import load_serving


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def test_json_carries_the_verdict_the_figures_and_every_link():
    made = json.loads(run("inference", "--model", "llama3-70b", "--fabric", "roce", "--nics", "8x400", "--json").stdout)
    assert set(made) >= {"tool", "inputs", "values", "assumptions", "sources", "rows"}
    assert made["inputs"]["prompt_tokens"] == 32_768
    assert made["values"]["needs_400g_rdma"]["value"] == "no"
    assert made["values"]["kv_bytes_per_token"]["value"] == 327_680
    links = {row["link"]: row for row in made["rows"]}
    assert links["8x400G RDMA"]["transfer_ms"] == pytest.approx(35.1, abs=0.1)
    assert links["8x100G TCP"]["enough"] == "keeps up"


def test_a_model_of_ones_own(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("layers: 2\nhidden: 128\nheads: 8\nkv_heads: 2\nvocabulary: 1000\nsequence: 64\n")
    made = json.loads(
        run("inference", "--model", str(file), "--gpus", "1", "--prompt-tokens", "1,000", "--json").stdout
    )
    assert made["values"]["kv_bytes_per_token"]["value"] == 2 * 2 * 2 * 16 * 2
    assert made["inputs"] | {"prompt_tokens": 1000} == made["inputs"]


def test_tokens_that_are_no_number_are_refused():
    refused = run("inference", "--prompt-tokens", "3x")
    assert refused.exit_code == 2 and "not a number of tokens: '3x'" in refused.output


def test_validate_inference_prints_each_row_and_meets_its_targets():
    shown = run("validate", "inference")
    assert shown.exit_code == 0
    assert "kv-llama3-70b-token: published 3.277e+05 B" in shown.stdout
    assert "transfer-ms, median error %:" in shown.stdout
    assert json.loads(run("validate", "inference", "--json").stdout)["summary"]["kv-bytes rows"] == 9


def test_bad_constants_name_the_file(tmp_path):
    (tmp_path / "inference.yaml").write_text("sources: {}\n")
    with pytest.raises(Exception, match=r"catalog/inference.yaml: missing 'prefill_share'"):
        load_serving(tmp_path)
    with pytest.raises(Exception, match=r"inference\.yaml is missing"):
        load_serving(tmp_path / "nowhere")
