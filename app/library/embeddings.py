"""Which embeddings the settings ask for. Every object made here has a stable `model_id`: the index remembers
it.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings

from app.errors import AdvisorError
from app.library.e5 import MODEL_ID, PASSAGE_PREFIX, QUERY_PREFIX, E5OnnxEmbeddings
from app.library.weights import MODEL_NAME, model_folder
from app.settings import Settings

DEFAULT = "e5-small"
_FORMS = "Use e5-small, sentence-transformers:NAME-OR-FOLDER or openai:NAME."


def make_embeddings(settings: Settings) -> Embeddings:
    """LangChain embeddings for settings.embeddings; raises AdvisorError for a form that it does not know."""
    kind, _, name = settings.embeddings.partition(":")
    if settings.embeddings == DEFAULT:
        return E5OnnxEmbeddings(settings.home)
    if kind == "sentence-transformers" and name:
        return _sentence_transformers(name, settings)
    if kind == "openai" and name:
        return _openai(name, settings)
    raise AdvisorError(f"Unknown embeddings {settings.embeddings!r}.", _FORMS, code="unknown_embeddings")


def model_id(embeddings: Embeddings) -> str:
    """The stable name of the model behind any LangChain embeddings."""
    return str(getattr(embeddings, "model_id", "") or f"{type(embeddings).__module__}.{type(embeddings).__name__}")


class _Named(Embeddings):
    """Gives other people's embeddings a model id and clear errors."""

    def __init__(self, inner: Embeddings, model_id: str):
        self._inner = inner
        self.model_id = model_id

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._call(self._inner.embed_query, text)
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._call(self._inner.embed_documents, texts) if texts else []
        return vectors

    def _call(self, method: Any, argument: Any) -> Any:
        try:
            return method(argument)
        except Exception as error:
            if type(error).__module__.split(".")[0] not in ("openai", "httpx", "httpcore"):
                raise
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise AdvisorError(
                f"The embeddings {self.model_id} do not answer: {reason}",
                "Check FABRIC_ADVISOR_MODEL_BASE_URL and FABRIC_ADVISOR_MODEL_API_KEY, or use e5-small.",
            ) from error


def embed_queries(embeddings: Embeddings, texts: list[str]) -> list[list[float]]:
    """Vectors of queries, several at a time where the embeddings can; LangChain's interface has one at a time."""
    several = getattr(embeddings, "embed_queries", None)
    return several(texts) if several else [embeddings.embed_query(text) for text in texts]


def _sentence_transformers(name: str, settings: Settings) -> Embeddings:
    if not all(map(importlib.util.find_spec, ("sentence_transformers", "langchain_huggingface"))):
        raise AdvisorError(
            f"The embeddings {settings.embeddings} need packages that are not installed.",
            'Install them: pip install "fabric-advisor[sentence-transformers]".',
            code="missing_extra",
        )
    from langchain_huggingface import HuggingFaceEmbeddings

    importlib.import_module("transformers.utils.logging").disable_progress_bar()  # of loading weights: 0.1 s

    ours = name in (DEFAULT, MODEL_NAME)
    if not ours and Path(name).expanduser().is_dir():
        name = str(Path(name).expanduser().absolute())  # the index remembers it, whatever folder it is used from
    source = str(model_folder(settings.home)) if ours else name
    try:
        inner = HuggingFaceEmbeddings(
            model_name=source,
            encode_kwargs={"normalize_embeddings": True},
            query_encode_kwargs={"normalize_embeddings": True},
        )
    except (OSError, ValueError) as error:
        raise AdvisorError(
            f"The sentence-transformers model {name} cannot be loaded: {str(error).splitlines()[0]}",
            "Give a folder that holds the model, or the name of a model that is in the local cache.",
        ) from None
    prompts = inner._client.prompts
    query = {**inner.encode_kwargs, "prompt": QUERY_PREFIX if ours else prompts.get("query") or ""}
    passage = {
        **inner.encode_kwargs,
        "prompt": PASSAGE_PREFIX if ours else prompts.get("document") or prompts.get("passage") or "",
    }
    inner.query_encode_kwargs, inner.encode_kwargs = query, passage
    return _Named(inner, MODEL_ID if ours else f"sentence-transformers:{name}")


def _openai(name: str, settings: Settings) -> Embeddings:
    from langchain_openai import OpenAIEmbeddings

    key = settings.model_api_key
    if key is None and settings.model_base_url is None:
        raise AdvisorError(
            f"The embeddings {settings.embeddings} need a server or a key.",
            "Set FABRIC_ADVISOR_MODEL_BASE_URL, FABRIC_ADVISOR_MODEL_API_KEY, or both.",
        )
    inner = OpenAIEmbeddings(
        model=name,
        base_url=settings.model_base_url,
        api_key=key if key is not None else "none",  # type: ignore[arg-type]
        timeout=settings.model_timeout_s,
        # Other servers speak the protocol but take text only, not OpenAI's token ids.
        check_embedding_ctx_length=settings.model_base_url is None,
    )
    return _Named(inner, settings.embeddings)
