"""Markdown and plain text, in the encodings that people's files have."""

from __future__ import annotations

import codecs
import re
from typing import Any

import yaml

from app.library.formats.content import Content, UnreadableError
from app.library.language import CJK

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*\r?\n?", re.DOTALL)
_TITLE = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMON_CHINESE = frozenset(
    "的一是不了人在有我他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发"
    "的一是不了人在有我他這為之大來以個中上們到說國和地也子時道出而要於就下得可你年生自會那後能對著事其裡所去行過家十用發"
    "网络集群交换机数据无损延迟带宽成本网路叢集交換機資料無損延遲頻寬"
)
_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ORDINARY = re.compile(rf"[\x20-\x7e\s{CJK}　-〿＀-￯]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f]")


def decode(data: bytes, declared: str = "") -> str:
    """Text of the bytes: by byte-order mark, declared encoding, else UTF-8, UTF-16, GB18030 or Big5 as they
    fit.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decoded(data, encoding)
    if declared:
        encoding = {"gb2312": "gb18030", "gbk": "gb18030"}.get(declared.lower(), declared)
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            pass  # it declares the wrong one; guess
    try:
        return _checked(data.decode("utf-8"))
    except UnicodeDecodeError:
        pass
    unmarked = _utf16_without_mark(data)
    if unmarked:
        return _checked(data.decode(unmarked))
    if b"\x00" in data:
        raise UnreadableError("it is a binary file, not text")
    candidates = []
    for encoding in ("gb18030", "big5"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        candidates.append((_plausibility(text), text))
    if candidates:
        best, text = max(candidates, key=lambda candidate: candidate[0])
        if best > 0:
            return _checked(text)
    raise UnreadableError("its text encoding is none of UTF-8, UTF-16, GB18030, Big5")


def read_text(data: bytes) -> Content:
    """Plain text: kept as it is, with line ends normalised."""
    return Content(_normalised(decode(data)))


def read_markdown(data: bytes) -> Content:
    """Markdown; YAML front matter gives title, language, topic, url, sources; it is no part of the text."""
    text = _normalised(decode(data))
    matter: dict[str, Any] = {}
    match = _FRONT_MATTER.match(text)
    if match:
        try:
            loaded = yaml.load(match[1], Loader=_YAML_LOADER)
        except (yaml.YAMLError, ValueError) as error:
            raise UnreadableError(f"its front matter is not valid YAML ({str(error).splitlines()[0]})") from None
        if isinstance(loaded, dict):
            matter = loaded
            text = text[match.end() :].lstrip("\n")
    heading = _TITLE.search(text)
    language = matter.get("language")
    return Content(
        text=text,
        title=str(matter.get("title") or (heading[1] if heading else "")),
        url=str(matter.get("url") or ""),
        language=language if language in ("en", "zh") else "",
        topic=str(matter.get("topic") or ""),
        sources=_sources(matter.get("sources")),
    )


def _sources(value: Any) -> dict[str, dict[str, str]]:
    if not isinstance(value, dict):
        return {}
    return {
        str(key): {str(name): str(text) for name, text in source.items() if text is not None}
        for key, source in value.items()
        if isinstance(source, dict)
    }


def _normalised(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return _checked(data.decode(encoding))
    except UnicodeDecodeError:
        raise UnreadableError(f"it starts like {encoding.upper()} but is not") from None


def _checked(text: str) -> str:
    if len(_CONTROL.findall(text)) > len(text) / 100:
        raise UnreadableError("it is a binary file, not text")
    return text


def _utf16_without_mark(data: bytes) -> str:
    """The encoding, or "": in UTF-16 every other byte of Latin text is zero, and a few of Chinese text."""
    if len(data) % 2 or len(data) < 4:
        return ""
    even, odd = data[0::2].count(0), data[1::2].count(0)
    if max(even, odd) < len(data) / 40 or min(even, odd) > max(even, odd) / 8:
        return ""
    encoding = "utf-16-be" if even > odd else "utf-16-le"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return ""
    return encoding if len(_ORDINARY.findall(text)) > 0.9 * len(text) else ""


def _plausibility(text: str) -> float:
    """Share of very common Chinese characters among the characters beyond ASCII; 0 for gibberish."""
    beyond = [character for character in text if ord(character) > 127]
    if not beyond:
        return 0.0
    return sum(character in _COMMON_CHINESE for character in beyond) / len(beyond) + 0.01
