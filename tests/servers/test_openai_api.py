"""The OpenAI-compatible server, over real HTTP, with the official client."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
import uvicorn

from app.advisor.advisor import Advisor
from app.openai_api import openai_app

QUESTION = "RoCE vs IB for a 64-GPU cluster"


@pytest.fixture(scope="module")
def client(advisor: Advisor) -> Iterator[openai.OpenAI]:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(openai_app(advisor), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield openai.OpenAI(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}/v1", api_key="any", max_retries=0)
    server.should_exit = True
    thread.join(10)
    listening.close()


def test_the_model_is_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["fabric-advisor"]


def test_a_completion_is_the_answer_with_its_sources(client: openai.OpenAI, advisor: Advisor) -> None:
    got = client.chat.completions.create(model="fabric-advisor", messages=[{"role": "user", "content": QUESTION}])
    answer = advisor.answer(QUESTION)
    content = got.choices[0].message.content
    assert content is not None and content.startswith(answer.text)
    assert f"- [1] {answer.citations[0].title}" in content.split("**Sources**")[1]
    assert got.model_extra is not None
    assert got.model_extra["fabric_advisor"]["verdict"]["choice"] == "roce"


def test_a_stream_is_the_same_text_in_pieces(client: openai.OpenAI) -> None:
    messages = [{"role": "user", "content": QUESTION}]
    whole = client.chat.completions.create(model="fabric-advisor", messages=messages)  # type: ignore[call-overload]
    stream = client.chat.completions.create(model="fabric-advisor", messages=messages, stream=True)  # type: ignore[call-overload]
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream]
    assert len(pieces) > 20
    assert "".join(pieces) == whole.choices[0].message.content


def test_the_conversation_carries_over(client: openai.OpenAI) -> None:
    got = client.chat.completions.create(
        model="fabric-advisor",
        messages=[
            {"role": "system", "content": "Ignored."},
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": "RoCE."},
            {"role": "user", "content": [{"type": "text", "text": "What about 512?"}]},
        ],
    )
    assert got.model_extra is not None
    assert got.model_extra["fabric_advisor"]["spec"]["gpus"] == 512


@pytest.mark.parametrize("stream", [False, True])
def test_bad_requests_are_errors_that_say_why(client: openai.OpenAI, stream: bool) -> None:
    with pytest.raises(openai.BadRequestError, match="no words in it"):
        client.chat.completions.create(model="x", messages=[{"role": "user", "content": "???"}], stream=stream)
    with pytest.raises(openai.BadRequestError, match="not a chat completion request"):
        client.chat.completions.create(model="x", messages=[], stream=stream)


WHAT_IF = "Keep my 40 SN4700s, add 256 H200s, 3:1 to the spine, what breaks?"


def test_growth_on_old_switches_streams_and_goes_on_in_the_conversation(client: openai.OpenAI) -> None:
    asked = [{"role": "user", "content": WHAT_IF}]
    stream = client.chat.completions.create(model="fabric-advisor", messages=asked, stream=True)  # type: ignore[call-overload]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert "19 of the 40 there carry 256 GPUs at 3:1, and 21 stand idle" in text  # tests/fabric/test_stock.py
    further = {"role": "user", "content": "What if 768 GPUs hang on them already?"}
    messages = [*asked, {"role": "assistant", "content": text}, further]
    got = client.chat.completions.create(model="fabric-advisor", messages=messages)  # type: ignore[call-overload]
    assert got.model_extra is not None
    grown = got.model_extra["fabric_advisor"]["calculations"][0]
    assert (grown["tool"], grown["values"]["bought_switches"]["value"]) == ("grow", 12)


def test_serve_with_api_is_the_same_server(home: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "app.cli", "serve", "--api", "--port", str(port)]
    environment = os.environ | {"FABRIC_ADVISOR_HOME": str(home)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            said = next(line for line in server.stderr if line.startswith("Base URL"))
            assert f"http://127.0.0.1:{port}/v1" in said
            official = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="any", max_retries=20)
            assert [model.id for model in official.models.list()] == ["fabric-advisor"]
        finally:
            server.terminate()
