"""Our tokenizer gives the ids of the package `tokenizers`, which reads the tokenizer.json that we write."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer

from app.library.e5 import E5OnnxEmbeddings
from app.library.tokenizer import UnigramTokenizer
from app.library.weights import model_folder
from app.settings import knowledge_folder


@pytest.fixture(scope="module")
def pair(model_home: Path, e5: E5OnnxEmbeddings) -> tuple[UnigramTokenizer, Tokenizer]:
    folder = model_folder(model_home)
    return UnigramTokenizer.load(folder / "onnx"), Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.mark.parametrize(
    "text",
    [
        "query: PFC deadlock?",
        "passage: InfiniBand 的信用流控如何做到无损，丢包率 < 0.01%。",
        "NCCL_IB_GID_INDEX=3\n\texport NCCL_DEBUG=INFO",
        "ＲｏＣＥ ｖ２ ① ㎏ ﬁbre café caf\u0065\u0301",
        "  spaces   everywhere  ",
        "emoji 🚀🚀 and 𠮷 rare",
        "",
        "日本語と한국어 смесь",
        "a" * 700,
        "x\u200by\u00a0z\u3000w",
    ],
)
def test_same_ids(pair: tuple[UnigramTokenizer, Tokenizer], text: str) -> None:
    ours, reference = pair
    assert ours.encode(text, limit=10_000) == reference.encode(text).ids


def test_same_ids_on_all_notes(pair: tuple[UnigramTokenizer, Tokenizer]) -> None:
    ours, reference = pair
    texts = [path.read_text(encoding="utf-8") for path in (knowledge_folder() / "notes").glob("*.md")]
    assert texts
    for text in texts:
        assert ours.encode(text, limit=100_000) == reference.encode(text).ids


def test_cut_keeps_the_end_mark(pair: tuple[UnigramTokenizer, Tokenizer]) -> None:
    ours, reference = pair
    text = "word " * 1000
    cut = ours.encode(text, limit=512)
    assert len(cut) == 512
    assert (cut[0], cut[-1]) == (0, 2)
    assert cut[:511] == reference.encode(text).ids[:511]
    assert ours.count("word word word") == 3
