"""The first path through the product, in Chromium: ask, check, follow up, come back, in both languages."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.held_model import HeldModel
from tests.browser.site import Site, ask, dollars, settled, table

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]
ENGLISH, CHINESE = "RoCE vs IB for a 64-GPU cluster", "64卡集群用RoCE还是InfiniBand？"


def test_a_verdict_with_tables_sources_and_calculations(site: Site, new_page: Open) -> None:
    page = new_page(site)
    answer = ask(page, ENGLISH)
    expect(answer).to_contain_text("RoCE (Ethernet) for 64 GPUs")
    expect(answer).to_contain_text("What would flip it")
    figures = table(answer)
    assert figures["Switches: leaf / spine / core"] == ["2 / 0 / 0", "2 / 0 / 0"]  # DGX BasePOD for 8 nodes
    assert figures["Links: node–leaf / between leaves and spines / spine–core"][0].startswith("64 / 32")
    for name in ("Network capex", "5-year TCO of the network"):
        for cell in figures[name]:
            typical, low, high = dollars(cell)
            assert 0 < low < typical < high
    expect(answer.locator("canvas, svg.marks").first).to_be_visible()  # the chart
    answer.get_by_text("Calculations (").click()
    expect(answer.get_by_role("tab")).not_to_have_count(0)
    expect(answer.get_by_role("tab").first).to_contain_text("T1")


def test_a_source_opens_at_the_marked_passage_and_its_address_can_be_shared(site: Site, new_page: Open) -> None:
    page = new_page(site)
    answer = ask(page, ENGLISH)
    marker = answer.locator("a[href*='&cite=1.2']").first
    assert marker.inner_text() == "[2]"
    address = marker.get_attribute("href") or ""
    marker.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Source 2")
    expect(dialog.locator("mark").first).to_be_visible()
    settled(page)
    passage = "".join(dialog.locator("mark").all_inner_texts())
    assert len(passage) > 100
    expect(dialog).to_contain_text("Where this comes from")
    expect(dialog.locator("a[href^='https://']").first).to_be_visible()
    dialog.get_by_text("Open in the whole document").click()
    page.wait_for_url("**/documents?document=*")
    expect(page.locator("mark").first).to_be_visible()
    assert "".join(page.locator("mark").all_inner_texts()) == passage
    page.reload()
    expect(page.locator("mark").first).to_be_visible()
    assert "".join(page.locator("mark").all_inner_texts()) == passage
    page.goto(f"{site.url}/{address}")  # what opening the marker in a new tab does
    expect(page.locator("mark").first).to_be_visible()
    assert "".join(page.locator("mark").all_inner_texts()) == passage


def test_the_chat_survives_a_reload_and_goes_on(site: Site, new_page: Open) -> None:
    page = new_page(site)
    first = table(ask(page, ENGLISH))
    assert re.search(r"\?chat=[\w-]{20,}", page.url)
    page.reload()
    expect(page.get_by_test_id("stChatMessage")).to_have_count(2)
    assert table(page.get_by_test_id("stChatMessage").last) == first
    second = ask(page, "What about 512?")
    expect(second).to_contain_text("for 512 GPUs")
    for cells in zip(table(second)["Network capex"], first["Network capex"], strict=True):
        assert dollars(cells[0])[0] > dollars(cells[1])[0]


def test_both_languages_give_the_same_figures(site: Site, new_page: Open) -> None:
    page = new_page(site)
    english = table(ask(page, ENGLISH))
    page.get_by_test_id("stSidebar").get_by_role("button", name="New chat").click()
    expect(page.get_by_test_id("stChatMessage")).to_have_count(0)
    answer = ask(page, CHINESE)
    expect(answer).to_contain_text("RoCE（以太网）")
    expect(answer).to_contain_text("计算过程（")
    chinese = table(answer)
    assert len(english) == len(chinese)
    pairs = list(zip(english.values(), chinese.values(), strict=True))
    amounts = [(dollars(cell), dollars(other)) for row in pairs for cell, other in zip(*row, strict=True)]
    assert sum(bool(one) for one, _ in amounts) >= 8
    assert all(one == other for one, other in amounts)


def test_an_off_topic_question_is_declined_without_a_source(site: Site, new_page: Open) -> None:
    answer = ask(new_page(site), "What's the weather?")
    expect(answer).to_contain_text("outside what I know")
    expect(answer.locator("a[href*='cite=']")).to_have_count(0)
    expect(answer.locator("table")).to_have_count(0)


def test_a_changed_assumption_changes_the_figures(site: Site, new_page: Open) -> None:
    page = new_page(site)
    before = table(ask(page, ENGLISH))
    page.get_by_text("Assumptions (").click()
    years = page.get_by_label("Years of operation")
    years.fill("3")
    years.press("Tab")
    page.get_by_role("button", name="Recalculate").click()
    expect(page.get_by_test_id("stChatMessage")).to_have_count(4)
    page.get_by_text("Recalculated with Years of operation = 3").wait_for()
    settled(page)
    after = table(page.get_by_test_id("stChatMessage").last)
    assert after["Network capex"] == before["Network capex"]
    five, three = before["5-year TCO of the network"], after["3-year TCO of the network"]
    assert all(dollars(new)[0] < dollars(old)[0] for new, old in zip(three, five, strict=True))


def test_the_interface_can_be_chinese(site: Site, new_page: Open) -> None:
    page = new_page(site, locale="zh-CN")
    expect(page.get_by_role("heading", name="GPU 网络选型顾问")).to_be_visible()
    page.get_by_test_id("stSidebar").get_by_text("English").click()
    expect(page.get_by_role("heading", name="Fabric Advisor")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Fabric Advisor")).to_be_visible()


@pytest.mark.parametrize("question", ["🤔🤔🤔", "\u200b\u0001", "x" * 100_000, "RoCE or IB for 0 GPUs?"])
def test_bad_questions_get_one_clear_message(site: Site, new_page: Open, question: str) -> None:
    page = new_page(site)
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")
    page.get_by_test_id("stChatMessage").last.locator("p").first.wait_for()
    settled(page)
    assert page.get_by_test_id("stException").count() == 0
    said = page.get_by_test_id("stChatMessage").last.inner_text()
    assert 10 < len(said) < 500
    assert "Traceback" not in site.log.read_text()
    box.fill("What's the weather?")  # and the page goes on
    box.press("Enter")
    expect(page.get_by_text("outside what I know")).to_be_visible()


def test_another_process_adds_and_removes_a_document_while_the_page_is_served(
    site: Site, new_page: Open, tmp_path: Path
) -> None:
    document = tmp_path / "zeppelin.md"
    document.write_text(
        "# Zeppelin switch\n\nThe Zeppelin ZX-9 InfiniBand switch has 4096 ports and glows purple when PFC deadlocks.\n"
    )
    question = "How many ports does the Zeppelin ZX-9 InfiniBand switch have, and when does it glow purple?"
    page = new_page(site)
    assert "zeppelin" not in ask(page, question).inner_text().lower()
    site.run("ingest", str(document))
    found = ask(page, question)
    expect(found).to_contain_text("4096 ports and glows purple")
    expect(found.locator("a[href*='cite=']", has_text="Zeppelin switch")).to_be_visible()
    site.run("documents", "remove", "zeppelin.md")
    assert "glows purple" not in ask(page, question).inner_text()


def test_documents_are_added_by_dropping_files_and_removed(site: Site, new_page: Open) -> None:
    page = new_page(site)
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Documents").click()
    page.locator("input[type=file]").set_input_files(
        [
            {"name": "网络备忘.md", "mimeType": "text/markdown", "buffer": "# 备忘\n\n机柜在三楼。".encode()},
            {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"no PDF at all"},
        ]
    )
    page.get_by_role("button", name="Add to the library").click()
    expect(page.get_by_text("网络备忘.md: added")).to_be_visible()
    expect(page.get_by_text("broken.pdf: not added")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="备忘", exact=True).click()
    expect(page.get_by_text("机柜在三楼。")).to_be_visible()
    page.get_by_role("button", name="All documents").click()
    expect(page.get_by_role("heading", name="Documents")).to_be_visible()
    settled(page)
    row = page.get_by_test_id("stHorizontalBlock").filter(has_text="网络备忘.md").last
    row.get_by_role("button", name="Remove").click()
    question = page.get_by_test_id("stPopoverBody").filter(has_text="网络备忘.md")
    question.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("“网络备忘.md” has been removed.")).to_be_visible()


def test_an_answer_that_waits_for_a_model_can_be_rated_around_and_stopped(
    serve: Callable[..., Site], new_page: Open
) -> None:
    with (
        HeldModel("Held prose.") as model,
        serve(
            FABRIC_ADVISOR_MODEL="openai:held",
            FABRIC_ADVISOR_MODEL_BASE_URL=model.url,
            FABRIC_ADVISOR_MODEL_API_KEY="none",
        ) as site,
    ):
        page = new_page(site)
        box = page.get_by_test_id("stChatInputTextArea")
        ask(page, "What's the weather?")  # needs no model
        box.fill(ENGLISH)
        box.press("Enter")
        page.get_by_text("Writing…").wait_for()
        assert model.asked.wait(20)
        page.get_by_test_id("stFeedback").first.locator("button").first.click()
        page.get_by_test_id("stChatInputStopButton").click()
        expect(page.get_by_text("Stopped; this is what was written by then.")).to_be_visible()
        expect(box).to_be_enabled()
        page.reload()
        expect(page.get_by_text("Stopped; this is what was written by then.")).to_be_visible()
        model.asked.clear()
        box.fill(ENGLISH)
        box.press("Enter")
        assert model.asked.wait(20)
        page.get_by_test_id("stFeedback").first.locator("button").nth(1).click()
        model.release.set()
        expect(page.get_by_text("Held prose.")).to_be_visible()
        settled(page)
        expect(page.get_by_test_id("stChatMessage").last).to_contain_text("The two fabrics")
        page.reload()
        expect(page.get_by_label("What is wrong with it?").first).to_be_visible()  # the rating was kept


def test_on_a_phone_nothing_is_wider_than_the_screen(site: Site, chromium: object, new_page: Open) -> None:
    page = new_page(site)
    page.set_viewport_size({"width": 390, "height": 844})
    ask(page, ENGLISH)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    wide = page.evaluate(
        "[...document.querySelectorAll('[data-testid=stMarkdownContainer]')]"
        ".filter(one => one.getBoundingClientRect().right > 391).length"
    )
    assert wide == 0
