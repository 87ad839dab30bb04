"""Makes text safe to show: what is data stays data. Answers keep their Markdown, everything else is plain."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from urllib.parse import urlencode

from app.advisor.answer import Citation, Reference
from app.advisor.markers import in_prose
from app.advisor.references import linked, marked_again

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:&])")
_MARKER = re.compile(r"\[(\d{1,3})\](?!\()")
# The id of a calculation; not in a mark of references.py, not in an address, and not the GPU.
_IDENTITY = re.compile(r"(?<![\w\ue000./=-])(?<!NVIDIA )(?<!Tesla )T\d{1,3}(?![\w-])", re.ASCII)
_CJK_BOLD_END = re.compile(r"\*\*([^*\n]+?)([：，。；！？、]+)\*\*(?=[^\s*])")  # Markdown would not end the bold there
_MATH_OR_STRIKE = re.compile(r"(?<!\\)([$~])")
_IMAGE = re.compile(r"!(?=\[)")
_DIRECTIVE = re.compile(r":(?=[a-z][a-z0-9_-]*[\[:/])")  # :red[…], :material/…:, :smile:


def plain(text: str) -> str:
    """Any text, to be shown as it is by Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def answer_markdown(
    text: str,
    link: Callable[[int], str | None] = lambda marker: None,
    references: Sequence[Reference] = (),
    address: Callable[[str, str], str] | None = None,
    calculations: Collection[str] = (),
) -> str:
    """Markdown of an answer, ready for st.markdown.

    `[n]` becomes a link to `link(n)`, or stays as it is where that is None; a figure of `references` becomes a link
    to `address(calculation, value)`, and the id of one of `calculations` (T5) a link to `address(T5, "")`. Dollar
    signs and tildes are no marks, images are not loaded, Streamlit's own directives are inert; code stays as it is.
    """

    def opened(match: re.Match[str]) -> str:
        return f"[{match[0]}]({address(match[0], '')})" if address and match[0] in calculations else match[0]

    text = marked_again(text, references) if address else text
    shown = in_prose(lambda part: _prose(_IDENTITY.sub(opened, part), link), text)
    return linked(
        shown, lambda calculation, value, figure: f"[{figure}]({address(calculation, value)})" if address else figure
    )


def figure_links(chat: str, turn: int) -> Callable[[str, str], str]:
    """Addresses for the figures of one turn: the chat, with the calculation to open; see sources.py."""

    def address(calculation: str, value: str) -> str:
        return "?" + urlencode({"chat": chat, "calculation": f"{turn}.{calculation}.{value}"})

    return address


def _prose(text: str, link: Callable[[int], str | None]) -> str:
    text = _CJK_BOLD_END.sub(r"**\1**\2", text)
    text = _MATH_OR_STRIKE.sub(r"\\\1", text)
    text = _IMAGE.sub(r"\\!", text)
    text = _DIRECTIVE.sub(r"\\:", text)

    def marker(match: re.Match[str]) -> str:
        address = link(int(match[1]))
        return f"[\\[{match[1]}\\]]({address})" if address else f"\\[{match[1]}\\]"

    return _MARKER.sub(marker, text)


def passage_query(citation: Citation) -> dict[str, str]:
    """The query that opens the cited passage on the Documents page."""
    return {"document": citation.document_id, "start": str(citation.start), "end": str(citation.end)}


def citation_links(turn: int, citations: Mapping[int, Citation]) -> Callable[[int], str | None]:
    """Addresses for the markers of one turn. `cite` says which source of the chat it is; see sources.py."""

    def link(marker: int) -> str | None:
        citation = citations.get(marker)
        if citation is None:
            return None
        query = urlencode(passage_query(citation) | {"cite": f"{turn}.{marker}"})
        return f"documents?{query} {_title(citation)}"

    return link


def _title(citation: Citation) -> str:
    """The link's tooltip, in Markdown's quotes."""
    name = f"{citation.title} › {citation.section}" if citation.section else citation.title
    return '"' + " ".join(re.sub(r'["\\$<>&`\[\]]', "", name).split()) + '"'


def outbound(title: str, url: str) -> str:
    """A Markdown link to a public address, or the title alone where the address is no such thing."""
    address = re.sub(r"[<>\s\\]", "", url)
    return f"[{plain(title)}](<{address}>)" if address.startswith(("https://", "http://")) else plain(title)
