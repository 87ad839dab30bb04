"""The Documents page on a real library."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

from streamlit.testing.v1 import AppTest

from app.library.library import Library
from app.library.passage import Passage
from app.settings import Settings
from tests.web.conftest import NOTE

Open = Callable[..., AppTest]
PAGE = "app_pages/documents.py"
TYPE = "text/markdown"


def upload(app: AppTest, *files: tuple[str, bytes, str]) -> AppTest:
    app.file_uploader[0].set_value(list(files)).run()
    app.button(key="ingest").click().run()
    assert not app.exception
    return app


def html(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html") if "reader" in element.proto.body)


def plain(text: str) -> str:
    return text.replace("\\", "")


def titles(app: AppTest) -> list[str]:
    return [plain(one.label) for one in app.button if (one.key or "").startswith("open-")]


def test_documents_are_listed_and_filtered(open_page: Open) -> None:
    app = open_page(PAGE)
    assert titles(app) == ["Small clusters"]
    app.text_input(key="filter").set_value("clusters small").run()
    assert titles(app) == ["Small clusters"]
    app.text_input(key="filter").set_value("deadlock").run()
    assert titles(app) == []
    assert "No document matches." in [one.value for one in app.caption]


def test_a_document_opens_and_closes_by_click(open_page: Open) -> None:
    app = open_page(PAGE)
    next(one for one in app.button if (one.key or "").startswith("open-")).click().run()
    assert app.subheader[0].value == "Small clusters"
    assert "document" in app.query_params
    app.button(key="back").click().run()
    assert titles(app) == ["Small clusters"]
    assert "document" not in app.query_params


def test_a_deep_link_marks_exactly_the_passage(open_page: Open, passage: Passage) -> None:
    app = open_page(PAGE, document=passage.document_id, start=str(passage.start), end=str(passage.end))
    marks = re.findall(r"<mark>(.*?)</mark>", html(app), re.DOTALL)
    shown = unescape(re.sub(r"<[^>]+>", "", "\n".join(marks)))
    assert "Two switches cost $72,000 to $100,000 <script>alert(1)</script> :red[all] of it." in shown
    assert "needs two switches" not in shown
    assert "<script" not in html(app)


def test_a_deep_link_with_a_nonsensical_span_shows_the_document_unmarked(open_page: Open, passage: Passage) -> None:
    for start, end in (("9", "3"), ("-1", "5"), ("a", "b"), ("0", "999999"), ("²", "³")):
        app = open_page(PAGE, document=passage.document_id, start=start, end=end)
        assert not app.exception
        assert "<mark>" not in html(app)
        assert "needs two switches" in html(app)


def test_an_unknown_document_is_one_message(open_page: Open) -> None:
    app = open_page(PAGE, document="nope")
    assert len(app.error) == 1
    assert "There is no document 'nope'" in app.error[0].value
    assert not app.exception


def test_a_long_document_is_folded_around_the_passage(open_page: Open, library: Library, settings: Settings) -> None:
    text = "\n\n".join(f"Paragraph {number} about links." for number in range(3000))
    path = settings.home / "long.txt"
    path.write_text(text, encoding="utf-8")
    library.ingest([path])
    document = library.document("long.txt")
    start = library.text(document.id).index("Paragraph 1500 ")
    app = open_page(PAGE, document=document.id, start=str(start), end=str(start + 14))
    assert [one.label.split(" (")[0] for one in app.expander] == ["Text before", "Text after"]
    assert "<mark>Paragraph 1500</mark>" in html(app)
    assert "Paragraph 100 " not in html(app)
    app.session_state["earlier_text"] = True
    app.run()
    assert "Paragraph 100 " in html(app)


def test_uploading_says_what_became_of_each_file(open_page: Open, library: Library, settings: Settings) -> None:
    app = upload(
        open_page(PAGE),
        ("网络.md", "# 网络\n\n光模块很贵。".encode(), TYPE),
        ("empty.md", b"", TYPE),
        ("fake.pdf", b"not a PDF", "application/pdf"),
    )
    good, bad = [plain(one.value) for one in app.success], [plain(one.value) for one in app.error]
    assert good == ["**网络.md**: added"]
    assert len(bad) == 2
    assert any(text.startswith("**empty.md**: not added (") and "empty" in text for text in bad)
    assert any(text.startswith("**fake.pdf**: not added (") for text in bad)
    assert (settings.home / "uploads" / "网络.md").is_file()
    assert library.search("光模块 很贵", k=1)[0].passage.document == "网络.md"

    upload(app, ("网络.md", "# 网络\n\n光模块很贵。".encode(), TYPE))
    assert [plain(one.value) for one in app.success] == ["**网络.md**: unchanged, already in the library"]
    upload(app, ("网络.md", "# 网络\n\n光模块便宜了。".encode(), TYPE))
    assert [plain(one.value) for one in app.success] == ["**网络.md**: updated"]
    assert "便宜" in library.text(library.document("网络.md").id)


def test_a_name_that_leads_out_of_the_folder_is_made_harmless(open_page: Open, settings: Settings) -> None:
    upload(open_page(PAGE), ("../../evil.md", NOTE.encode(), TYPE))
    assert [one.name for one in (settings.home / "uploads").iterdir()] == ["evil.md"]


def test_removing_takes_the_document_its_file_and_its_passages_away(
    open_page: Open, library: Library, settings: Settings
) -> None:
    app = upload(open_page(PAGE), ("mine.md", b"# Mine\n\nZebra cables are striped.", TYPE))
    document = library.document("mine.md")
    assert library.search("zebra cables striped", k=1)[0].passage.document == "mine.md"
    app.button(key=f"remove-now-{document.id}").click().run()
    assert "“mine.md” has been removed." in [plain(one.value) for one in app.success]
    assert titles(app) == ["Small clusters"]
    assert not (settings.home / "uploads" / "mine.md").exists()
    assert all(hit.passage.document != "mine.md" for hit in library.search("zebra cables striped", k=5))


def test_a_file_that_could_not_be_read_is_listed_with_the_reason_and_can_be_taken_off(
    open_page: Open, library: Library
) -> None:
    app = upload(open_page(PAGE), ("fake.pdf", b"not a PDF", "application/pdf"))
    document = library.document("fake.pdf")
    captions = [plain(one.value) for one in app.caption]
    assert any("fake.pdf" in text and document.error in text for text in captions)
    app.button(key=f"remove-now-{document.id}").click().run()
    assert [one.name for one in library.documents()] == ["small-clusters.md"]


def test_the_page_speaks_chinese(open_page: Open) -> None:
    app = open_page(PAGE, language="zh")
    assert app.title[0].value == "文档"


def test_the_page_about_accuracy_lists_the_prices_with_their_ranges(open_page: Open) -> None:
    app = open_page("app_pages/about.py")
    prices = app.dataframe[0].value
    assert (prices["Low"] <= prices["Typical"]).all()
    assert (prices["Typical"] <= prices["High"]).all()
    assert "NVIDIA Quantum-2 QM9700" in set(prices["Item"])
    assert "1 documents, 2 passages" in [one.value for one in app.caption]
