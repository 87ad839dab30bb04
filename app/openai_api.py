"""The advisor as a model: OpenAI's chat completions, so that Open WebUI, LibreChat or an editor can talk to it.

The sources are part of the message; `fabric_advisor` beside it has the whole Answer for programs that want it.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer, Citation, Text
from app.errors import AdvisorError

MODEL = "fabric-advisor"
_MOST_TURNS = 12  # of a conversation, read again for what was said of the cluster
_WORDS = {"en": ("Sources", "Note"), "zh": ("来源", "提示")}


def openai_app(advisor: Advisor) -> Starlette:
    """/v1/models and /v1/chat/completions (streaming or not). Errors have OpenAI's shape."""

    async def models(_: Request) -> Response:
        one = {"id": MODEL, "object": "model", "created": 0, "owned_by": "fabric-advisor"}
        return JSONResponse({"object": "list", "data": [one]})

    async def completions(request: Request) -> Response:
        try:
            asked = await request.json()
            questions = _questions(asked)
            history = await run_in_threadpool(_history, advisor, questions[:-1])
            if not asked.get("stream"):
                answer = await run_in_threadpool(advisor.answer, questions[-1], history)
                return JSONResponse(_completion(answer))
            events = _started(_streamed(advisor, questions[-1], history))
            return StreamingResponse(iterate_in_threadpool(events), media_type="text/event-stream")
        except AdvisorError as error:
            return _error(400, str(error), error.code or "bad_question")
        except (ValueError, TypeError, KeyError, AttributeError):
            return _error(400, "The body is not a chat completion request with a user message.", "bad_request")

    return Starlette(
        routes=[
            Route("/v1/models", models),
            Route("/v1/chat/completions", completions, methods=["POST"]),
        ]
    )


def sources_text(answer: Answer) -> str:
    """Notices and the numbered sources, to put behind the text; "" where there are none."""
    sources, note = _WORDS[answer.language]
    lines = [f"> {note}: {notice}" for notice in answer.notices]
    if answer.citations:
        lines += ["", f"**{sources}**", "", *(_source(one) for one in answer.citations)]
    return "\n\n" + "\n".join(lines).strip() if lines else ""


def _source(citation: Citation) -> str:
    name = f"{citation.title} › {citation.section}" if citation.section else citation.title
    return f"- [{citation.marker}] {name}" + (f": {citation.url}" if citation.url else "")


def _questions(asked: Mapping[str, Any]) -> list[str]:
    """What the user said, turn by turn. Raises ValueError where there is nothing."""
    found = [_text(one["content"]) for one in asked["messages"] if one["role"] == "user"]
    if not found or not isinstance(asked["messages"], list):
        raise ValueError
    return found


def _text(content: str | Sequence[Mapping[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def _history(advisor: Advisor, questions: Sequence[str]) -> list[Answer]:
    """The protocol sends what was said, not what was understood: read the earlier turns again, without a model."""
    plain = Advisor(advisor.settings, advisor.library, advisor.tools)
    history: list[Answer] = []
    for question in questions[-_MOST_TURNS:]:
        try:
            history.append(plain.answer(question, history))
        except AdvisorError:
            continue
    return history


def _started(events: Iterator[str]) -> Iterator[str]:
    """The same, with the first event made now, so that a question that cannot be answered is an HTTP error."""
    first = next(events)

    def rest() -> Iterator[str]:
        yield first
        yield from events

    return rest()


def _streamed(advisor: Advisor, question: str, history: Sequence[Answer]) -> Iterator[str]:
    identity = _identity()
    answer: Answer | None = None
    role: dict[str, str] = {"role": "assistant"}
    for event in advisor.ask(question, history):
        if isinstance(event, Text):
            yield _chunk(identity, {**role, "content": event.text})
            role = {}
        elif isinstance(event, Answer):
            answer = event
    if answer is None:
        raise RuntimeError("the stream ended without an answer")
    if ending := sources_text(answer):
        yield _chunk(identity, {"content": ending})
    yield _chunk(identity, {}, "stop", {"fabric_advisor": answer.to_json()})
    yield "data: [DONE]\n\n"


def _chunk(
    identity: str, delta: Mapping[str, str], finish: str | None = None, more: Mapping[str, Any] | None = None
) -> str:
    body = {
        "id": identity,
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}],
        **(more or {}),
    }
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"


def _completion(answer: Answer) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer.text + sources_text(answer)}
    used = answer.usage.get("input_tokens", 0), answer.usage.get("output_tokens", 0)
    return {
        "id": _identity(),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": used[0], "completion_tokens": used[1], "total_tokens": sum(used)},
        "fabric_advisor": answer.to_json(),
    }


def _identity() -> str:
    return f"chatcmpl-{uuid.uuid4().hex[:24]}"


def _error(status: int, message: str, code: str) -> Response:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
    return JSONResponse(body, status_code=status)
