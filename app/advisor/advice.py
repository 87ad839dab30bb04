"""What a sentence advises: the other fabric than the verdict's, or one that is said to cost nothing."""

from __future__ import annotations

import re

from app.advisor.both_fabrics import FABRIC, other

DENIED = re.compile(
    r"\b(?:not|never|neither|nor|no)\b|n't\b|并不|不比|不会|没有|不如|并非|不(?=更|便宜|贵)", re.IGNORECASE
)
_ADVISE = re.compile(
    r"\b(?:recommend(?:ed|s|ation)?|choose|go (?:with|for)|pick|opt for|best choice|better choice|winner|wins"
    r"|should (?:use|buy|take|deploy))\b"
    r"|^\W*(?:so |then )?(?:go|take|buy|use|deploy|get)(?= (?:infiniband|IB|roce|ethernet)\b"
    r"(?!'s| (?:quot|cabl|switch|optic|licen|hardware|gear|adapt|nic)|[^.]*\b(?:for|where|only)\b))"
    r"|还是上|(?:上|选|用|买|采购)(?=\s?(?:InfiniBand|IB|RoCE|以太网)\s?(?:网络)?(?:吧|即可|就行|就好|[。！]?\s*$))"
    r"|建议(?:您)?(?:选|采用|使用|采购|购买|上)|推荐|应该?(?:选|采用|使用|上)|首选|还是选|(?:更好|最佳|更优)的选择|胜出",
    re.IGNORECASE,
)
_ADVISE_AGAINST = re.compile(
    r"\b(?:avoid|do not (?:use|buy|choose|deploy)|don't (?:use|buy|choose|deploy)|not (?:be )?recommend(?:ed)?"
    r"|(?:advise|recommend) against|stay away from)\b"
    r"|(?:不|不要|不会)(?:建议|推荐)|避免(?:使用|采用)|不要(?:选|使用|采用|上)|别选",
    re.IGNORECASE,
)
_OVER = re.compile(r"\b(?:over|rather than|instead of|not)\b|而(?:不是|非)", re.IGNORECASE)
_GRATIS = re.compile(
    r"\b(?:is|are|comes?) (?:entirely |completely )?free\b(?! (?:of|from) (?!charge))"
    r"|\bcosts? nothing\b|\bfor free\b|\bat no cost\b|\bfree of charge\b"
    r"|免费|不花钱|零成本",
    re.IGNORECASE,
)


def gratis(sentence: str) -> list[str]:
    """A fabric that costs nothing: every one has a price."""
    match = _GRATIS.search(sentence)
    if match is None or DENIED.search(sentence):
        return []
    near = sentence[max(0, match.start() - 16) : match.start()]
    return [f"“{match[0]}” has no support"] if any(words.search(near) for words in FABRIC.values()) else []


def other_advice(sentence: str, choice: str) -> list[str]:
    """Advice for the other fabric than the verdict's, or against the verdict's."""
    if choice not in FABRIC:
        return []
    named = {name for name, pattern in FABRIC.items() if pattern.search(_OVER.split(sentence)[0])}
    against = _ADVISE_AGAINST.search(sentence)
    if against is not None:
        named = {name for name, pattern in FABRIC.items() if pattern.search(sentence)}
        return [f"the verdict is {choice}"] if named == {choice} else []
    match = _ADVISE.search(sentence)
    if match is None or DENIED.search(_OVER.split(sentence)[0]):
        return []
    behind = next((name for name, pattern in FABRIC.items() if pattern.match(sentence[match.end() :].lstrip())), "")
    if named == {other(choice)} or behind == other(choice):
        return [f"the verdict is {choice}"]
    return []
