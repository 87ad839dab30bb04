"""Figures of an answer and the values that they are of."""

import json

import pytest

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer
from app.advisor.figures import money, with_range
from app.advisor.references import linked, marked, marked_again, references_in, unmarked
from app.advisor.transcript import to_markdown

from .chat_server import ChatServer
from .test_model_writer import ask


def values_of(answer: Answer) -> dict[str, str]:
    """Every figure of the text that names its origin, with what that value is in words."""
    by_id = {one["id"]: one for one in answer.calculations}
    return {
        answer.text[one.start : one.end]: with_range(by_id[one.calculation]["values"][one.value], answer.language)
        for one in answer.references
    }


@pytest.mark.parametrize("question", ["RoCE vs IB for a 64-GPU cluster", "64卡集群用RoCE还是InfiniBand？"])
def test_each_figure_is_the_value_that_it_names(advisor: Advisor, question: str) -> None:
    answer = advisor.answer(question)
    found = values_of(answer)
    assert len(answer.references) >= 20
    by_id = {one["id"]: one for one in answer.calculations}
    for one in answer.references:
        figure = answer.text[one.start : one.end]
        value = by_id[one.calculation]["values"][one.value]
        if one.value.startswith("difference_"):  # said with a sign of its own
            assert figure == money(abs(value["value"]), answer.language)
        else:
            assert found[figure] == figure
    capex = next(one for one in answer.references if one.value == "capex_usd")
    assert by_id[capex.calculation]["label"] == "infiniband"  # the first column of the table


def test_a_model_s_references_and_a_disputed_figure_have_their_places_too(advisor: Advisor) -> None:
    question = "RoCE vs IB for a 64-GPU cluster"
    with ChatServer("The RoCE network comes to {T4.capex_usd} here.") as server:
        answer = ask(advisor, server.url, question)
    first = min(answer.references, key=lambda one: one.start)
    assert (first.calculation, first.value) == ("T4", "capex_usd")
    assert f"The RoCE network comes to {answer.text[first.start : first.end]} here." in answer.text
    assert answer.text[first.start : first.end].startswith("$427k (")
    disputed = advisor.answer("No, RoCE costs $5M.", [advisor.answer(question)])
    assert disputed.references[0].value == "capex_usd" and disputed.references[0].start < 120


def test_neither_text_nor_export_shows_how_it_is_kept(advisor: Advisor) -> None:
    answer = advisor.answer("RoCE vs IB for a 64-GPU cluster")
    shown = answer.text + to_markdown([answer]) + json.dumps(answer.to_json(), ensure_ascii=False)
    assert not any("\ue000" <= character <= "\uf8ff" for character in shown)
    assert Answer.from_json(json.loads(json.dumps(answer.to_json()))) == answer


def test_marks_come_out_and_go_in_again() -> None:
    text = f"a {marked('$1M', 'T1', 'capex_usd')} b {marked('2', 'T2', 'tiers')}."
    assert unmarked(text) == "a $1M b 2."
    places = references_in(text)
    assert [(one.start, one.end, one.calculation, one.value) for one in places] == [
        (2, 5, "T1", "capex_usd"),
        (8, 9, "T2", "tiers"),
    ]
    assert marked_again(unmarked(text), places) == text
    assert linked(text, lambda one, value, figure: f"<{one} {value} {figure}>") == (
        "a <T1 capex_usd $1M> b <T2 tiers 2>."
    )
