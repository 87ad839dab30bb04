"""Settings: FABRIC_ADVISOR_* in the environment or in .env. An unknown key is an error, not a silence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.errors import AdvisorError

PREFIX = "FABRIC_ADVISOR_"
_LEAST_SECRET = 8  # characters; "none" and "EMPTY", which local servers are given, are words
UPLOADS = "uploads"  # folder in HOME of the files that readers hand in


def knowledge_folder() -> Path:
    """The shipped knowledge: beside the package in a checkout, inside it in an installed wheel."""
    package = Path(__file__).parent
    checkout = package.parent / "knowledge"
    return checkout if checkout.is_dir() else package / "_knowledge"


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=".env", extra="ignore", frozen=True)

    home: Path = Field(Path(".fabric-advisor"), description="folder for the index, models and chats")
    knowledge: Path = Field(default_factory=knowledge_folder, description="folder of notes, catalog and glossary")
    language: Literal["auto", "en", "zh"] = Field("auto", description="language of answers; auto follows the question")
    model: str = Field("builtin", description="builtin, or provider:name as in LangChain's init_chat_model")
    models: str = Field("", description="further models that a chat may use, as provider:name, separated by commas")
    model_choice: bool | None = Field(
        None, description="whether readers of the page choose a chat's model; unset: if FABRIC_ADVISOR_MODELS is set"
    )
    model_base_url: str | None = Field(
        None, description="address of an OpenAI-compatible server, for models of FABRIC_ADVISOR_MODEL's provider"
    )
    model_api_key: SecretStr | None = Field(None, description="key of FABRIC_ADVISOR_MODEL's provider, if it needs one")
    model_timeout_s: float = Field(60, gt=0, description="longest wait for the model, seconds")
    model_tool_calls: int = Field(6, ge=0, le=50, description="calculator runs and searches by the model; 0: none")
    model_context_tokens: int | None = Field(
        None, ge=1000, description="what the model can read at once, tokens; unset: as its package or server says"
    )
    embeddings: str = Field("e5-small", description="e5-small, sentence-transformers:NAME or openai:NAME")
    reranker: str | None = Field(None, description="cross-encoder for sentence-transformers; unset: none")
    chroma_url: str | None = Field(None, description="address of a Chroma server; unset: in-process")
    database_url: str | None = Field(
        None, description="SQLAlchemy address of the chat store; unset: HOME/chats.sqlite3"
    )
    host: str = Field("127.0.0.1", description="address that the page is served on")
    port: int = Field(8501, ge=1, le=65535, description="port that the page is served on")
    max_question_chars: int = Field(4000, ge=100, description="longest question accepted, characters")
    max_file_mb: int = Field(200, ge=1, description="largest file that is ingested, MB")
    debug: bool = Field(False, description="show tracebacks of unexpected faults")

    @property
    def offered_models(self) -> tuple[str, ...]:
        """Models that a chat may use, the one it uses by default first; only that one where nobody may choose."""
        further = [name.strip() for name in self.models.split(",") if name.strip()]
        permitted = bool(further) if self.model_choice is None else self.model_choice
        return tuple(dict.fromkeys([self.model, *further, "builtin"])) if permitted else (self.model,)

    def secrets(self) -> tuple[str, ...]:
        """Keys that this process knows, its own and those of providers in the environment; never to be shown."""
        known = [value for name, value in os.environ.items() if name.endswith(("API_KEY", "_TOKEN"))]
        if self.model_api_key:
            known.append(self.model_api_key.get_secret_value())
        return tuple(value for value in known if len(value) >= _LEAST_SECRET)

    def for_model(self, name: str) -> Settings:
        """The same with another model. Address and key go to the provider they were set for, and to no other."""
        if _provider(name) == _provider(self.model):
            return self.model_copy(update={"model": name})
        return self.model_copy(update={"model": name, "model_base_url": None, "model_api_key": None})


def _provider(model: str) -> str:
    return model.partition(":")[0]


def load_settings(**overrides: object) -> Settings:
    """Read the settings; raises AdvisorError on an unknown or invalid key."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    stray = sorted(key for key in _keys_in_environment() if key.startswith(PREFIX) and key not in known)
    if stray:
        raise AdvisorError(
            f"Unknown setting {stray[0]}.",
            f"Known settings: {', '.join(sorted(known))}.",
            code="unknown_setting",
        )
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        name = PREFIX + "_".join(str(part) for part in first["loc"]).upper()
        raise AdvisorError(
            f"Bad value for {name}: {first['msg']}.", "Correct it in the environment or in .env."
        ) from None


def _keys_in_environment() -> list[str]:
    keys = [key.upper() for key in os.environ]
    env_file = Path(".env")
    if env_file.is_file():
        for line in env_file.read_text(encoding="utf-8").splitlines():
            name = line.strip().removeprefix("export ").split("=", 1)[0].strip().upper()
            keys.append(name)
    return keys
