"""api: serve the advisor as an OpenAI-compatible model."""

from __future__ import annotations

import click

from app.commands.ports import require_free
from app.settings import load_settings

API_PORT = 8600
LOOPBACK = "127.0.0.1"


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=API_PORT, show_default=True, help="Port to serve on.")
def api(port: int) -> None:
    """The same as `serve --api`: an OpenAI-compatible model on this machine."""
    serve_api(LOOPBACK, port)


def serve_api(host: str, port: int) -> None:
    """Serve /v1/chat/completions until Ctrl-C, for programs that talk to OpenAI-compatible models.

    Raises AdvisorError where the port is taken.
    """
    import uvicorn

    from app.advisor.advisor import Advisor
    from app.commands.documents import progress_line
    from app.openai_api import MODEL, openai_app

    settings = load_settings()
    require_free(host, port)
    app = openai_app(Advisor.open(settings, on_progress=progress_line))
    address = f"[{host}]" if ":" in host else host
    click.echo(f"Base URL http://{address}:{port}/v1, model {MODEL}, any key; press Ctrl-C to stop.", err=True)
    uvicorn.run(app, host=host, port=port, log_level="warning")
