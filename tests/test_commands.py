"""The command line as scripts see it: JSON on stdout, one line on stderr, the exit code."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = [sys.executable, "-m", "app"]
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def shell_home(tmp_path_factory: pytest.TempPathFactory, model_home: Path) -> Path:
    folder = tmp_path_factory.mktemp("shell") / "home"
    folder.mkdir()
    (model_home / "models").mkdir(exist_ok=True)
    (folder / "models").symlink_to(model_home / "models")
    return folder


def run(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {"FABRIC_ADVISOR_HOME": str(home), "PYTHONPATH": str(ROOT)} | environment
    return subprocess.run(
        [*PROGRAM, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | settings,
        cwd=home,
        timeout=120,
        check=False,
    )


def answer(home: Path, *arguments: str) -> dict[str, Any]:
    done = run(home, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def test_ask_has_the_shape_of_the_contract_and_goes_on_in_a_conversation(shell_home: Path) -> None:
    first = answer(shell_home, "ask", "RoCE vs IB for a 64-GPU cluster", "--conversation", "plan")
    assert set(first) >= {
        "question", "language", "kind", "spec", "verdict", "text", "citations", "calculations", "grounding", "model",
        "timings_ms",
    }  # fmt: skip
    assert set(first["citations"][0]) >= {"marker", "document", "title", "url", "section", "passage", "start", "end"}
    assert set(first["calculations"][0]) >= {"id", "tool", "inputs", "values", "assumptions", "sources"}
    assert set(first["grounding"]) == {"numbers_checked", "unsupported", "contradictions"}
    assert set(first["timings_ms"]) == {"read", "search", "calculate", "write", "check", "total"}
    second = answer(shell_home, "ask", "那512卡呢？", "--conversation", "plan")
    assert second["spec"] == first["spec"] | {"gpus": 512}
    assert (second["language"], second["kind"]) == ("zh", "decision")


def test_size_reproduces_nvidias_four_units(shell_home: Path) -> None:
    """RA-11333-001 table 4: 127 nodes, 32 leaves, 16 spines, 1,024 links between them."""
    size = answer(shell_home, "size", "--gpus", "1016", "--fabric", "infiniband")
    values = {name: value["value"] for name, value in size["values"].items()}
    assert values["tiers"] == 2
    assert (values["leaf_switches"], values["spine_switches"], values["core_switches"]) == (32, 16, 0)
    assert (values["node_leaf_links"], values["leaf_spine_links"], values["spine_core_links"]) == (1016, 1024, 0)
    assert values["max_gpus"] == 2048


def test_calculators_share_one_shape(shell_home: Path) -> None:
    for arguments in (
        ("cost", "--gpus", "64", "--fabric", "roce"),
        ("compare", "--gpus", "64"),
        ("collective", "--nodes", "8", "--bytes", "8GiB", "--nics", "8x400"),
    ):
        result = answer(shell_home, *arguments)
        assert set(result) >= {"tool", "inputs", "values", "assumptions", "sources"}
        assert result["tool"] == arguments[0]
        assert result["sources"] and result["assumptions"]


def test_search_ingest_list_show_and_remove(shell_home: Path, tmp_path: Path) -> None:
    page = tmp_path / "Zorgblat.md"
    page.write_text("# Zorgblat NX-1\n\nThe Zorgblat NX-1 switch carries 48 ports of 400G.\n", encoding="utf-8")
    report = answer(shell_home, "ingest", str(page))
    assert (report["added"], report["unchanged"], report["failed"]) == (["Zorgblat.md"], [], [])
    assert answer(shell_home, "ingest", str(page))["unchanged"] == ["Zorgblat.md"]
    found = answer(shell_home, "search", "How many ports has the Zorgblat NX-1?", "-k", "3")
    assert found["passages"][0]["document"] == "Zorgblat.md"
    assert set(found["passages"][0]) >= {"document", "title", "section", "passage", "score", "language", "url"}
    assert "Zorgblat.md" in [one["name"] for one in answer(shell_home, "documents", "list")["documents"]]
    assert "48 ports" in answer(shell_home, "documents", "show", "Zorgblat.md")["text"]
    assert answer(shell_home, "documents", "remove", "Zorgblat.md")["removed"]["name"] == "Zorgblat.md"
    again = answer(shell_home, "search", "How many ports has the Zorgblat NX-1?", "-k", "3")
    assert "Zorgblat.md" not in [one["document"] for one in again["passages"]]


def test_an_unreadable_file_is_named_and_the_exit_code_is_one(shell_home: Path, tmp_path: Path) -> None:
    (tmp_path / "fine.txt").write_text("A plain file about the Quuxnet fabric.", encoding="utf-8")
    (tmp_path / "report.pdf").write_bytes(b"this is no PDF")
    (tmp_path / "empty.md").write_bytes(b"")
    done = run(shell_home, "ingest", str(tmp_path), "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["added"] == ["fine.txt"]
    assert {one["name"] for one in report["failed"]} == {"report.pdf", "empty.md"}
    assert all(one["reason"] for one in report["failed"])


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("ask", ""), "no words"),
        (("ask", "🙂🙂🙂"), "no words"),
        (("ask", "x" * 50_000), "50,000 characters"),
        (("ask", "RoCE or IB for 0 GPUs?"), "at least 1 GPU"),
        (("size", "--gpus", "-4", "--fabric", "roce"), "at least 1 GPU"),
        (("size", "--gpus", "10000000", "--fabric", "roce"), "524,288"),
        (("size", "--gpus", "64", "--fabric", "roce", "--switch", "sn9999"), "no switch"),
        (("size", "--gpus", "64", "--fabric", "tokenring"), "tokenring"),
        (("collective", "--nodes", "2", "--bytes", "7parsecs"), "7parsecs"),
        (("documents", "show", "nothing-there"), "nothing-there"),
        (("nosuchcommand",), "nosuchcommand"),
    ],
)
def test_bad_input_is_one_line_with_exit_code_two(shell_home: Path, arguments: tuple[str, ...], part: str) -> None:
    done = run(shell_home, *arguments)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Indexing")]
    assert (done.returncode, done.stdout) == (2, "")
    assert len(lines) == 1
    assert part in lines[0]


def test_an_unknown_setting_is_an_error(shell_home: Path) -> None:
    done = run(shell_home, "search", "RoCE", FABRIC_ADVISOR_MODLE="x")
    assert done.returncode == 2
    assert "FABRIC_ADVISOR_MODLE" in done.stderr


def test_a_taken_port_is_named(shell_home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run(shell_home, "serve", "--port", str(port))
    assert done.returncode == 2
    assert str(port) in done.stderr


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    done = run(tmp_path, "search", "RoCE", FABRIC_ADVISOR_HOME=str(tmp_path / "file" / "home"))
    assert done.returncode == 2
    assert "FABRIC_ADVISOR_HOME" in done.stderr


def test_doctor_finds_everything_in_place(shell_home: Path) -> None:
    done = run(shell_home, "doctor", "--json")
    checks = {one["name"]: one for one in json.loads(done.stdout)["checks"]}
    assert set(checks) == {"python", "home", "sqlite", "knowledge", "library", "failed documents", "model"}
    assert checks["library"]["ok"] and checks["model"]["ok"]
