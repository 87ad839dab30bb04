"""When a passage is relevant enough to be shown at all.

Similarities are not comparable between embedding models, and those of multilingual-e5 crowd between 0.75
and 0.95; so the limits belong to a model. They were set on tests/library/relevance.yaml, whose off-topic
questions stay below them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.fabric.calculation import Language
from app.library.language import detect_language
from app.library.nearest import Near

PROBES = (  # questions on other things than networks, to see what a model's similarities mean
    "What is the weather like today?",
    "How do I cook rice?",
    "Tell me a joke about cats.",
    "Which film should I watch tonight?",
    "What is the capital of France?",
    "My tooth hurts, what can I take?",
    "How do I file my taxes?",
    "今天天气怎么样",
    "红烧肉怎么做",
    "推荐一部好看的电影",
    "感冒了吃什么药",
    "怎么减肥最快",
    "孩子几岁上小学",
    "法国的首都是哪里",
)
# Share of the query's concepts, rare ones weighing more, by the number of glossary terms in it.
_ENOUGH_WORDS = (0.8, 0.5, 0.25, 0.25, 0.15)
# A passage with nearly all the words of a question of our field may be so much less similar: "who sells Pollara".
_NAMED, _NAMED_ROOM = 0.8, 0.02
_MARGIN, _CONTRAST_MARGIN = 0.02, 0.01


@dataclass(frozen=True, slots=True)
class Limits:
    """`sure`: a passage this similar is relevant whatever its words; `possible`: one below it never is;
    `contrast`: one that stands out this far from the crowd is relevant too.
    """

    sure_en: float
    sure_zh: float
    possible: float
    contrast: float

    def sure(self, language: Language) -> float:
        return self.sure_zh if language == "zh" else self.sure_en

    def spread(self, similarity: float, asked_in: Language) -> float:
        """A similarity on a scale that people can read: 0 at `possible`, 0.5 at `sure`, and on as it comes."""
        return 0.5 * (similarity - self.possible) / max(self.sure(asked_in) - self.possible, 0.01)


E5_LIMITS = Limits(sure_en=0.87, sure_zh=0.88, possible=0.82, contrast=0.05)


def limits_from_probes(strongest: Callable[[str], tuple[float, float]]) -> Limits:
    """For another model: above what unrelated questions reach, each language for itself, since a model that knows
    English alone finds all Chinese alike. `strongest`: similarity and contrast.
    """
    similarities: dict[str, list[float]] = {"en": [], "zh": []}
    contrasts = []
    for probe in PROBES:
        similarity, contrast = strongest(probe)
        similarities[detect_language(probe)].append(similarity)
        contrasts.append(contrast)
    english, chinese = sorted(similarities["en"]), sorted(similarities["zh"])
    possible = min(one[len(one) // 2] for one in (english, chinese))
    return Limits(english[-1] + _MARGIN, chinese[-1] + _MARGIN, possible, max(contrasts) + _CONTRAST_MARGIN)


def is_relevant(near: Near, lexical: float, terms: int, asked_in: Language, limits: Limits) -> bool:
    """Very similar, or standing out, or similar and sharing enough of the query's words.

    The more glossary terms (`terms`) the query has, the surer it is of our field, and the fewer words must be shared:
    a long question about a cluster has many words that no passage repeats.
    """
    if near.cosine >= limits.sure(asked_in) or near.contrast >= limits.contrast:
        return True
    if near.similarity < limits.possible - (_NAMED_ROOM if terms and lexical >= _NAMED else 0.0):
        return False
    return lexical >= _ENOUGH_WORDS[min(terms, len(_ENOUGH_WORDS) - 1)]
