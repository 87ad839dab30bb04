"""`fabric-advisor ingest --watch` as people run it: what comes, changes, fails and goes, until Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_watched_folder_is_followed_until_ctrl_c(home: Path, knowledge: Path, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nThe alpha switch has 64 ports.\n")
    environment = {**os.environ, "FABRIC_ADVISOR_HOME": str(home), "FABRIC_ADVISOR_KNOWLEDGE": str(knowledge)}
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "ingest", "--watch", str(folder)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "1 added.\n"
    (folder / "b.TXT").write_text("The beta switch has 32 ports.\n")
    assert process.stdout.readline() == "1 added, 1 unchanged.\n"
    (folder / "b.TXT").write_text("The beta switch has 128 ports.\n")
    (folder / "empty.md").write_bytes(b"")
    (folder / "a.md").unlink()
    assert process.stdout.readline() == "1 updated, 1 removed, 1 failed.\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert out == ""
    assert "  failed: empty.md: it is empty\n" in errors
    assert "Traceback" not in errors
