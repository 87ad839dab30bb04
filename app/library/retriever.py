"""The library as a LangChain retriever, for chains of other people's making."""

from __future__ import annotations

from typing import Literal

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from app.fabric.calculation import Language
from app.library.library import Library


class LibraryRetriever(BaseRetriever):
    """`invoke(query)` gives LangChain documents whose metadata is `Hit.to_json` without the text."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    library: Library
    k: int = 5
    language: Language | None = None
    only: Literal["notes", "documents"] | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        hits = self.library.search(query, k=self.k, language=self.language, only=self.only)
        return [
            Document(
                page_content=hit.passage.text,
                id=hit.passage.id,
                metadata={name: value for name, value in hit.to_json().items() if name != "passage"},
            )
            for hit in hits
        ]
