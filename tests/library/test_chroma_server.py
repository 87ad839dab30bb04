"""The same library with its vectors on a Chroma server."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.library.library import Library
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    port = free_port()
    command = Path(sys.executable).with_name("chroma")
    process = subprocess.Popen(
        [str(command), "run", "--path", str(tmp_path / "server"), "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(timeout=20)


def test_two_libraries_share_a_server_without_meeting(server: str, settings: Settings, tmp_path: Path) -> None:
    ours = Library.open(settings.model_copy(update={"chroma_url": server}), embeddings=HashEmbeddings())
    ours.ensure_notes()
    other_home = Settings(home=tmp_path / "other", knowledge=settings.knowledge, chroma_url=server, _env_file=None)  # type: ignore[call-arg]
    other = Library.open(other_home, embeddings=HashEmbeddings())
    other.ensure_notes()
    (tmp_path / "a.md").write_text("# Alpha\n\nThe alpha switch has 64 ports.\n")
    other.ingest([tmp_path / "a.md"])  # repairs its own vectors, not ours
    other.reindex()
    assert other.search("alpha switch ports", k=1)[0].passage.document == "a.md"
    assert ours.search("alpha switch ports", only="documents") == []
    assert ours.search("PFC deadlock", k=1)[0].passage.topic == "pfc-deadlock"
    assert ours._parts.store.ids() == ours._parts.manifest.passage_ids()
    assert not (settings.home / "chroma").exists()
    ours.close()
    other.close()


def test_a_reader_follows_a_reindex_by_another_process(server: str, settings: Settings) -> None:
    remote = settings.model_copy(update={"chroma_url": server})
    reader = Library.open(remote, embeddings=HashEmbeddings())
    reader.ensure_notes()
    assert reader.search("PFC deadlock")
    writer = Library.open(remote, embeddings=HashEmbeddings())
    assert writer.reindex() == 8
    assert reader.search("PFC deadlock", k=1)[0].passage.topic == "pfc-deadlock"
    reader.close()
    writer.close()


def test_an_unreachable_server_is_one_clear_line(settings: Settings) -> None:
    remote = settings.model_copy(update={"chroma_url": f"http://127.0.0.1:{free_port()}"})
    library = Library.open(remote, embeddings=HashEmbeddings())
    with pytest.raises(
        AdvisorError, match=r"Chroma server at http.* does not answer.*FABRIC_ADVISOR_CHROMA_URL"
    ) as caught:
        library.ensure_notes()
    assert "\n" not in str(caught.value)
    library.close()
