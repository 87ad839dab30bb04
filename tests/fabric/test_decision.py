"""The verdict: the article's bands and scenarios, and properties that any rule set must keep."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import yaml

from app.fabric.decision import Rules, Situation, decide, parse_rules
from app.fabric.estimate import Estimate
from app.settings import knowledge_folder


@pytest.fixture(scope="module")
def rules() -> Rules:
    path: Path = knowledge_folder() / "catalog" / "decision.yaml"
    return parse_rules(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("situation", "choice"),
    [
        (Situation(64), "roce"),  # article, FAQ 4: below a hundred cards RoCE is the sensible choice
        (Situation(96), "roce"),
        (
            Situation(512),
            "roce",
        ),  # article: tuned RoCE close to InfiniBand at the thousand-card level, for less
        (Situation(1024), "roce"),
        (Situation(16384), "infiniband"),  # article: beyond ten thousand cards InfiniBand is the first choice
        (Situation(512, priority="performance", budget="ample"), "infiniband"),  # scenario one
        (Situation(512, network_team="strong", priority="cost"), "roce"),  # scenario two
        (Situation(64, hybrid=True), "naas"),  # scenario three
        (Situation(64, network_team="none"), "naas"),
        (Situation(512, network_team="none"), "infiniband"),
        (Situation(16384, network_team="strong", avoid_lock_in=True), "either"),
        (
            Situation(16384, network_team="strong", avoid_lock_in=True, capex_ratio=Estimate(1, 1.4, 2)),
            "roce",
        ),
    ],
)
def test_the_articles_scenarios_and_bands(rules: Rules, situation: Situation, choice: str) -> None:
    assert decide(rules, situation).choice == choice


def test_every_reason_names_who_says_it(rules: Rules) -> None:
    made = decide(
        rules,
        Situation(64, capex_ratio=Estimate(0.7, 1.05, 1.8), time_ratio=1.0, infiniband_tiers=1, roce_tiers=1),
    )
    provenance = {one.rule.id: one.rule.provenance for one in made.reasons}
    assert provenance == {
        "small-cluster": "article",
        "capex-parity": "calculator",
        "same-speed": "calculator",
    }
    assert "1.05 times" in next(one for one in made.reasons if one.rule.id == "capex-parity").text.en


def test_scores_are_the_sum_of_the_rows(rules: Rules) -> None:
    made = decide(rules, Situation(16384, network_team="strong", avoid_lock_in=True))
    result = made.calculation()
    for option in ("infiniband", "roce", "naas"):
        assert result.values[f"score_{option}"].value == pytest.approx(
            sum(float(row[f"{option}_points"]) for row in result.rows)
        )  # type: ignore[arg-type]


def test_what_would_flip_it_does_flip_it(rules: Rules) -> None:
    made = decide(rules, Situation(64), at_scale=lambda gpus: Situation(gpus))
    named = {text.en: option for text, option in made.would_flip}
    assert named["you have no team that can run lossless Ethernet"] == "naas"
    assert decide(rules, Situation(64, network_team="none")).choice == "naas"
    assert any("GPUs" in text for text in named)


def _situations() -> list[Situation]:
    fields = {
        "budget": (None, "ample", "tight"),
        "network_team": (None, "none", "strong"),
        "priority": (None, "performance", "cost"),
        "hybrid": (None, True),
        "ethernet_estate": (None, True),
        "avoid_lock_in": (None, True),
        "workload": (None, "pretraining", "inference"),
    }
    return [Situation(0, **dict(zip(fields, values, strict=True))) for values in product(*fields.values())]  # type: ignore[arg-type]


def _scaled(situation: Situation, gpus: int) -> Situation:
    """The same cluster at another size, with the tiers of r = 64 and r = 128 switches and the dearer third tier."""
    third = gpus > 2048
    return replace(
        situation,
        gpus=gpus,
        infiniband_tiers=3 if third else 2,
        roce_tiers=3 if gpus > 8192 else 2,
        capex_ratio=Estimate(0.8, 1.4 if third else 1.1, 2.5),
        time_ratio=1.0,
    )


def test_growing_never_moves_from_infiniband_to_roce(rules: Rules) -> None:
    scales = (100, 256, 512, 1000, 2047, 2048, 2049, 4096, 8192, 9999, 10_000, 16_384, 65_536)
    for situation in _situations():
        chosen = [decide(rules, _scaled(situation, gpus)).choice for gpus in scales]
        seen_infiniband = False
        for choice in chosen:
            assert not (seen_infiniband and choice == "roce"), (
                situation,
                list(zip(scales, chosen, strict=True)),
            )
            seen_infiniband = seen_infiniband or choice == "infiniband"


def test_an_unstated_field_never_counts(rules: Rules) -> None:
    bare = decide(rules, Situation(512))
    assert {one.rule.id for one in bare.reasons} == {"mid-cluster"}


def test_both_languages_are_filled_in(rules: Rules) -> None:
    for situation in _situations():
        for reason in decide(rules, _scaled(situation, 12_000)).reasons:
            assert "{" not in reason.text.en + reason.text.zh
