"""Every figure of an answer, and every name of a calculation, opens what it rests on: in Chromium, both languages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.site import Site, ask, settled

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]
QUESTIONS = {
    "en": "Keep my 40 SN4700s, add 256 H200s, 3:1 to the spine, what breaks?",
    "zh": "保留现有的 40 台 SN4700，新增 256 块 H200，脊层 3:1 收敛，会有什么问题？",
}
# 19 of the 40 are kept: 16 leaves and 3 spines (tests/fabric/test_stock.py); the words around it by language
SHOWN = {
    "en": ("Switches kept: 19", "Results", "Inputs", "Switches there", "40x sn4700", "Assumed", "Data from"),
    "zh": ("保留的交换机：19", "结果", "输入", "现有交换机", "40x sn4700", "假设", "数据来源"),
}
TITLE = {"en": "T1 Growth on the switches there · RoCE", "zh": "T1 利旧扩容 · RoCE"}


def opened(page: Page, link: Locator) -> Locator:
    link.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    settled(page)
    return dialog


def closed(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_figure_opens_its_calculation_also_after_a_reload(site: Site, new_page: Open, language: str) -> None:
    page = new_page(site)
    answer = ask(page, QUESTIONS[language])
    for reloaded in (False, True):
        if reloaded:
            page.reload()
            answer = page.get_by_test_id("stChatMessage").last
            answer.get_by_test_id("stFeedback").wait_for()
            settled(page)
        figure = answer.locator("a[href*='calculation=1.T1.kept_switches']").first
        assert figure.inner_text() == "19"
        dialog = opened(page, figure)
        expect(dialog).to_contain_text(TITLE[language])
        said = dialog.inner_text()
        for words in SHOWN[language]:
            assert words in said, words
        assert said.index(SHOWN[language][0]) < said.index(SHOWN[language][1])  # the figure first
        expect(dialog.locator("a[href^='https://']").first).to_be_visible()
        closed(page)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_name_of_a_calculation_opens_it(site: Site, new_page: Open, language: str) -> None:
    page = new_page(site)
    answer = ask(page, {"en": "RoCE vs IB for a 64-GPU cluster", "zh": "64卡集群用RoCE还是InfiniBand？"}[language])
    row = answer.locator("tr").filter(has_text={"en": "Calculations", "zh": "计算编号"}[language])
    names = [link.inner_text() for link in row.locator("a").all()]
    assert len(names) >= 4 and len(set(names)) == len(names)
    for name in (names[0], names[-1]):
        dialog = opened(page, row.locator("a", has_text=name).first)
        expect(dialog.get_by_role("heading").first).to_contain_text(name)
        expect(dialog).to_contain_text({"en": "Results", "zh": "结果"}[language])
        closed(page)
    address = row.locator("a").first.get_attribute("href") or ""
    page.goto(f"{site.url}/{address}")  # what opening it in a new tab does
    expect(page.get_by_role("dialog")).to_contain_text(names[0])
