"""From a trial to checks, the stage that failed first, and metrics over cases."""

import pytest

from app.advisor.answer import Grounding
from eval.baseline import difference, make_baseline
from eval.cases import Case, ExpectedValue
from eval.record import FoundPassage, Trial
from eval.relations import Relation
from eval.scoring import score
from eval.summary import all_disagreements, flickering_cases, groups, measures, passed_cases
from eval.thresholds import Threshold, judge
from tests.eval.answers import answer, calculation, citation, verdict

HITS = (FoundPassage("switches.en.md", "switches", "Ports", 0.9),)


def case(**fields: object) -> Case:
    return Case(**{"id": "c", "language": "en", "answers_in": "en", "turns": ("q",), "source": "s"} | fields)  # type: ignore[arg-type]


def trial(given: object, *, retrieved: tuple[FoundPassage, ...] | None = HITS, **fields: object) -> Trial:
    stages = None if retrieved is None else {"fused": retrieved}
    return Trial("c", 0, (given,), stages, **fields)  # type: ignore[arg-type]


RIGHT = answer(
    "It has 64 ports of 400 Gb/s. [1]\n\nThe fabric has 16 leaf switches (T1).",
    kind="decision",
    verdict=verdict("roce"),
    spec={"gpus": 512},
    citations=(citation(),),
    calculations=(calculation("size", "infiniband", leaf_switches=(16, "switches")),),
)
WANTED = {
    "kinds": ("decision",),
    "verdicts": ("roce",),
    "spec": {"gpus": 512},
    "values": (ExpectedValue("size.infiniband.leaf_switches", 16, stated=True),),
    "relations": (Relation("size.infiniband.leaf_switches == 16"),),
    "required_tools": ("size",),
    "forbidden_tools": ("cost",),
    "gold": ("switches",),
    "must": (("ports",),),
    "must_not": ("free",),
}


def test_a_right_answer_passes_every_check() -> None:
    result = score(case(**WANTED), trial(RIGHT))
    assert result.failures == []
    assert result.passed and result.failed_stage == ""
    assert result.counts["numbers"] == (2, 2)
    assert result.counts["recall@5"] == (1, 1)
    assert result.counts["citation_recall"] == (2, 2)


@pytest.mark.parametrize(
    ("change", "stage", "check"),
    [
        ({"kinds": ("cost",)}, "read", "kind"),
        ({"answers_in": "zh"}, "read", "language"),
        ({"spec": {"gpus": 64}}, "read", "spec.gpus"),
        ({"gold": ("naas",)}, "search", "found"),
        ({"required_tools": ("cost",)}, "calculate", "tools"),
        ({"forbidden_tools": ("size",)}, "calculate", "no_tools"),
        ({"values": (ExpectedValue("size.tiers", 8),)}, "calculate", "value size.tiers"),
        ({"relations": (Relation("size.infiniband.leaf_switches > 16"),)}, "calculate", "relation"),
        ({"verdicts": ("infiniband",)}, "write", "verdict"),
        ({"must": (("credits",),)}, "write", "must"),
        ({"must_not": ("ports",)}, "write", "must_not"),
    ],
)  # fmt: skip
def test_the_first_failing_stage_is_named(change: dict[str, object], stage: str, check: str) -> None:
    result = score(case(**WANTED | change), trial(RIGHT))
    assert result.failed_stage == stage
    assert check in [failure.name for failure in result.failures]


def test_faults_of_the_text_itself() -> None:
    stray = score(case(), trial(answer("It has 99 ports.")))
    assert [failure.name for failure in stray.failures] == ["numbers have sources", "claims have sources"]
    own = score(case(), trial(answer("Fine.", grounding=Grounding(1, ("$3",), ("swapped",)))))
    assert own.counts["unsupported_numbers"] == (1, 1)
    assert own.counts["contradictions"] == (1, 1)
    assert own.failed_stage == "write"
    assert score(case(), trial(answer("Fine. [3]"))).failed_stage == "cite"
    assert score(case(), trial(RIGHT, bad_quotes=("[1] is off",))).failed_stage == "cite"
    unfilled = score(case(), trial(answer("RoCE costs {T1.roce.tco_usd} or None.")))
    assert unfilled.failed_stage == "write"


def test_a_value_that_is_not_said_fails_at_writing() -> None:
    silent = answer("It is large (T1).", calculations=RIGHT.calculations)
    result = score(case(values=WANTED["values"]), trial(silent))
    assert [failure.name for failure in result.failures] == ["states size.infiniband.leaf_switches"]


def test_out_of_scope_has_no_source() -> None:
    declined = answer("Not my field.", kind="out_of_scope")
    assert score(case(kinds=("out_of_scope",)), trial(declined)).passed
    cited = answer("It has 64 ports. [1]", kind="out_of_scope", citations=(citation(),))
    assert score(case(kinds=("out_of_scope",)), trial(cited)).failed_stage == "cite"


def test_an_error_is_neither_right_nor_wrong() -> None:
    broken = score(case(**WANTED), Trial("c", 0, error="KeyError"))
    assert (broken.passed, broken.failed_stage, broken.counts) == (False, "error", {})
    cases = [case(id="a"), case(id="b")]
    good = score(cases[0], Trial("a", 0, (answer("Fine."),)))
    both = [good, score(cases[1], Trial("b", 0, error="KeyError"))]
    everything = groups(cases, both)[0]
    assert (everything.n, everything.passed, everything.errored) == (2, 1, 1)
    assert everything.interval[1] == 1.0  # of one case that was judged


def test_metrics_are_sums_over_cases() -> None:
    cases = [case(id="a", verdicts=("roce",)), case(id="b", verdicts=("roce",), answers_in="zh", language="zh")]
    trials = [
        Trial("a", 0, (answer("Fine.", verdict=verdict("roce")),)),
        Trial("b", 0, (answer("好的，见下。", verdict=verdict("naas"), language="zh"),)),
    ]
    scores = [score(one, its) for one, its in zip(cases, trials, strict=True)]
    found = measures(cases, trials, scores)
    assert (found["verdict"].value, found["verdict"].n) == (0.5, 2)
    assert found["verdict[en]"].value == 1.0
    assert found["verdict[zh]"].value == 0.0
    assert found["unsupported_numbers"].value == 0
    assert found["latency_p95_ms"].value == 10.0


def test_totals_add_up_instead_of_averaging() -> None:
    cases = [case(id="a"), case(id="b")]
    trials = [Trial("a", 0, (answer("It has 98 and 99 ports."),)), Trial("b", 0, (answer("Fine."),))]
    found = measures(cases, trials, [score(one, its) for one, its in zip(cases, trials, strict=True)])
    assert found["unsupported_numbers"].value == 2
    outcomes = judge([Threshold("unsupported_numbers", maximum=0), Threshold("verdict", minimum=0.9)], found)
    assert [outcome.met for outcome in outcomes] == [False, True]  # what no case measures is no miss


def test_a_case_passes_only_if_all_repeats_do() -> None:
    one = case(id="a", verdicts=("roce",))
    trials = [
        Trial("a", turn, (answer("Fine.", verdict=verdict(choice)),)) for turn, choice in enumerate(["roce", "naas"])
    ]
    scores = [score(one, its) for its in trials]
    assert passed_cases(scores) == {"a": False}
    assert flickering_cases(scores) == ["a"]


def test_pairs_that_should_agree() -> None:
    cases = [case(id="a"), case(id="b", agrees_with="a", answers_in="zh"), case(id="c", agrees_with="a")]
    sized = answer(kind="sizing", calculations=(calculation(leaf_switches=16),))
    other = answer(kind="sizing", calculations=(calculation(leaf_switches=8),))
    trials = [Trial("a", 0, (sized,)), Trial("b", 0, (sized,)), Trial("c", 0, (other,))]
    pairs = {pair.second: pair for pair in all_disagreements(cases, trials)}
    assert (pairs["b"].translation, pairs["b"].differences) == (True, ())
    assert pairs["c"].differences == ("size..leaf_switches: 16.0 and 8.0",)
    found = measures(cases, trials, [score(one, its) for one, its in zip(cases, trials, strict=True)])
    assert found["agreement"].value == 0.5
    assert found["agreement_translation"].value == 1.0
    assert found["agreement_paraphrase"].value == 0.0


def test_the_difference_from_a_baseline() -> None:
    cases = [case(id=name, verdicts=("roce",), values=WANTED["values"]) for name in "ab"]

    def outcome(choices: str, leaves: int) -> object:
        trials = [
            Trial(
                one.id,
                0,
                (
                    answer(
                        f"{leaves} leaf switches (T1).",
                        kind="decision",
                        verdict=verdict(choice),
                        calculations=(calculation("size", "infiniband", leaf_switches=leaves),),
                    ),
                ),
            )
            for one, choice in zip(cases, choices.split(), strict=True)
        ]
        scores = [score(one, its) for one, its in zip(cases, trials, strict=True)]
        return make_baseline({}, cases, trials, scores, measures(cases, trials, scores))

    before, now = outcome("roce naas", 16), outcome("naas roce", 16)
    change = difference(before, now)  # type: ignore[arg-type]
    assert (change.newly_failing, change.fixed, change.worse) == (["a"], ["b"], True)
    assert change.changed == ["a: verdict roce → naas", "b: verdict naas → roce"]
    grown = difference(before, outcome("roce naas", 17))  # type: ignore[arg-type]
    assert "a: size.infiniband.leaf_switches 16.0 → 17.0" in grown.changed
