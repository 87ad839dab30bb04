"""A model's key reaches its provider and nothing else: no answer, export, store, log, check or other host."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

from app.cli import cli
from app.library.weights import model_folder
from tests.advisor.chat_server import ChatServer, Reply

KEY = "sk-canary-5c1d0e77-do-not-leak"
QUESTION = "RoCE vs IB for a 64-GPU cluster"


@pytest.fixture
def home(model_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    model_folder(model_home)
    own = tmp_path / "home"
    own.mkdir()
    (own / "models").symlink_to(model_home / "models")
    monkeypatch.chdir(tmp_path)
    for name, value in {"HOME": str(own), "MODEL": "openai:scripted", "MODEL_API_KEY": KEY, "DEBUG": "true"}.items():
        monkeypatch.setenv(f"FABRIC_ADVISOR_{name}", value)
    return own


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments))
    return result.output + result.stderr + str(result.exception or "")


def everything_said(home: Path) -> str:
    """Of one question, in both forms, the kept chat in every form, and the checks."""
    said = [
        run("ask", QUESTION, "--conversation", "kept"),
        run("ask", "And for 512?", "--conversation", "kept", "--json"),
    ]
    said.append(run("doctor", "--json"))
    from app.advisor.chats import ChatStore
    from app.settings import load_settings

    store = ChatStore.open(load_settings())
    assert len(store.turns("kept")) == 2, said
    said += [store.export_markdown("kept"), json.dumps([one.to_json() for one in store.history("kept")])]
    return "\n".join(said)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(f"The key is {KEY}. Both fabrics carry the job."),
        Reply(status=401, error=f"Incorrect API key provided: {KEY}. Bearer {KEY}"),
        Reply(calls=(("search_knowledge", {"query": KEY}),)),
    ],
    ids=["said by the model", "refused and echoed", "in a call"],
)
def test_whatever_the_provider_answers(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, reply: Reply
) -> None:
    caplog.set_level("DEBUG")
    with ChatServer(reply) as server:
        monkeypatch.setenv("FABRIC_ADVISOR_MODEL_BASE_URL", server.url)
        said = everything_said(home)
        assert f"Bearer {KEY}" in server.authorizations  # it was used, or the test would show nothing
    assert KEY not in said
    assert KEY not in caplog.text
    for file in home.glob("chats.sqlite3*"):
        assert KEY.encode() not in file.read_bytes(), file.name


def test_a_redirect_to_another_host_takes_no_key_along(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer("Both fabrics carry the job.") as other:
        elsewhere = other.url.replace("127.0.0.1", "localhost")

        class Redirecting(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(307)
                self.send_header("Location", elsewhere + "/chat/completions")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        provider = ThreadingHTTPServer(("127.0.0.1", 0), Redirecting)
        Thread(target=provider.serve_forever, daemon=True).start()
        try:
            monkeypatch.setenv("FABRIC_ADVISOR_MODEL_BASE_URL", f"http://127.0.0.1:{provider.server_address[1]}/v1")
            said = run("ask", QUESTION)
        finally:
            provider.shutdown()
            provider.server_close()
        assert KEY not in said
        assert all(KEY not in one for one in other.authorizations)
        assert KEY not in str(other.requests)
