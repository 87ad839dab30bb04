"""What the Documents page says of an ingest: rate and time left, and failures until they are mended or dismissed."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from app.library.document import Progress
from app.library.library import Library
from app.web.components.upload import _progress
from app.web.labels import labels
from tests.web.test_documents_page import PAGE, TYPE, plain, upload


def test_progress_has_a_rate_and_the_time_left_in_the_reader_s_language() -> None:
    progress = Progress(10, 40, "a.md", "added", 50, 5.0)
    assert plain(_progress(progress, labels("en"))) == "10/40 a.md, 10 passages/s, 0:15 left"
    assert plain(_progress(progress, labels("zh"))) == "10/40 a.md，每秒 10 段，剩余 0:15"
    inside = Progress(1, 1, "big.md", "embedding", 640, 40.0, 0.75, (640, 2560))
    assert plain(_progress(inside, labels("en"))) == "1/1 big.md: 640 of 2,560 passages, 16 passages/s, 2:00 left"
    assert plain(_progress(inside, labels("zh"))) == "1/1 big.md：640 / 2,560 段，每秒 16 段，剩余 2:00"
    assert plain(_progress(Progress(1, 1, "a.md", "unchanged", 0, 0.1), labels("en"))) == "1/1 a.md"


def test_a_failed_newer_version_is_told_until_it_is_dismissed(
    open_page: Callable[..., AppTest], library: Library
) -> None:
    app = upload(open_page(PAGE), ("mine.md", b"# Mine\n\nZebra cables are striped.", TYPE))
    document = library.document("mine.md")
    assert f"dismiss-{document.id}" not in {one.key for one in app.button}
    upload(app, ("mine.md", b"", TYPE))
    assert any("it is empty" in plain(one.value) for one in app.caption)
    app.button(key=f"dismiss-{document.id}").click().run()
    assert not app.exception
    assert not any("it is empty" in plain(one.value) for one in app.caption)
    assert library.document("mine.md").error == ""
    assert library.search("zebra cables striped", k=1)[0].passage.document == "mine.md"
