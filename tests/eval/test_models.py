"""Writers side by side: a model that does everything wrong gets nothing past the checks."""

from pathlib import Path

from app.advisor.advisor import Advisor
from app.settings import Settings
from eval.evaluation import select
from eval.models import measure_model, table_lines
from eval.scripted_bad import ScriptedBadServer, bad_reply
from eval.user_sets import load_sets

QUESTIONS = Path(__file__).parent.parent.parent / "eval" / "questions"
CASES = 24


def test_scripted_bad_gets_nothing_wrong_past_the_checks(advisor: Advisor, tmp_path: Path) -> None:
    cases = select(load_sets((QUESTIONS,)), ("decision", "quick"))[:CASES]
    settings: Settings = advisor.settings
    row = measure_model("scripted-bad", cases, settings, tmp_path)
    assert row.sound
    assert row.values["verdict"] == 1.0
    assert row.values["numbers_removed"] > 5
    assert row.values["contradictions_caught"] > 2
    assert row.values["model_calls"] >= CASES
    assert f"| cases | {CASES} |" in table_lines([row])


def test_the_bad_replies_swap_the_prices_of_the_prompt() -> None:
    prompt = "{T3.capex_usd} = $412k ($257k to $596k) | cost infiniband\n{T4.capex_usd} = $427k | cost roce"
    assert bad_reply(0, prompt) == "RoCE costs {T3.capex_usd} and InfiniBand costs {T4.capex_usd}. Both are common."


def test_it_serves_on_loopback_only() -> None:
    with ScriptedBadServer() as server:
        assert server.url.startswith("http://127.0.0.1:")
