"""Measure what the README promises: answers, searches, embeddings, sizing, commands, memory of the served page."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from bench_library import library_rows
from bench_performance import performance

ROOT = Path(__file__).parent.parent
QUESTIONS = (
    "RoCE vs IB for a 64-GPU cluster",
    "64卡集群用RoCE还是InfiniBand？",
    "What does RoCE cost for 256 GPUs?",
    "How does InfiniBand stay lossless?",
    "PFC死锁是什么？",
    "How many switches do I need for 1016 GPUs?",
    "How long does a 1 GiB all-reduce take on 128 H100s?",
    "What's the weather?",
)


def main() -> None:
    rows: list[tuple[str, str, str]] = []
    home = Path(tempfile.mkdtemp(prefix="fabric-advisor-bench-"))
    os.environ["FABRIC_ADVISOR_HOME"] = str(home)
    try:
        rows += first_start(home)
        rows += answers()
        rows += embeddings()
        rows += library_rows(home)
        rows += calculators()
        rows += performance()
        rows += commands()
        rows += served_memory()
    finally:
        shutil.rmtree(home)
    print("| what | measured | target |")
    print("|---|---|---|")
    for what, measured, target in rows:
        print(f"| {what} | {measured} | {target} |")


def first_start(home: Path) -> list[tuple[str, str, str]]:
    from app.advisor.advisor import Advisor
    from app.settings import load_settings

    start = time.perf_counter()
    advisor = Advisor.open(load_settings())
    advisor.answer(QUESTIONS[0])
    taken = time.perf_counter() - start
    advisor.library.close()
    return [("first start: weights unpacked, notes indexed, one answer", f"{taken:.1f} s", "20 s")]


def answers() -> list[tuple[str, str, str]]:
    from app.advisor.advisor import Advisor
    from app.settings import load_settings

    advisor = Advisor.open(load_settings())
    for question in QUESTIONS:
        advisor.answer(question)
    taken = sorted(
        timed(lambda question=question: advisor.answer(question)) for question in QUESTIONS for _ in range(10)
    )
    searches = sorted(
        timed(lambda question=question: advisor.library.search(question, k=8))
        for question in QUESTIONS
        for _ in range(10)
    )
    advisor.library.close()
    return [
        ("answer, built-in writer, warm, p50", milliseconds(percentile(taken, 50)), "150 ms"),
        ("answer, built-in writer, warm, p95", milliseconds(percentile(taken, 95)), "300 ms"),
        ("search, warm, p95", milliseconds(percentile(searches, 95)), "25 ms"),
    ]


def embeddings() -> list[tuple[str, str, str]]:
    from app.library.embeddings import make_embeddings
    from app.settings import load_settings

    model = make_embeddings(load_settings())
    model.embed_query("warm")
    queries = sorted(
        timed(lambda number=number: model.embed_query(f"RoCE or InfiniBand for {number} GPUs?"))
        for number in range(100)
    )
    return [("one query embedding, p50", milliseconds(percentile(queries, 50)), "8 ms")]


def calculators() -> list[tuple[str, str, str]]:
    from app.fabric.compare import compare_fabrics
    from app.fabric.cost import Design
    from app.fabric.sweep import sweep
    from app.fabric.topology import size_fabric
    from app.knowledge import load_catalog
    from app.settings import knowledge_folder

    catalog = load_catalog(knowledge_folder() / "catalog")
    sizes = [
        timed(lambda gpus=gpus: size_fabric(catalog, gpus=gpus, fabric="roce")) for gpus in range(64, 500_000, 4_000)
    ]
    largest = [
        min(timed(lambda gpus=gpus: size_fabric(catalog, gpus=gpus, fabric="roce", switch="sn6600")) for _ in range(5))
        for gpus in range(64, 1_000_001, 9_973)
    ]
    designs = [
        Design(gpus, fabric, oversubscription=ratio)
        for gpus in range(64, 10_064, 8)
        for fabric in ("infiniband", "roce")
        for ratio in (1.0, 1.5, 2.0, 3.0)
    ]
    swept = timed(lambda: sweep(catalog, designs))
    compare = [timed(lambda gpus=gpus: compare_fabrics(catalog, gpus=gpus)) for gpus in range(64, 4_096, 64)]
    return [
        ("one sizing, p50", f"{statistics.median(sizes) * 1e6:.0f} µs", "1 ms"),
        ("slowest sizing up to 1,000,000 GPUs, best of 5", milliseconds(max(largest)), "1 ms"),
        ("10,000 different designs sized, billed and costed", f"{swept:.2f} s", "2 s"),
        ("both fabrics sized, billed and costed, p50", milliseconds(statistics.median(compare)), ""),
    ]


def commands() -> list[tuple[str, str, str]]:
    program = str(Path(sys.executable).parent / "fabric-advisor")
    size = best_of(3, [program, "size", "--gpus", "1024", "--fabric", "infiniband", "--json"])
    ask = best_of(3, [program, "ask", QUESTIONS[0], "--json"])
    return [
        ("`fabric-advisor size`", f"{size:.2f} s", "0.6 s"),
        ("`fabric-advisor ask`, cold", f"{ask:.2f} s", "4 s"),
    ]


def served_memory() -> list[tuple[str, str, str]]:
    program = str(Path(sys.executable).parent / "fabric-advisor")
    port = 18_501
    start = time.perf_counter()
    with subprocess.Popen([program, "serve", "--port", str(port)], stdout=subprocess.DEVNULL) as page:
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health")
            second_start = time.perf_counter() - start
            return [
                ("second start until the page is served", f"{second_start:.1f} s", "10 s"),
                (
                    "resident memory of the served page after one answer",
                    f"{memory_after_answer(port, page.pid):.0f} MB",
                    "700 MB",
                ),
            ]
        finally:
            page.terminate()


def memory_after_answer(port: int, pid: int) -> float:
    """Open the page in Chromium, ask one question, then read the process's resident memory; 0 without Chromium."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return 0.0
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        box = page.get_by_test_id("stChatInputTextArea")
        box.fill(QUESTIONS[0])
        box.press("Enter")
        page.get_by_text("What would flip it").first.wait_for(timeout=60_000)
        page.wait_for_timeout(2_000)
        browser.close()
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def wait_for(url: str) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(url)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best_of(times: int, command: list[str]) -> float:
    return min(
        timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for _ in range(times)
    )


def percentile(ordered: list[float], percent: int) -> float:
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


if __name__ == "__main__":
    main()
