"""ask: one question, one sourced answer."""

from __future__ import annotations

from typing import Any

import click

from app.advisor.answer import Answer, Text
from app.commands.output import json_option, print_json
from app.errors import AdvisorError
from app.settings import load_settings


@click.command()
@click.argument("question")
@click.option("--conversation", metavar="ID", default=None, help="Go on with this chat, or begin it under this name.")
@click.option("--model", metavar="NAME", default=None, help="One of the offered models, builtin for none.")
@click.option("--language", type=click.Choice(["auto", "en", "zh"]), default=None, help="Language of the answer.")
@json_option
def ask(question: str, conversation: str | None, model: str | None, language: str | None, as_json: bool) -> None:
    """Ask QUESTION and print the answer with its sources."""
    from app.advisor.advisor import Advisor
    from app.advisor.error_text import error_text
    from app.advisor.question import detect_language
    from app.commands.documents import progress_line

    changes: dict[str, Any] = {"language": language} if language else {}
    settings = load_settings(**changes)
    advisor = Advisor.open(settings, on_progress=progress_line)
    if model:
        advisor = advisor.with_model(model)
    history: list[Answer] = []
    store = None
    if conversation:
        from app.advisor.chats import ChatStore

        store = ChatStore.open(settings)
        history = store.history(conversation) if store.exists(conversation) else []
    answer = None
    try:
        for event in advisor.ask(question, history):
            if isinstance(event, Text) and not as_json:
                click.echo(event.text, nl=False)
            elif isinstance(event, Answer):
                answer = event
    except AdvisorError as error:
        spoken = detect_language(question) if settings.language == "auto" else settings.language
        raise AdvisorError(error_text(error, spoken), "", code=error.code, values=error.values) from None
    if answer is None:
        raise RuntimeError("the stream ended without an answer")
    if store and conversation:
        store.append(conversation, answer)
    if as_json:
        print_json(answer.to_json())
        return
    click.echo()
    for notice in answer.notices:
        click.secho(f"! {notice}", fg="yellow", err=True)
    if answer.assumptions:
        click.echo(
            ("假设：" if answer.language == "zh" else "Assumed: ") + "; ".join(one.text for one in answer.assumptions)
        )
    for citation in answer.citations:
        click.echo(f"[{citation.marker}] {citation.title} › {citation.section} ({citation.document})")
        for source in citation.sources:
            click.echo(f"     {source['title']}, {source['date']}, {source['trust']}: {source['url']}")
