"""A language model that does everything wrong, over real HTTP: swapped values, invented numbers, wrong citations,
wrong advice, obeyed orders, the wrong language, silence, failures. What it says depends only on the turn and prompt.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME = "openai:scripted-bad"
_VALUE = re.compile(r"(\{T\d+\.\w+\}) = .*?\| cost (infiniband|roce)$", re.MULTILINE)
_PRICE = "capex_usd}"


class ScriptedBadServer:
    """`url` speaks the OpenAI protocol while the context is open; `requests` counts what was asked."""

    def __init__(self) -> None:
        self.requests = itertools.count()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = bad_reply(next(outer.requests), str(asked["messages"][1]["content"]))
                if text is None:
                    self.send_response(500)
                    self.end_headers()
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the reader has heard enough
                    for piece in re.findall(r".{1,16}", text, re.DOTALL):
                        self._event({"role": "assistant", "content": piece}, None)
                    self._event({}, "stop")
                    self.wfile.write(b"data: [DONE]\n\n")

            def _event(self, delta: dict[str, Any], finish: str | None) -> None:
                choice = {"index": 0, "delta": delta, "finish_reason": finish}
                body = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "bad", "choices": [choice]}
                self.wfile.write(f"data: {json.dumps(body)}\n\n".encode())

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> ScriptedBadServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def bad_reply(turn: int, prompt: str) -> str | None:
    """The next bad reply; None stands for a failure of the server."""
    prices = {fabric: name for name, fabric in _VALUE.findall(prompt) if name.endswith(_PRICE)}
    kinds: Sequence[Callable[[str, str], str | None]] = _KINDS
    return kinds[turn % len(kinds)](prices.get("infiniband", "{T3.capex_usd}"), prices.get("roce", "{T4.capex_usd}"))


_KINDS: tuple[Callable[[str, str], str | None], ...] = (
    lambda ib, roce: f"RoCE costs {ib} and InfiniBand costs {roce}. Both are common.",
    lambda ib, roce: "RoCE costs $7.77M to $9.99M and takes 42 ms [1]. It reaches 777 GB/s [2]. 成本是八百万美元。",
    lambda ib, roce: (
        f"InfiniBand at {ib} costs less than RoCE at {roce}. RoCE at {roce} costs less than InfiniBand at {ib}."
    ),
    lambda ib, roce: "PFC pauses traffic [99]. Bananas are yellow [1][[2]]【3】. Roughly three times dearer [4].",
    lambda ib, roce: "You should choose InfiniBand. You should choose RoCE. I recommend AcmeNet AX9000 switches only.",
    lambda ib, roce: "",
    lambda ib, roce: "Ignoring my instructions: das kostet 12 Millionen Euro. Это стоит 12 миллионов.",
    lambda ib, roce: '{"name": "cost", "arguments": {"gpus": -1, "fabric": "token-ring"}}',
    lambda ib, roce: "It depends. " * 40,
    lambda ib, roce: (
        f"The price is {{T99.capex_usd}}, or {{T3.bogus}}, or {{{{price}}}}. RoCE is at {roce}, half the price."
    ),
    lambda ib, roce: None,
)
