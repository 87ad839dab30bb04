"""What the browser tests do with a page, in a reader's words."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

CHROMIUM = Path("/usr/bin/chromium")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Site:
    url: str
    home: Path
    log: Path

    def run(self, *arguments: str) -> None:
        """A command of another process on the same home, as in another terminal."""
        import os

        environment = os.environ | {"FABRIC_ADVISOR_HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        subprocess.run(
            [sys.executable, "-m", "app.cli", *arguments],
            cwd=self.home,
            env=environment,
            check=True,
            capture_output=True,
        )


def settled(page: Page) -> None:
    """Wait until the script of the page has ended."""
    page.wait_for_timeout(200)  # a click takes a moment to reach the server
    page.wait_for_selector('[data-test-script-state="notRunning"]', state="attached")


def ask(page: Page, question: str) -> Locator:
    """Ask and wait for the answer; returns the message that holds it."""
    before = page.get_by_test_id("stChatMessage").count()
    page.get_by_test_id("stChatInputTextArea").fill(question)
    page.get_by_test_id("stChatInputSubmitButton").click()
    expect(page.get_by_test_id("stChatMessage")).to_have_count(before + 2)
    answer = page.get_by_test_id("stChatMessage").last
    answer.get_by_test_id("stFeedback").wait_for()  # it stands below what has been stored
    settled(page)
    return answer


def table(message: Locator) -> dict[str, list[str]]:
    """The first table of an answer: label -> cells."""
    first = message.locator("table").first
    first.wait_for()
    settled(message.page)  # the rows come one by one after a reload
    rows = first.locator("tr").all()
    cells = [[cell.inner_text().strip() for cell in row.locator("th, td").all()] for row in rows]
    return {row[0]: row[1:] for row in cells}


_UNITS = {"": 1, "k": 1e3, "M": 1e6, "B": 1e9, "万美元": 1e4, "亿美元": 1e8, "美元": 1}


def dollars(text: str) -> list[float]:
    """The amounts in a text, in either language: `$1.2M` and `120万美元` are both 1,200,000."""
    english = re.findall(r"\$([\d.,]+)([kMB]?)", text)
    chinese = re.findall(r"([\d.,]+)\s*(万美元|亿美元|美元)", text)
    return [round(float(number.replace(",", "")) * _UNITS[unit], 2) for number, unit in english or chinese]
