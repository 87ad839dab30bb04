"""The size of a collective's messages, where a question says one; sizes of memories, disks and data sets are none."""

from __future__ import annotations

import re

from app.advisor.mentions import gpu_names

_SIZE = r"(\d+(?:\.\d+)?)\s*(ki?b|mi?b|gi?b|ti?b)(?![a-z/])"
_BEHIND = re.compile(  # what it is a size of: "80GB of HBM", "100 TB 训练数据"
    r"\s*(?:of\s+|的\s*)?(?:\w+\s+)?(?:hbm\w*|v?ram|memory|memories|disk|ssds?|nvme|storage|data ?sets?|training data"
    r"|data\b"
    r"|checkpoints?|weights?|files?|lustre|swap|a\s?day|per day|sxm\d?|pcie|h\d{2,3}s?|a\d{2,3}s?|b\d{3}s?|gpus?\b"
    r"|显存|内存|硬盘|存储|数据|训练数据|权重|检查点|存档|每天|的?卡|版)",
    re.ASCII,
)
_BEFORE = re.compile(
    r"(?:hbm\w*|v?ram|memory|disk|storage|data ?set|checkpoints?|weights?|显存|内存|存储|数据集|数据|权重|检查点|存档)"
    r"\s*(?:is|are|of|has|size|with|at|about|:|=|是|为|有|大小|约)*\s*$",
    re.ASCII,
)
_POWER = {"k": 1, "m": 2, "g": 3, "t": 4}


def message_bytes(low: str, models: str) -> int | None:
    """Bytes of one collective; None where none is said. `models`: regular expression of GPU names."""
    of_gpu = re.compile(rf"(?:{gpu_names(models)})s?[\s-]*(?:sxm\d?|pcie|with|\()?\s*$", re.ASCII)  # "H100 80GB"
    for match in re.finditer(_SIZE, low, re.ASCII):
        before, behind = low[max(0, match.start() - 24) : match.start()], low[match.end() :]
        if _BEHIND.match(behind) or _BEFORE.search(before) or of_gpu.search(before):
            continue
        return int(float(match[1]) * (1024 if "i" in match[2] else 1000) ** _POWER[match[2][0]])
    return None
