"""A server on loopback that speaks the protocols of Anthropic, Ollama and Google, as far as a chat needs them."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

PIECES = 12  # characters of a piece of the stream


class ProviderServer:
    """Answers with `text` in a stream, or fails with `status`; first with a call of a tool, where `call` is given.

    `asked` keeps the requests, `keys` what came as a key.
    """

    def __init__(
        self, provider: str, text: str = "", status: int = 200, call: tuple[str, dict[str, Any]] | None = None
    ):
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append(asked)
                given = ("x-api-key", "x-goog-api-key", "authorization")
                outer.keys.append(next((self.headers[name] for name in given if self.headers.get(name)), ""))
                if status != 200:
                    self._send(status, json.dumps(_ERRORS[provider](status)), "application/json")
                    return
                calls = call if len(outer.asked) == 1 and asked.get("tools") else None
                if asked.get("tools") and "Call the tool add" in json.dumps(asked):  # the doctor, who takes it whole
                    calls = ("_add", {"a": 2, "b": 3})
                if asked.get("stream") is not True and provider == "anthropic":
                    self._send(200, json.dumps(_anthropic_whole(text, calls)), "application/json")
                    return
                if provider == "google_genai" and "stream" not in self.path:
                    self._send(200, json.dumps(_google_whole(text, calls)), "application/json")
                    return
                kind = "application/x-ndjson" if provider == "ollama" else "text/event-stream"
                self._send(200, _STREAMS[provider](text, calls), kind)

            def do_GET(self) -> None:
                self._send(404, json.dumps(_ERRORS[provider](404)), "application/json")

            def _send(self, code: int, body: str, kind: str) -> None:
                data = body.encode()
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "ProviderServer":
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()


def _pieces(text: str) -> list[str]:
    return [text[at : at + PIECES] for at in range(0, len(text), PIECES)]


def _anthropic(text: str, call: tuple[str, dict[str, Any]] | None) -> str:
    usage = {"input_tokens": 900, "output_tokens": 1}
    head = {"id": "m1", "type": "message", "role": "assistant", "model": "scripted", "content": [], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**head, "stop_reason": None, "stop_sequence": None}}
    ]
    if call:
        block: dict[str, Any] = {"type": "tool_use", "id": "c1", "name": call[0], "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(call[1])}]
    else:
        block = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(text)]
    events.append({"type": "content_block_start", "index": 0, "content_block": block})
    events += [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    events.append({"type": "content_block_stop", "index": 0})
    reason = "tool_use" if call else "end_turn"
    delta = {"stop_reason": reason, "stop_sequence": None}
    whole = {"input_tokens": 900, "output_tokens": 34}
    events += [{"type": "message_delta", "delta": delta, "usage": whole}, {"type": "message_stop"}]
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)


def _anthropic_whole(text: str, call: tuple[str, dict[str, Any]] | None) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    if call:
        block = {"type": "tool_use", "id": "c1", "name": call[0], "input": call[1]}
    head = {"id": "m1", "type": "message", "role": "assistant", "model": "scripted", "stop_sequence": None}
    usage = {"input_tokens": 900, "output_tokens": 34}
    return {**head, "content": [block], "stop_reason": "tool_use" if call else "end_turn", "usage": usage}


def _google_whole(text: str, call: tuple[str, dict[str, Any]] | None) -> dict[str, Any]:
    part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": text}
    content = {"role": "model", "parts": [part]}
    return {"candidates": [{"content": content, "index": 0, "finishReason": "STOP"}]}


def _ollama(text: str, call: tuple[str, dict[str, Any]] | None) -> str:
    head = {"model": "scripted", "created_at": "2026-12-04T00:00:00Z"}
    if call:
        tool = {"function": {"name": call[0], "arguments": call[1]}}
        lines: list[dict[str, Any]] = [{"message": {"role": "assistant", "content": "", "tool_calls": [tool]}}]
    else:
        lines = [{"message": {"role": "assistant", "content": piece}} for piece in _pieces(text)]
    end = {"message": {"role": "assistant", "content": ""}, "done_reason": "stop"}
    counts = {"prompt_eval_count": 900, "eval_count": 34, "total_duration": 1, "load_duration": 1}
    written = [{**head, **line, "done": False} for line in lines] + [{**head, **end, **counts, "done": True}]
    return "".join(json.dumps(line) + "\n" for line in written)


def _google(text: str, call: tuple[str, dict[str, Any]] | None) -> str:
    parts = [{"functionCall": {"name": call[0], "args": call[1]}}] if call else [{"text": one} for one in _pieces(text)]
    chunks: list[dict[str, Any]] = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts
    ]
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    chunks[-1]["usageMetadata"] = {"promptTokenCount": 900, "candidatesTokenCount": 34, "totalTokenCount": 934}
    return "".join(f"data: {json.dumps(one)}\n\n" for one in chunks)


_ANTHROPIC_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
_GOOGLE_STATES = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}


def _google_error(status: int) -> dict[str, Any]:
    said = {400: "API key not valid. Please pass a valid API key.", 404: "models/scripted is not found"}
    state = _GOOGLE_STATES.get(status, "INTERNAL")
    error: dict[str, Any] = {"code": status, "message": said.get(status, "failed"), "status": state}
    if status == 400:
        error["details"] = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    return {"error": error}


_ERRORS = {
    "anthropic": lambda status: {
        "type": "error",
        "error": {"type": _ANTHROPIC_TYPES.get(status, "api_error"), "message": "failed"},
    },
    "ollama": lambda status: {"error": "model 'scripted' not found" if status == 404 else "failed"},
    "google_genai": _google_error,
}
_STREAMS = {"anthropic": _anthropic, "ollama": _ollama, "google_genai": _google}
