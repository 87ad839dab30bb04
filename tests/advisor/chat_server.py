"""A chat server on loopback that speaks the OpenAI protocol, streaming or not, and says what a test has queued."""

import json
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

PROMPT_TOKENS, REPLY_TOKENS = 900, 34  # what the server says that a reply took
WHOLE = 12  # characters of a piece of the stream, unless a reply says otherwise


@dataclass(frozen=True)
class Reply:
    """One reply: text in pieces with pauses, calls of tools, or a failure."""

    text: str = ""
    status: int = 200
    error: str = "queued failure"
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    first_wait_s: float = 0.0
    wait_s: float = 0.0  # between pieces
    reasoning: str = ""
    breaks_off: bool = False  # after the text, without an end
    endless: bool = False  # the text again and again
    finish: str = "stop"
    pieces: tuple[str, ...] = field(default=())

    def cut(self) -> list[str]:
        return list(self.pieces) or [self.text[at : at + WHOLE] for at in range(0, len(self.text), WHOLE)]


class ChatServer:
    """`replies` are sent in turn (the last one again and again): a text, an int to fail with that status, a Reply.

    `requests` keeps what was asked, `gave_up` counts the streams whose reader went away. `listed` is what its list
    of models says of the model "scripted"; None: it has no such list.
    """

    def __init__(self, *replies: str | int | Reply, listed: dict[str, Any] | None = None):
        self.replies = [_reply(one) for one in replies]
        self.requests: list[dict[str, Any]] = []
        self.authorizations: list[str] = []
        self.gave_up = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if listed is None or not self.path.endswith("/models"):
                    self._send(404, {"error": {"message": "no such page", "type": "not_found"}})
                    return
                self._send(200, {"object": "list", "data": [{"id": "scripted", "object": "model", **listed}]})

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                asked = json.loads(self.rfile.read(length))
                outer.requests.append(asked)
                outer.authorizations.append(self.headers.get("Authorization", ""))
                reply = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                time.sleep(reply.first_wait_s)
                if reply.status != 200:
                    self._send(reply.status, {"error": {"message": reply.error, "type": "server_error"}})
                elif asked.get("stream"):
                    self._stream(reply, usage=bool((asked.get("stream_options") or {}).get("include_usage")))
                else:
                    self._send(200, _body("chat.completion", {"message": _message(reply)}, _finish(reply)))

            def _stream(self, reply: Reply, *, usage: bool) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                try:
                    if reply.reasoning:
                        self._event({"role": "assistant", "reasoning_content": reply.reasoning})
                    while True:
                        for piece in reply.cut():
                            self._event({"role": "assistant", "content": piece})
                            time.sleep(reply.wait_s)
                        if not reply.endless:
                            break
                    if reply.calls:
                        self._event(_message(reply, indexed=True))
                    if not reply.breaks_off:
                        self._event({}, _finish(reply))
                        if usage:  # as OpenAI does: a chunk of its own, without choices
                            counted = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": REPLY_TOKENS}
                            counted["total_tokens"] = PROMPT_TOKENS + REPLY_TOKENS
                            chunk = _body("chat.completion.chunk", {}, None) | {"choices": [], "usage": counted}
                            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                        self.wfile.write(b"data: [DONE]\n\n")
                except (BrokenPipeError, ConnectionResetError):
                    outer.gave_up += 1

            def _event(self, delta: dict[str, Any], finish: str | None = None) -> None:
                data = json.dumps(_body("chat.completion.chunk", {"delta": delta}, finish))
                self.wfile.write(f"data: {data}\n\n".encode())
                self.wfile.flush()

            def _send(self, status: int, body: dict[str, Any]) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet: pytest shows what matters."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "ChatServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.block_on_close = False
        self._server.server_close()


def _reply(one: str | int | Reply) -> Reply:
    if isinstance(one, int):
        return Reply(status=one)
    return Reply(one) if isinstance(one, str) else one


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else reply.finish


def _message(reply: Reply, *, indexed: bool = False) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None if indexed else reply.text}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call-{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            | ({"index": at} if indexed else {})
            for at, (name, given) in enumerate(reply.calls)
        ]
    return message


def _body(kind: str, choice: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return {
        "id": "1",
        "object": kind,
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish, **choice}],
    }
