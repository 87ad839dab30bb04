"""The real page, served as a user would serve it, in a real Chromium."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.site import CHROMIUM, ROOT, Site

START_TIMEOUT_S = 120
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        message = f"Chromium is not installed at {CHROMIUM}; install Debian's package chromium."
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def serving(home: Path, **settings: str) -> Iterator[Site]:
    """`fabric-advisor serve` on a free port, until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"FABRIC_ADVISOR_HOME": str(home), "PYTHONPATH": str(ROOT)} | settings
    log = home / "serve.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "serve", "--port", str(port)],
            cwd=home,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    site = Site(f"http://127.0.0.1:{port}", home, log)
    try:
        _wait_until_up(site, process)
        yield site
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_until_up(site: Site, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        assert process.poll() is None, site.log.read_text()
        try:
            with urllib.request.urlopen(f"{site.url}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"not up within {START_TIMEOUT_S} s: {site.log.read_text()}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, model_home: Path) -> Iterator[Site]:
    with serving(_new_home(tmp_path_factory, model_home)) as one:
        yield one


@pytest.fixture
def serve(tmp_path_factory: pytest.TempPathFactory, model_home: Path) -> Callable[..., Iterator[Site]]:
    """Serves a site of its own with other settings: `with serve(FABRIC_ADVISOR_MODEL=…) as site`."""
    return lambda **settings: serving(_new_home(tmp_path_factory, model_home), **settings)


def _new_home(tmp_path_factory: pytest.TempPathFactory, model_home: Path) -> Path:
    folder = tmp_path_factory.mktemp("served")
    (model_home / "models").mkdir(exist_ok=True)
    (folder / "models").symlink_to(model_home / "models")
    return folder


@pytest.fixture
def new_page(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a fresh browser session; no page may ask another host for anything."""
    contexts = []
    foreign: list[str] = []

    def open_(site: Site, locale: str = "en-US", **options: object) -> Page:
        context = chromium.new_context(locale=locale, viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith((site.url, "data:", "blob:")) else foreign.append(request.url)
            ),
        )
        page.goto(site.url)
        page.get_by_test_id("stChatInputTextArea").wait_for()
        return page

    yield open_
    for context in contexts:
        context.close()
    assert foreign == []
