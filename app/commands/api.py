"""api: serve the advisor as an OpenAI-compatible model."""

from __future__ import annotations

import click

from app.commands.ports import require_free
from app.settings import load_settings


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=8600, show_default=True, help="Port to serve on.")
def api(port: int) -> None:
    """Serve /v1/chat/completions on this machine, for programs that talk to OpenAI-compatible models."""
    import uvicorn

    from app.advisor.advisor import Advisor
    from app.commands.documents import progress_line
    from app.openai_api import MODEL, openai_app

    host = "127.0.0.1"
    settings = load_settings()
    require_free(host, port)
    app = openai_app(Advisor.open(settings, on_progress=progress_line))
    click.echo(f"Base URL http://{host}:{port}/v1, model {MODEL}, any key; press Ctrl-C to stop.", err=True)
    uvicorn.run(app, host=host, port=port, log_level="warning")
