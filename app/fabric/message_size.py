"""Message sizes and NIC counts as people write them: "8GiB", "512 MB", "8x400"."""

from __future__ import annotations

import re

from app.errors import AdvisorError

_BINARY = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]+)?(?:e[+]?[0-9]{1,3})?)\s*([kmgt]?)(i?)(b?)", re.IGNORECASE)
_NICS = re.compile(r"([0-9]{1,4})\s*[x×*]\s*([0-9]{1,5})\s*(?:g|gb/?s|gbps|gbe)?", re.IGNORECASE)
MAX_BYTES = 2**60


def parse_bytes(text: str) -> int:
    """Bytes of a size: "8GiB" (2**33), "512 MB" (5.12e8), "1e9", "8G" (2**33, as nccl-tests reads it).

    KB, MB, GB and TB are decimal; KiB … TiB and the bare K, M, G, T are powers of two. Raises AdvisorError.
    """
    match = _SIZE.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        digits, prefix, binary, unit = match.groups()
        decimal = bool(unit) and not binary
        size: float = float(re.sub("[_,]", "", digits)) * float(
            (1000 if decimal else 1024) ** _BINARY[prefix.lower()]
        )
        if not 1 <= size <= MAX_BYTES:
            raise ValueError
    except (ValueError, OverflowError):
        raise AdvisorError(
            f"Not a message size: {text.strip()[:40]!r}.",
            "Write 1 byte to 1 EiB, for example 8GiB, 512MB or 1e9.",
            code="bad_bytes",
            values={"text": text.strip()[:40]},
        ) from None
    return round(size)


def parse_nics(text: str) -> tuple[int, int]:
    """NICs per node and Gb/s of each, from "8x400". Raises AdvisorError."""
    match = _NICS.fullmatch(text.strip())
    if match is None or 0 in (int(match[1]), int(match[2])):
        raise AdvisorError(
            f"Not a set of NICs: {text.strip()[:40]!r}.",
            "Write how many per node and the Gb/s of each, for example 8x400.",
            code="bad_nics",
            values={"text": text.strip()[:40]},
        )
    return int(match[1]), int(match[2])
