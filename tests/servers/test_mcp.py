"""The MCP server with the official client: over stdin and stdout, and over HTTP."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from app.advisor.advisor import Advisor
from app.mcp.server import mcp_server

ROOT = Path(__file__).parent.parent.parent


def _finished(work: Coroutine[Any, Any, Any]) -> Any:
    """The result, from a loop of its own in a thread: Playwright keeps one running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@pytest.fixture(scope="module")
def environment(advisor: Advisor) -> dict[str, str]:
    return {**os.environ, "FABRIC_ADVISOR_HOME": str(advisor.settings.home.resolve()), "PYTHONPATH": str(ROOT)}


def call(server: Any, tool: str, **given: Any) -> Any:
    async def run() -> Any:
        async with Client(server) as client:
            return await client.call_tool(tool, given)

    return _finished(run())


def test_the_tools_are_listed_with_what_they_take(advisor: Advisor) -> None:
    async def run() -> Any:
        async with Client(mcp_server(advisor)) as client:
            return await client.list_tools()

    tools = {one.name: one for one in _finished(run()).tools}
    calculators = {"size", "grow", "cost", "compare", "collective", "training", "goodput", "inference"}
    assert set(tools) == calculators | {"search", "ask"}
    assert set(tools["size"].input_schema["required"]) == {"gpus", "fabric"}


def test_a_calculator_gives_the_published_leaf_spine_counts(advisor: Advisor) -> None:
    result = call(mcp_server(advisor), "size", gpus=1024, fabric="infiniband", switch="qm9700")
    values = result.structured_content["values"]  # 4 scalable units of DGX H100: 32 leaves, 16 spines
    assert (values["leaf_switches"]["value"], values["spine_switches"]["value"]) == (32, 16)


def test_bad_input_is_an_error_with_its_remedy(advisor: Advisor) -> None:
    result = call(mcp_server(advisor), "cost", gpus=-4, fabric="roce")
    assert result.is_error
    assert "at least 1 GPU" in result.content[0].text


def test_ask_and_search(advisor: Advisor) -> None:
    server = mcp_server(advisor)
    answer = call(server, "ask", question="RoCE vs IB for a 64-GPU cluster").structured_content
    assert answer["verdict"]["choice"] == "roce"
    assert answer["grounding"]["unsupported"] == []
    found = call(server, "search", query="PFC deadlock", k=3).structured_content
    assert any("pfc" in one["passage"].lower() for one in found["passages"])


def test_over_stdin_and_stdout(environment: dict[str, str], tmp_path: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "app", "mcp"], env=environment, cwd=str(tmp_path)
    )
    values = call(server, "cost", gpus=64, fabric="roce").structured_content["values"]
    assert values["capex_usd"]["unit"] == "USD" and values["capex_usd"]["value"] > 0


@pytest.fixture
def http_url(environment: dict[str, str], tmp_path: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "mcp", "--http", "--port", str(port)],
        env=environment,
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.wait(10)


def test_over_http_on_loopback(http_url: str) -> None:
    result = call(http_url, "compare", gpus=64)
    assert result.structured_content["values"]["infiniband_switches"]["value"] == 2


WHAT_IF = {"keep": "40x sn4700", "add_gpus": 256, "oversubscription": 3}


def test_growth_on_old_switches_over_both_transports(
    environment: dict[str, str], http_url: str, tmp_path: Path
) -> None:
    stdio = StdioServerParameters(command=sys.executable, args=["-m", "app", "mcp"], env=environment, cwd=str(tmp_path))
    for server in (stdio, http_url):
        grown = call(server, "grow", **WHAT_IF).structured_content
        counts = [grown["values"][f"{name}_switches"]["value"] for name in ("leaf", "spine", "kept", "idle", "bought")]
        assert counts == [16, 3, 19, 21, 0]
        assert [row["code"] for row in grown["rows"]][-2:] == ["fits", "speed"]
        wrong = call(server, "grow", **WHAT_IF | {"keep": "forty boxes"})
        assert wrong.is_error and "for example 40x sn4700" in wrong.content[0].text


def test_a_training_step_comes_with_its_layout(advisor: Advisor) -> None:
    result = call(mcp_server(advisor), "training", model="llama3-70b", gpus=64)
    inputs = result.structured_content["inputs"]
    assert inputs["tp"] * inputs["pp"] * inputs["cp"] * inputs["dp"] == 64
    again = call(mcp_server(advisor), "training", model="llama3-70b", gpus=64, nic_gbps=100)
    slower = again.structured_content["values"]["step_time_s"]["value"]
    assert slower > result.structured_content["values"]["step_time_s"]["value"]


def test_goodput_at_the_size_of_the_published_run(advisor: Advisor) -> None:
    values = call(mcp_server(advisor), "goodput", gpus=16_384).structured_content["values"]
    assert round(values["mtbf_h"]["value"], 1) == 3.1  # 54 days * 24 / 419
