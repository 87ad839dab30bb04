"""The verdict: the article's bands and scenarios, and properties that any rule set must keep."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import yaml

from app.errors import AdvisorError
from app.fabric.compare import compare_fabrics
from app.fabric.decision import Rules, Situation, choose, decide, parse_rules
from app.fabric.estimate import Estimate
from app.fabric.terms import default_terms
from app.knowledge import load_catalog
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


FIELDS: dict[str, tuple[object, ...]] = {
    "budget": (None, "ample", "tight"),
    "network_team": (None, "none", "strong"),
    "priority": (None, "performance", "cost"),
    "hybrid": (None, True),
    "ethernet_estate": (None, True),
    "avoid_lock_in": (None, True),
    "workload": (None, "pretraining", "inference"),
    "tenancy": (None, "multi"),
    "region": (None, "china"),
    "supply": (None, "constrained"),
    "time_to_market": (None, "urgent"),
}


def _situations(*names: str) -> list[Situation]:
    """Every combination of these fields."""
    chosen = [FIELDS[name] for name in names]
    return [Situation(0, **dict(zip(names, values, strict=True))) for values in product(*chosen)]  # type: ignore[arg-type]


ALL = _situations(*FIELDS)
SIMPLE = _situations("budget", "network_team", "priority", "hybrid", "region", "time_to_market")


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
    scales = (100, 1000, 2048, 2049, 8192, 9999, 10_000, 65_536)
    for situation in ALL:
        chosen = [choose(rules, _scaled(situation, gpus)) for gpus in scales]
        later = chosen[chosen.index("infiniband") :] if "infiniband" in chosen else []
        assert "roce" not in later, (situation, list(zip(scales, chosen, strict=True)))


@pytest.fixture(scope="module")
def computed() -> list[Situation]:
    """What our own bills give from one node to 32,768 GPUs, unit boundaries and their neighbours included."""
    catalog = load_catalog(knowledge_folder() / "catalog")
    return [compare_fabrics(catalog, gpus=gpus).situation(time_ratio=1.0) for gpus in SIZES]


SIZES = (
    8, 32, 64, 72, 96, 104, 128, 136, 256, 264, 512, 520, 1024, 1032, 2048, 2056, 4096, 4104, 8192, 8200,
    10_000, 10_344, 16_384, 32_768,
)  # fmt: skip


def test_growing_never_moves_from_infiniband_on_our_own_bills(rules: Rules, computed: list[Situation]) -> None:
    for given in ALL[::5]:
        fields = {name: getattr(given, name) for name in FIELDS}
        chosen = [choose(rules, replace(one, **fields)) for one in computed]
        later = chosen[chosen.index("infiniband") :] if "infiniband" in chosen else []
        assert "roce" not in later, (fields, list(zip(SIZES, chosen, strict=True)))


@pytest.mark.parametrize(
    "changes",
    [
        {"workload": "finetuning"},  # no rule speaks of it
        {"budget": "moderate"},
        {"network_team": "some"},
        {"priority": "balanced"},
        {"tenancy": "single"},
        {"region": "elsewhere"},
        {"supply": "open"},
        {"time_to_market": "relaxed"},
        {"time_ratio": 1.02},  # within the model's accuracy
        {"time_ratio": 0.97},
    ],
)
def test_what_no_rule_looks_at_changes_nothing(rules: Rules, changes: dict[str, object]) -> None:
    (name,) = changes
    for gpus in (64, 512, 4096, 16_384):
        for situation in SIMPLE[::5]:
            plain = replace(_scaled(situation, gpus), **{name: None if name != "time_ratio" else 1.0})  # type: ignore[arg-type]
            before, after = decide(rules, plain), decide(rules, replace(plain, **changes))  # type: ignore[arg-type]
            assert (after.choice, after.scores) == (before.choice, before.scores)


def test_a_small_change_of_scale_or_price_within_a_band_changes_nothing(rules: Rules) -> None:
    for gpus in (64, 512, 4096, 16_384):
        for situation in SIMPLE:
            plain = _scaled(situation, gpus)
            ratio = plain.capex_ratio
            assert ratio is not None
            nudged = replace(plain, gpus=gpus + 8, capex_ratio=Estimate(ratio.low, ratio.typical + 0.02, ratio.high))
            assert choose(rules, nudged) == choose(rules, plain)


def test_money_terms_do_not_move_the_verdict(rules: Rules) -> None:
    """Years, tariff, PUE, support and staff are common to both fabrics; the verdict looks at capex."""
    catalog = load_catalog(knowledge_folder() / "catalog")
    plain = compare_fabrics(catalog, gpus=512).situation()
    terms = default_terms(catalog, 512, years=3, pue=1.2, usd_per_kwh=0.2, support_percent=15, staff_fte=2)
    other = compare_fabrics(catalog, gpus=512, terms=terms).situation()
    assert decide(rules, other).scores == decide(rules, plain).scores


def test_reasons_for_and_against(rules: Rules) -> None:
    made = decide(rules, Situation(16_384, network_team="strong", workload="pretraining"))
    assert made.choice == "infiniband"
    assert {one.rule.id for one in made.reasons_for} == {"large-cluster", "past-tuned-roce", "pretraining"}
    assert {one.rule.id for one in made.reasons_against} == {"large-cluster-practice", "strong-team"}
    gain = sum(one.rule.weights.get("infiniband", 0) - one.rule.weights.get("roce", 0) for one in made.reasons)
    assert gain == made.scores["infiniband"] - made.scores["roce"] == 6 - 3


@pytest.mark.parametrize(
    ("situation", "favoured"),
    [
        (Situation(512, tenancy="multi"), "roce"),
        (Situation(512, region="china"), "roce"),
        (Situation(512, supply="constrained"), "roce"),
        (Situation(512, time_to_market="urgent"), "infiniband"),  # article, scenario one
        (Situation(64, time_to_market="urgent"), "naas"),
    ],
)
def test_tenancy_region_supply_and_time(rules: Rules, situation: Situation, favoured: str) -> None:
    plain = decide(rules, Situation(situation.gpus))
    made = decide(rules, situation)
    changed = {option for option in made.scores if made.scores[option] != plain.scores[option]}
    assert changed == {favoured} and made.scores[favoured] > plain.scores[favoured]  # type: ignore[index]
    reason = next(one for one in made.reasons if one not in plain.reasons)
    assert (knowledge_folder() / "notes" / f"{reason.rule.note}.en.md").is_file()


def test_weights_can_be_changed(rules: Rules) -> None:
    situation = Situation(512, network_team="none")
    assert decide(rules, situation).choice == "infiniband"
    assert decide(rules, situation, factors={"no-team": 0}).choice == "roce"
    doubled = decide(rules, situation, factors={"no-team": 2})
    assert doubled.scores["infiniband"] == 6 and doubled.calculation().rows[0]["infiniband_points"] == 6
    assert decide(rules, situation).scores["infiniband"] == 3  # the rules themselves are as they were
    for factors in ({"no-such-rule": 1.0}, {"no-team": -1.0}, {"no-team": float("nan")}):
        with pytest.raises(AdvisorError):
            decide(rules, situation, factors=factors)


def test_performance_first_is_not_moved_by_price(rules: Rules) -> None:
    """72 GPUs need two tiers of QM9700 and a pair of SN5600: dearer, but money was said to come second."""
    dear = Situation(72, priority="performance", capex_ratio=Estimate(1, 1.4, 2), infiniband_tiers=2, roce_tiers=1)
    assert decide(rules, dear).choice == "infiniband"
    assert "capex-infiniband-dearer" not in {one.rule.id for one in decide(rules, dear).reasons}
    assert decide(rules, replace(dear, priority="cost")).choice == "roce"


def test_an_unstated_field_never_counts(rules: Rules) -> None:
    bare = decide(rules, Situation(512))
    assert {one.rule.id for one in bare.reasons} == {"mid-cluster"}


def test_both_languages_are_filled_in(rules: Rules) -> None:
    for situation in SIMPLE:
        for reason in decide(rules, _scaled(situation, 12_000)).reasons:
            assert "{" not in reason.text.en + reason.text.zh
