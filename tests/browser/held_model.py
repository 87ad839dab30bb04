"""A model server that answers when told to, so that a test decides how long the page waits."""

from __future__ import annotations

import json
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


class HeldModel:
    """Speaks the OpenAI protocol; every reply is `text`, held back until `release` is set."""

    def __init__(self, text: str):
        self.asked, self.release = Event(), Event()
        message = {"role": "assistant", "content": text}
        body = json.dumps(
            {
                "id": "held",
                "object": "chat.completion",
                "model": "held",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        ).encode()
        chunk = {
            "id": "held",
            "object": "chat.completion.chunk",
            "model": "held",
            "choices": [{"index": 0, "finish_reason": "stop", "delta": message}],
        }
        stream = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                kind, reply = ("text/event-stream", stream) if asked.get("stream") else ("application/json", body)
                outer.asked.set()
                outer.release.wait(60)
                with suppress(OSError):  # the page may have given up
                    self.send_response(200)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(reply)))
                    self.end_headers()
                    self.wfile.write(reply)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> HeldModel:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
