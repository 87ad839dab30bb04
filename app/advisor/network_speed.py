"""The network that each GPU has, from what a question says of NICs: "8x400G", "2 NICs of 200G", "NDR", "3.2T a node".

Ports of other networks (uplinks to a campus, storage, management) say nothing of it.
"""

from __future__ import annotations

import re

_G = r"(100|200|400|800|1600)\s*(?:g|gb|gbit|gbps|gb/s|gbe)(?![a-z0-9]|/s)"
_NICS = r"(?:nics?|hcas?|adapters?|network cards?|网卡|網卡|(?:网)?口|端口|ports?)"
_NODE = r"(?:node|server|host|box|machine|system|chassis|台|节点|服务器)"
_PER_NODE = rf"(?:per|a|an|each|every|/|in (?:each|every)|每)\s*{_NODE}"
_OTHER_NETWORK = (
    r"(?:up-?links?|campus|storage|front-?end|management|mgmt|oob|out-of-band|in-band|internet|wan|dci|lustre|nfs|ceph"
    r"|存储|前端|管理网?|带外|带内|上联|上行|出口|互联网|专线)"
)
_OF_ANOTHER = re.compile(  # "2 x 100G uplinks to the campus", "storage over 100G", "存储网100G"
    rf"(?:\d+\s*(?:x|×|条|个)?\s*)?{_G}\s*(?:\w+\s+){{0,1}}?(?:for (?:the )?)?{_OTHER_NETWORK}"
    rf"|{_OTHER_NETWORK}\s*(?:net(?:work)?|fabric|traffic|nics?|ports?|links?|网络?)?\s*(?:is|are|on|over|at|with|of|:|用|走|是|为)?\s*"
    rf"(?:\d+\s*(?:x|×)\s*)?{_G}",
    re.ASCII,
)
_PER_GPU = (
    r"(\d+)\s*(?:x|×|个|個)?\s*(100|200|400|800)\s*g\w*\s*(?:ports?|口|端口)?\s*(?:per|each|a|/)\s*gpu",
    r"每\s*(?:个|張|张|块)?\s*(?:gpu|卡)[^，。,]{0,6}?(\d+)\s*(?:x|×|个|個)\s*(100|200|400|800)\s*g",
)
_OF_A_NODE = (  # so many NICs of a node, and the speed of one
    r"(?<![\d.:])(\d+)\s*x\s*(100|200|400|800)\s*g",
    rf"(?<![\w.:])(\d{{1,2}})\s*(100|200|400|800)\s*g\w*\s*{_NICS}\s*(?:{_PER_NODE}|each)",
    rf"(?<![\w.])(\d{{1,2}})\s*{_NICS}\s*(?:of|at|@|with|,|，|:)?\s*(?:the )?(100|200|400|800)\s*g",
    rf"(?<![\w.])(\d{{1,2}})\s*{_NICS}\s*(?:{_PER_NODE}|each)\s*[^.;。；]{{0,12}}?(100|200|400|800)\s*g",
    rf"(?<![\w.])(\d{{1,2}})\s*(?:块|张|个|條|条)?\s*(100|200|400|800)\s*g\w*\s*(?:的)?\s*{_NICS}\s*{_PER_NODE}",
    rf"每{_NODE}[^，。,]{{0,6}}?(\d{{1,2}})\s*(?:块|张|个|条)?\s*(100|200|400|800)\s*g\w*\s*(?:的)?\s*{_NICS}",
)
_MOST_NICS = 16  # of one node
_GENERATIONS = {"hdr": 200, "ndr": 400, "xdr": 800}


def gbps_per_gpu(low: str, per_node: int) -> int | None:
    """Gb/s of back-end network that a question gives each GPU, `per_node` GPUs in a node; None where it says "
    "nothing."""
    low = _OF_ANOTHER.sub(" ", low)
    if match := _first(_PER_GPU, low):
        return int(match[1]) * int(match[2])
    if (match := _first(_OF_A_NODE, low)) and int(match[1]) <= _MOST_NICS:
        return int(match[1]) * int(match[2]) // max(1, per_node)
    if match := re.search(rf"(\d+(?:\.\d+)?)\s*t(?:b/s|bps|bit/s)?\s*(?:per|a|each|/)\s*{_NODE}", low, re.ASCII):
        return round(float(match[1]) * 1000 / max(1, per_node))
    if match := re.search(rf"(?<![\d.x]){_G}", low, re.ASCII):
        return int(match[1])
    if match := re.search(r"(?<![a-z0-9])(hdr|ndr|xdr)(?![a-z0-9])", low, re.ASCII):
        return _GENERATIONS[match[1]]
    return None


def nics_per_gpu(low: str, per_node: int) -> float | None:
    """NIC ports of each GPU where a question counts those of a server: 0.25 for 2 NICs and 8 GPUs; else None."""
    low = _OF_ANOTHER.sub(" ", low)
    match = None if _first(_PER_GPU, low) else _first(_OF_A_NODE, low)
    if match is None or not 1 <= int(match[1]) <= _MOST_NICS:
        return None
    return int(match[1]) / max(1, per_node)


def _first(patterns: tuple[str, ...], low: str) -> re.Match[str] | None:
    return next((match for one in patterns if (match := re.search(one, low, re.ASCII))), None)
