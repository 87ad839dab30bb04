"""Fixtures of all tests: no test touches the user's files or settings, and the weights are unpacked once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.advisor.advisor import Advisor
from app.settings import Settings

CACHE = Path(__file__).parent.parent / ".fabric-advisor" / "tests"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for key in list(os.environ):
        if key.startswith("FABRIC_ADVISOR_"):
            monkeypatch.delenv(key)


@pytest.fixture(scope="session")
def model_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A HOME whose models folder outlives the run, so that the weights are unpacked once a checkout."""
    CACHE.mkdir(parents=True, exist_ok=True)
    return CACHE


@pytest.fixture
def home(tmp_path: Path, model_home: Path) -> Path:
    """An empty HOME of its own that shares the unpacked weights."""
    folder = tmp_path / "home"
    folder.mkdir()
    (model_home / "models").mkdir(exist_ok=True)
    (folder / "models").symlink_to(model_home / "models")
    return folder


@pytest.fixture(scope="session")
def advisor(tmp_path_factory: pytest.TempPathFactory, model_home: Path) -> Iterator[Advisor]:
    """The real advisor over the shipped notes, with the built-in writer."""
    folder = tmp_path_factory.mktemp("advisor-home")
    (model_home / "models").mkdir(exist_ok=True)
    (folder / "models").symlink_to(model_home / "models")
    made = Advisor.open(Settings(home=folder, _env_file=None))  # type: ignore[call-arg]
    yield made
    made.library.close()
