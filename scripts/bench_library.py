"""Speed and memory of the library: ingest, re-ingest, and search in libraries of up to 100,000 passages.

scripts/bench-library            print the rows that scripts/bench prints too (some five minutes)
scripts/bench-library --growth   also write docs/search-growth.json and docs/search-growth.svg

The passages are sentences of the shipped notes, mixed anew; so words are as common as in a library on this subject, or
more so. Beyond the first thousand, their vectors are those of notes with noise added: what a search costs depends on
how many vectors there are, not on what they say. Queries are embedded for real.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from app.library import shipped
from app.library.e5 import MODEL_ID, E5OnnxEmbeddings
from app.library.library import Library
from app.settings import Settings, knowledge_folder

ROOT = Path(__file__).parent.parent
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
PER_DOCUMENT = 50
ROUNDS = 5
NOISE = 0.25  # length of what is added to vectors of length 1: neighbours stay about as near as real ones are
Row = tuple[str, str, str]


def library_rows(home: Path, growth: Path | None = None) -> list[Row]:
    """What, measured, target. `home` has the unpacked model; everything else is made beside it and removed."""
    rows = embedding_rows(home)
    with tempfile.TemporaryDirectory(prefix="fabric-advisor-bench-") as folder:
        points, unchanged_s = grow(home, Path(folder))
    if growth is not None:
        from growth_plot import svg

        told = {"load": os.getloadavg()[0], "cores": os.cpu_count(), "queries": len(queries()), "points": points}
        growth.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        growth.with_suffix(".svg").write_text(svg(points), encoding="utf-8")
    rows.append(("2,000 documents of 50 passages ingested again, unchanged", f"{unchanged_s:.2f} s", "2 s"))
    for point, target in ((points[0], "25 ms"), (points[-1], "60 ms")):
        memory = f"{point['memory_mb']:.0f} MB resident, first search {point['first_search_s']:.1f} s"
        named = f"search among {point['passages']:,} passages, p95"
        rows.append((f"{named} ({memory})", f"{point['p95_ms']:.1f} ms", target))
    return rows


class _Timed(E5OnnxEmbeddings):
    """Knows how long it took to embed."""

    spent_s = 0.0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        start = time.perf_counter()
        vectors = super().embed_documents(texts)
        self.spent_s += time.perf_counter() - start
        return vectors


class _Synthetic(E5OnnxEmbeddings):
    """Embeds queries; gives passages the vectors of notes with noise."""

    def __init__(self, home: Path):
        super().__init__(home)
        known = shipped.load(shipped.vector_file(knowledge_folder(), MODEL_ID))
        self._known = np.array([known[key] for key in sorted(known)], np.float32)
        self._chance = np.random.default_rng(1)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        base = self._known[self._chance.integers(0, len(self._known), len(texts))]
        vectors = base + self._chance.normal(0, NOISE / base.shape[1] ** 0.5, base.shape)
        found: list[list[float]] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).tolist()
        return found


def embedding_rows(home: Path) -> list[Row]:
    """Passages of 240 tokens, and what an ingest of them costs beyond embedding them."""
    model = _Timed(home)
    texts = [text for text, _ in zip(passages("en", 0, model), range(96), strict=False)]
    model.embed_documents(texts[:8])
    rates = []
    for start in range(0, 96, 32):
        before = time.perf_counter()
        model.embed_documents(texts[start : start + 32])
        rates.append(32 / (time.perf_counter() - before))
    with tempfile.TemporaryDirectory(prefix="fabric-advisor-bench-") as folder:
        library = Library.open(settings_at(home, Path(folder, "home")), embeddings=model)
        write_documents(Path(folder, "warm"), 0, 1, per_document=4)
        library.ingest([Path(folder, "warm")])  # opens the stores, loads the dictionary
        write_documents(Path(folder, "docs"), 1, 7, per_document=16)
        model.spent_s = 0.0
        before = time.perf_counter()
        library.ingest([Path(folder, "docs")])
        total = time.perf_counter() - before
        library.close()
    overhead = (total - model.spent_s) / model.spent_s
    return [
        ("passages of 240 tokens embedded, best of 3", f"{max(rates):.1f} /s", "12 /s"),
        ("ingest beyond embedding, of the time to embed", f"{overhead:.0%}", "15 %"),
    ]


def grow(home: Path, folder: Path) -> tuple[list[dict[str, Any]], float]:
    """A measurement at each size, and the seconds that an ingest of the largest takes when nothing has changed."""
    settings = settings_at(home, folder / "home")
    library = Library.open(settings, embeddings=_Synthetic(home))
    points, done = [], 0
    for size in SIZES:
        write_documents(folder / "docs", done, size // PER_DOCUMENT)
        done = size // PER_DOCUMENT
        library.ingest([folder / "docs"])
        points.append(measured_apart(settings.home))
    unchanged = []
    for _ in range(3):
        before = time.perf_counter()
        report = library.ingest([folder / "docs"])
        unchanged.append(time.perf_counter() - before)
        assert len(report.unchanged) == done, report.summary()
    library.close()
    return points, min(unchanged)


def measured_apart(home: Path) -> dict[str, Any]:
    """`measure` in a process of its own, whose memory is that of the search."""
    command = [sys.executable, __file__, "--measure", str(home)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(answer)
    return found


def measure(home: Path) -> dict[str, Any]:
    """Times of all searches of the later rounds; the first, in which words are met for the first time, apart."""
    settings = Settings(home=home, _env_file=None)  # type: ignore[call-arg]
    library = Library.open(settings, embeddings=_Synthetic(home))
    asked = queries()
    before = time.perf_counter()
    library.search(asked[0], k=8)
    first = time.perf_counter() - before
    model = library._parts.embeddings
    rounds, embedding = [], []
    for _ in range(ROUNDS + 1):
        times = []
        for query in asked:
            before = time.perf_counter()
            library.search(query, k=8)
            times.append(1000 * (time.perf_counter() - before))
            before = time.perf_counter()
            model.embed_query(query)
            embedding.append(1000 * (time.perf_counter() - before))
        rounds.append(times)
    warm = np.array(rounds[1:])
    point = {
        "passages": library._parts.index.count(),
        "p50_ms": float(np.percentile(warm, 50)),
        "p95_ms": float(np.percentile(warm, 95)),
        "p95_of_least_ms": float(np.percentile(warm.min(axis=0), 95)),  # each query's least: a quiet machine's
        "first_round_p95_ms": float(np.percentile(rounds[0], 95)),
        "embedding_p50_ms": float(np.percentile(embedding, 50)),
        "first_search_s": first,
        "memory_mb": resident_mb(),
    }
    library.close()
    return {name: round(value, 2) if isinstance(value, float) else value for name, value in point.items()}


def queries() -> list[str]:
    """Every fourth of the retrieval set, in both languages."""
    entries = yaml.safe_load((ROOT / "eval" / "retrieval" / "queries.yaml").read_text(encoding="utf-8"))
    return [str(entry["query"]) for entry in entries][::4]


def settings_at(home: Path, own: Path) -> Settings:
    """A home of its own that shares the unpacked model."""
    own.mkdir(parents=True)
    (own / "models").symlink_to((home / "models").resolve())
    return Settings(home=own, _env_file=None)  # type: ignore[call-arg]


def write_documents(folder: Path, first: int, last: int, per_document: int = PER_DOCUMENT) -> None:
    """Documents by number, English and Chinese in turn, always the same."""
    folder.mkdir(exist_ok=True)
    for number in range(first, last):
        language = "en" if number % 2 else "zh"
        own = passages(language, number)
        sections = [f"## Section {part}\n\n{next(own)}" for part in range(per_document)]
        (folder / f"d{number:04}.md").write_text(f"# Document {number}\n\n" + "\n\n".join(sections), encoding="utf-8")


def passages(language: str, seed: int, model: E5OnnxEmbeddings | None = None) -> Iterator[str]:
    """Texts of about 240 tokens (of exactly so many words that the model has no more, if it is given)."""
    chance = random.Random(seed)
    sentences = note_sentences(language)
    goal, gap = (850, " ") if language == "en" else (340, "")
    while True:
        text = ""
        while len(text) < goal if model is None else model.count_tokens(text) < 240:
            text += chance.choice(sentences) + gap
        if model is not None:
            while model.count_tokens(text) > 240:
                text = text.rsplit(" ", 1)[0]
        yield re.sub(r"\d+", lambda match: match[0] if chance.random() < 0.5 else str(chance.randint(1, 9999)), text)


_sentences: dict[str, list[str]] = {}


def note_sentences(language: str) -> list[str]:
    if language not in _sentences:
        found = []
        for path in sorted((knowledge_folder() / "notes").glob(f"*.{language}.md")):
            body = path.read_text(encoding="utf-8").split("---\n", 2)[-1]
            for line in re.sub(r"\[\^[^\]]+\]:?", "", body).splitlines():
                if not line.startswith(("#", "|", "```", "- ")):
                    found += [one for one in re.split(r"(?<=[。.!?！？])\s*", line) if len(one) > 20]
        _sentences[language] = found
    return _sentences[language]


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--growth", action="store_true", help="write docs/search-growth.json and .svg")
    parser.add_argument("--measure", metavar="HOME", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(measure(Path(options.measure))))
        return
    home = Path(os.environ.get("FABRIC_ADVISOR_HOME", ".fabric-advisor")).absolute()
    E5OnnxEmbeddings(home).embed_query("unpack the model")
    rows = library_rows(home, ROOT / "docs" / "search-growth" if options.growth else None)
    print("| what | measured | target |\n|---|---|---|")
    for what, measured, target in rows:
        print(f"| {what} | {measured} | {target} |")


if __name__ == "__main__":
    main()
