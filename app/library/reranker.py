"""An optional second opinion on the best passages: a cross-encoder that reads query and passage together.

Off unless FABRIC_ADVISOR_RERANKER names a model or folder for sentence-transformers (an extra).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from app.errors import AdvisorError


class Reranker:
    """Scores from 0 to 1, by the model's logits through a sigmoid."""

    def __init__(self, model: Any):
        self._model = model

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        from torch.nn import Sigmoid

        if not texts:
            return []
        pairs = [(query, text) for text in texts]
        found = self._model.predict(pairs, activation_fn=Sigmoid(), show_progress_bar=False)
        return [float(score) for score in found]


def make_reranker(name: str | None) -> Reranker | None:
    """The cross-encoder of that name or folder; None for no name."""
    if not name:
        return None
    if importlib.util.find_spec("sentence_transformers") is None:
        raise AdvisorError(
            f"The reranker {name} needs packages that are not installed.",
            'Install them: pip install "fabric-advisor[sentence-transformers]", or unset FABRIC_ADVISOR_RERANKER.',
        )
    from sentence_transformers import CrossEncoder

    try:
        model = CrossEncoder(name, num_labels=1)
    except (OSError, ValueError) as error:
        raise AdvisorError(
            f"The reranker {name} cannot be loaded: {(str(error).splitlines() or ['no detail'])[0]}",
            "Give a folder that holds a cross-encoder, or the name of one in the local cache.",
        ) from None
    return Reranker(model)
