"""The notes as data: every figure has a source, both languages say the same, and no link leads nowhere."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.advisor.numerals import normalise_numbers
from app.settings import knowledge_folder

NOTES = knowledge_folder() / "notes"
TRUST = {"vendor", "standard", "paper", "source-code", "measurement", "secondary", "estimate", "article"}
TOPICS = sorted({path.name.split(".")[0] for path in NOTES.glob("*.md")})
ARTICLE = "https://www.syscxp.com/"


@cache
def note(topic: str, language: str) -> tuple[dict[str, Any], str]:
    text = (NOTES / f"{topic}.{language}.md").read_text(encoding="utf-8")
    match = re.match(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL)
    assert match, f"{topic}.{language}.md has no front matter"
    return yaml.safe_load(match[1]), match[2]


def footnotes(body: str) -> set[str]:
    return set(re.findall(r"\[\^([a-z0-9-]+)\]", body))


def figures(body: str) -> set[str]:
    """The digits of every figure above 12, without their scale: 2.4 million, 240万 and 2,400,000 are all `24`."""
    text = re.sub(r"\[\^[^\]]*\]|`[^`]*`|^#.*$", "", body.replace("，", "；"), flags=re.MULTILINE)
    found = set()
    for number in re.findall(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?", normalise_numbers(text), re.ASCII):
        plain = number.replace(",", "")
        if float(plain) > 12 or "." in plain:
            found.add(plain.replace(".", "").strip("0"))
    return found - {"", "1"}  # round thousands are words in one language and digits in the other


def test_there_are_at_least_25_topics_and_every_one_is_a_pair() -> None:
    assert len(TOPICS) >= 25
    for topic in TOPICS:
        for language in ("en", "zh"):
            meta, _ = note(topic, language)
            assert (meta["topic"], meta["language"]) == (topic, language)


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_source_is_whole_used_and_known(topic: str, language: str) -> None:
    meta, body = note(topic, language)
    assert meta["sources"], "a note without sources"
    assert footnotes(body) == set(meta["sources"])
    for id, source in meta["sources"].items():
        assert str(source["url"]).startswith("https://"), id
        assert source["title"] and source["date"], id
        assert source["trust"] in TRUST, id
    assert set(meta["related"]) <= set(TOPICS) - {topic}


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_paragraph_with_a_figure_has_a_footnote(topic: str, language: str) -> None:
    _, body = note(topic, language)
    for block in re.split(r"\n\s*\n", body):
        if block.lstrip().startswith(("#", "|", "```")):
            continue
        items = re.split(r"\n(?=[-*] |\d+\. )", block)
        for item in items:
            bare = re.sub(r"`[^`]*`|\[\^[^\]]*\]|[A-Za-z]+-?\d[\w.-]*|^\d+\.", "", item)
            assert not re.search(r"\d", bare) or "[^" in item, item


@pytest.mark.parametrize("topic", TOPICS)
def test_both_languages_have_the_same_sections_sources_and_figures(topic: str) -> None:
    (english, en), (chinese, zh) = note(topic, "en"), note(topic, "zh")
    assert en.count("\n## ") == zh.count("\n## ")
    assert set(english["sources"]) == set(chinese["sources"])
    assert figures(en) == figures(zh)


def test_every_claim_of_the_article_is_in_a_note_that_cites_it() -> None:
    claims = yaml.safe_load((knowledge_folder() / "article_claims.yaml").read_text(encoding="utf-8"))
    assert len(claims) >= 35
    assert len({claim["id"] for claim in claims}) == len(claims)
    for claim in claims:
        assert claim["stance"] in {"agrees", "qualified", "contradicted"}
        assert set(claim["notes"]) <= set(TOPICS), claim["id"]
        cited = [source["url"] for topic in claim["notes"] for source in note(topic, "en")[0]["sources"].values()]
        assert ARTICLE in cited, claim["id"]


def test_contradicted_claims_say_both() -> None:
    """The price ratio, "RoCE needs PFC" and "single vendor": the claim and what other sources say, in one note."""
    for topic, words in {
        "infiniband-price-premium": ("2-3", "near parity"),
        "roce-lossless": ("PFC", "MRC"),
        "vendor-lock-in": ("one vendor", "Sugon"),
    }.items():
        meta, body = note(topic, "en")
        assert ARTICLE in {source["url"] for source in meta["sources"].values()}
        assert len(meta["sources"]) > 1
        for word in words:
            assert word.lower() in body.lower(), (topic, word)


def test_the_glossary_has_a_hundred_pairs() -> None:
    pairs = yaml.safe_load((knowledge_folder() / "glossary.yaml").read_text(encoding="utf-8"))
    assert len(pairs) >= 100
    assert all(pair["en"] and pair["zh"] for pair in pairs)


def test_no_path_of_a_machine_and_no_registry_host_is_in_the_knowledge() -> None:
    for path in Path(knowledge_folder()).rglob("*.*ml"):
        assert "/work/" not in path.read_text(encoding="utf-8"), path.name
    for path in NOTES.glob("*.md"):
        assert not re.search(r"/work/|/tmp/|/root/|file://", path.read_text(encoding="utf-8")), path.name
