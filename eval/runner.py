"""Ask every case, keep a journal, carry on where an interrupted run stopped."""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from time import perf_counter
from typing import Protocol

from app.advisor.answer import Answer, Event
from app.errors import AdvisorError
from eval.cases import Case
from eval.metrics.citations import unfaithful_quotes
from eval.record import FoundPassage, Trial

JOURNAL = "cases.jsonl"
HITS = 10


class Subject(Protocol):
    """What is measured. One is opened for each thread; see subject.py for the real one."""

    def ask(self, question: str, history: Sequence[Answer]) -> Iterator[Event]: ...

    def retrieve(self, query: str, language: str, k: int) -> Mapping[str, tuple[FoundPassage, ...]]:
        """Hits by stage: "fused", and where the library can tell, "dense" and "lexical"."""
        ...

    def document_text(self, document_id: str) -> str:
        """Raises KeyError for a document that is not in the library."""
        ...


def run_case(case: Case, repeat: int, subject: Subject) -> Trial:
    """Ask the turns of a case in order. What the program raises is recorded as the result of the case."""
    answers: list[Answer] = []
    try:
        for turn in case.turns:
            answers.append(_ask(subject, turn, answers))
        query = answers[-1].searched[0] if len(case.turns) > 1 and answers[-1].searched else case.question
        retrieved = subject.retrieve(query, case.answers_in, HITS) if case.gold else None
        quotes = tuple(unfaithful_quotes(answers[-1], subject.document_text))
        return Trial(case.id, repeat, tuple(answers), retrieved, query, quotes)
    except AdvisorError as error:
        return Trial(case.id, repeat, tuple(answers), error=f"AdvisorError: {error}")
    except Exception as error:  # noqa: BLE001  a crash of what is measured is a result, not an end of the run
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return Trial(case.id, repeat, tuple(answers), error=f"{type(error).__name__} at {place}: {error}")


def _ask(subject: Subject, question: str, history: Sequence[Answer]) -> Answer:
    started = perf_counter()
    last: Event | None = None
    for event in subject.ask(question, history):
        last = event
    if not isinstance(last, Answer):
        raise RuntimeError("the stream ended without an Answer")
    if "total" in last.timings_ms:
        return last
    timings = {**last.timings_ms, "total": 1000 * (perf_counter() - started)}
    return Answer.from_json({**last.to_json(), "timings_ms": timings})


def run_cases(
    cases: Sequence[Case],
    open_subject: Callable[[], Subject],
    journal: Path,
    *,
    repeat: int = 1,
    jobs: int = 1,
    stop: Callable[[Trial], bool] = lambda trial: False,
) -> Iterator[Trial]:
    """The trials, in the order in which they finish, each written to `journal` first.

    Trials that the journal already holds come first and are not asked again. `stop` is called after each
    trial; once it says True nothing more is asked.
    """
    done = read_journal(journal)
    wanted = [(case, turn) for turn in range(repeat) for case in cases]
    for case, turn in wanted:
        if trial := done.get((case.id, turn)):
            yield trial
    to_do = [(case, turn) for case, turn in wanted if (case.id, turn) not in done]
    mine = threading.local()

    def work(case: Case, turn: int) -> Trial:
        if not hasattr(mine, "subject"):
            mine.subject = open_subject()
        return run_case(case, turn, mine.subject)

    with journal.open("a", encoding="utf-8") as file:
        for trial in _in_threads(work, to_do, jobs) if jobs > 1 else (work(*one) for one in to_do):
            file.write(json.dumps(trial.to_json(), ensure_ascii=False) + "\n")
            file.flush()
            yield trial
            if stop(trial):
                return


def _in_threads(work: Callable[[Case, int], Trial], to_do: Sequence[tuple[Case, int]], jobs: int) -> Iterator[Trial]:
    waiting = list(reversed(to_do))
    with ThreadPoolExecutor(jobs) as pool:
        running: set[Future[Trial]] = set()
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.add(pool.submit(work, *waiting.pop()))
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
        finally:
            for future in running:
                future.cancel()


def read_journal(journal: Path) -> dict[tuple[str, int], Trial]:
    """Trials of an interrupted run; a last line that was cut off by a kill is dropped from the file."""
    if not journal.exists():
        return {}
    found: dict[tuple[str, int], Trial] = {}
    whole: list[str] = []
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            trial = Trial.from_json(json.loads(line))
        except (ValueError, KeyError, TypeError):
            break
        found[trial.case_id, trial.repeat] = trial
        whole.append(line)
    journal.write_text("".join(line + "\n" for line in whole), encoding="utf-8")
    return found
