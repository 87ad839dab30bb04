"""Whether a number of the question is said of the kind of thing that it counts there: 256 GPUs are no 256 switches.

Ports, links and optics are left alone: a GPU has one of each, so that their numbers follow from that of the GPUs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_KINDS: Mapping[str, re.Pattern[str]] = {
    "switch": re.compile(
        r"(?:(?:leaf|spine|core|InfiniBand|RoCE|Ethernet|more|extra|SN\d+|QM\d+)\s)*(?:switch(?:es)?|leaves|spines)\b"
        r"|(?:SN|QM)\d{4}s?\b|台?\s?(?:叶|脊|核心|叶层|脊层|SN\d+|QM\d+)?\s?交换机|[台]\s?(?:SN|QM)\d{4}",
        re.IGNORECASE,
    ),
    "node": re.compile(
        r"(?:\w+\s)?(?:nodes?|servers?|hosts?|machines?)\b|个?\s?节点|台\s?(?:服务器|机器|主机)", re.IGNORECASE
    ),
    "rack": re.compile(r"racks?\b|个?\s?(?:机柜|机架)", re.IGNORECASE),
    "person": re.compile(
        r"(?:\w+\s)?(?:engineers?|people|staff|experts?|FTEs?)\b|名|位|个?\s?(?:人|工程师)", re.IGNORECASE
    ),
    "gpu": re.compile(
        r"(?:\w+\s)?(?:GPUs?|cards?|accelerators?)\b|[A-Z]{1,2}\d{2,3}\w?s?\b|[张块]|卡|颗|个\s?GPU", re.IGNORECASE
    ),
}


def kind_behind(number: str, text: str) -> str:
    """The kind of thing that a number counts in a text; "" where nothing tells."""
    for match in re.finditer(rf"(?<![\d.,]){re.escape(number)}(?![\d.,]\d|\d)[\s-]*", text):
        behind = text[match.end() :]
        for kind, words in _KINDS.items():
            if words.match(behind):
                return kind
    return ""


def miscounted(number: str, sentence: str, texts: Iterable[str]) -> bool:
    """Whether the sentence counts with a number one kind of thing, and the texts only other kinds."""
    said = kind_behind(number, sentence)
    meant = {kind_behind(number, text) for text in texts} - {""}
    return bool(said) and bool(meant) and said not in meant
