"""Adding documents: drop files, see each one's progress and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from app.errors import AdvisorError
from app.library.document import IngestReport, Progress
from app.library.reading import SUPPORTED
from app.web import resources, session, uploads
from app.web.inert import plain
from app.web.labels import Labels

Result = tuple[Literal["added", "updated", "unchanged", "failed"], str, str]  # what, which file, why
_ICONS = {"added": "add_circle", "updated": "sync", "unchanged": "check_circle", "failed": "error"}


def draw(words: Labels) -> None:
    limit = resources.settings().max_file_mb
    round_number = st.session_state.setdefault("upload-round", 0)  # a new key empties the uploader
    files = st.file_uploader(
        words.fill("upload", types=" ".join([*SUPPORTED, ".zip"]), megabytes=limit),
        accept_multiple_files=True,
        max_upload_size=limit,
        key=f"upload-{round_number}",
    )
    if files and st.button(words["ingest"], type="primary", icon=":material/upload:", key="ingest"):
        st.session_state["upload-results"] = _ingest(files, words)
        st.session_state["upload-round"] = round_number + 1
        st.rerun()
    _show(st.session_state.get("upload-results", ()), words)


def _ingest(files: Sequence[Any], words: Labels) -> list[Result]:
    """Store the files, then ingest them; one that cannot be taken is reported and stops no other."""
    home, library = resources.settings().home, resources.advisor().library
    results: list[Result] = []
    paths = []
    for file in files:
        name = uploads.safe_name(file.name)
        if name is None:
            results.append(("failed", file.name, words["bad_name"]))
            continue
        try:
            paths.append(uploads.store(home, name, file.getvalue()))
        except AdvisorError as error:
            results.append(("failed", file.name, session.in_words(error)))
    if not paths:
        return results
    bar = st.progress(0.0, words["ingesting"])

    def show(progress: Progress) -> None:
        bar.progress(progress.share, _progress(progress, words))

    try:
        report = library.ingest(paths, on_progress=show)
    except AdvisorError as error:
        return [*results, *(("failed", path.name, session.in_words(error)) for path in paths)]
    return [*results, *_results(report)]


def _progress(progress: Progress, words: Labels) -> str:
    text = f"{progress.done}/{progress.total} {plain(progress.name)}"
    if progress.part:
        done, whole = (f"{number:,}" for number in progress.part)
        text += plain(words.fill("ingest_part", done=done, whole=whole))
    if progress.passages:
        text += plain(words.fill("ingest_rate", rate=f"{progress.passages_per_s:.0f}"))
    if progress.time_left:
        text += plain(words.fill("ingest_left", time=progress.time_left))
    return text


def _results(report: IngestReport) -> list[Result]:
    return [
        *(("failed", failure.name, failure.reason) for failure in report.failed),
        *(("added", name, "") for name in report.added),
        *(("updated", name, "") for name in report.updated),
        *(("unchanged", name, "") for name in report.unchanged),
    ]


def _show(results: Sequence[Result], words: Labels) -> None:
    for what, name, why in results:
        text = f"**{plain(name)}**: {words[f'was_{what}']}"
        if why:
            text += f" ({plain(why)})"
        show = st.error if what == "failed" else st.success
        show(text, icon=f":material/{_ICONS[what]}:")
