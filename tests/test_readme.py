"""The README tells the truth: its tables are what the program prints, its files and commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import COMMANDS
from app.settings import PREFIX, Settings

ROOT = Path(__file__).parent.parent
READMES = ("README.md", "README.zh.md")


def test_the_tables_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "readme.py"), "--check"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", READMES)
def test_what_it_names_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for path in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / path).exists(), path
    for command in re.findall(r"^fabric-advisor (\w+)", text, re.MULTILINE):
        assert command in COMMANDS, command
    for setting in set(re.findall(rf"{PREFIX}([A-Z_]+)", text)):
        assert not setting or setting.lower() in Settings.model_fields, setting


def test_both_languages_show_the_same_commands() -> None:
    blocks = [re.findall(r"```\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL) for name in READMES]
    commands = [
        [re.sub(r"\s*(#.*|\".*?\")", "", line) for block in one for line in block.splitlines()] for one in blocks
    ]
    assert commands[0] == commands[1]
