"""Words and glossary: the same thing meets under all its names."""

from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.library.glossary import Glossary, Term
from app.library.language import detect_language
from app.library.words import Words, stem

GLOSSARY = Glossary(
    [
        Term(("priority flow control", "优先级流控", "PFC")),
        Term(("oversubscription", "收敛比", "over-subscription")),
        Term(("adaptive routing", "自适应路由", "AR")),
        Term(("InfiniBand", "无限带宽", "IB")),
    ]
)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Words:
    return Words(GLOSSARY, tmp_path_factory.mktemp("jieba"))


def test_chinese_is_segmented_and_terms_stay_whole(words: Words) -> None:
    assert "收敛比" in words.of("胖树的收敛比是什么")
    assert "优先级流控" in words.of("启用优先级流控以后")
    assert words.of("的了是") == []


def test_code_like_terms_are_one_word_and_their_parts(words: Words) -> None:
    assert words.of("NCCL_IB_GID_INDEX=3") == ["nccl_ib_gid_index", "nccl", "ib", "gid", "index", "3"]
    assert words.for_query("NCCL_IB_GID_INDEX") == [("nccl_ib_gid_index",)]
    assert words.for_query("RoCE/InfiniBand links") == [("roce",), ("infiniband",), ("link",)]


@pytest.mark.parametrize("text", ["400G", "400 Gb/s", "400Gbps", "400gbit/s", "４００Ｇ"])
def test_speeds_meet_however_they_are_written(words: Words, text: str) -> None:
    assert "400g" in words.of(f"a {text} port")


def test_bits_and_bytes_in_words_of_their_own(words: Words) -> None:
    assert "8gib" in words.of("8GiB")
    assert "8g" not in words.of("8GiB")


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("switches", "switch"),
        ("latencies", "latency"),
        ("links", "link"),
        ("monitoring", "monitor"),
        ("routing", "route"),
        ("dropped", "drop"),
        ("buses", "buses"),
    ],
)
def test_forms_of_a_word_meet(plural: str, singular: str) -> None:
    assert stem(plural) == stem(singular)


@pytest.mark.parametrize("word", ["loss", "lossless", "radius", "nvlink", "speed", "need", "ring", "string"])
def test_words_that_only_look_inflected_are_kept(word: str) -> None:
    assert stem(word) == word


def test_terms_are_found_under_any_name_but_not_inside_words() -> None:
    def found(text: str) -> list[str]:
        return [term.names[0] for term, _ in GLOSSARY.find(text)]

    assert found("Does PFC help?") == ["priority flow control"]
    assert found("优先级流控与收敛比") == ["priority flow control", "oversubscription"]
    assert found("over subscription of 2:1") == ["oversubscription"]
    assert found("Adaptive-routing and ib") == ["adaptive routing", "InfiniBand"]
    assert found("ar") == []  # a word, not the abbreviation
    assert found("AR") == ["adaptive routing"]
    assert found("SPFC NCCL_IB_HCA libs") == []


def test_glossary_files(tmp_path: Path) -> None:
    assert Glossary.load(tmp_path / "none.yaml").terms == ()
    (tmp_path / "g.yaml").write_text(
        "- {en: congestion, zh: 拥塞, abbreviations: CC}\n- {en: leaf, zh: 叶, en_variants: [ToR]}\n",
        encoding="utf-8",
    )
    names = [term.names for term in Glossary.load(tmp_path / "g.yaml").terms]
    assert names == [("congestion", "拥塞", "CC"), ("leaf", "叶", "ToR")]
    (tmp_path / "g.yaml").write_text("- {en: congestion}\n", encoding="utf-8")
    with pytest.raises(AdvisorError, match=r"g\.yaml is not a list of terms"):
        Glossary.load(tmp_path / "g.yaml")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("RoCE vs IB for a 64-GPU cluster", "en"),
        ("64卡集群用RoCE还是InfiniBand？", "zh"),
        ("NCCL_IB_GID_INDEX 设为 3", "zh"),
        ("The Chinese word for fabric is 网络, says the glossary of the vendor", "en"),
        ("", "en"),
        ("死锁?", "zh"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert detect_language(text) == language
