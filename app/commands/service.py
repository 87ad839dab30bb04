"""serve and doctor."""

from __future__ import annotations

import os
import sys

import click

from app.commands.output import json_option, print_json
from app.commands.ports import require_free
from app.settings import PREFIX, load_settings


@click.command()
@click.option("--host", default=None, help="Address to serve on.")
@click.option("--port", type=int, default=None, help="Port to serve on.")
@click.option("--api", "as_api", is_flag=True, help="Instead of the page, /v1/chat/completions for other programs.")
def serve(host: str | None, port: int | None, as_api: bool) -> None:
    """Serve the chat in a browser until Ctrl-C, or with --api an OpenAI-compatible model (on 127.0.0.1:8600)."""
    if as_api:
        from app.commands.api import API_PORT, LOOPBACK, serve_api

        serve_api(host or LOOPBACK, port or API_PORT)
        return
    from app.commands.documents import progress_line
    from app.library.library import Library

    chosen = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = load_settings(**chosen)
    require_free(settings.host, settings.port)
    library = Library.open(settings)
    library.ensure_notes(progress_line)
    library.close()
    shown = "localhost" if settings.host in {"127.0.0.1", "0.0.0.0", "::1", "::"} else settings.host
    click.echo(f"Fabric Advisor is at http://{shown}:{settings.port}")
    click.echo("Press Ctrl-C to stop.")
    environment = os.environ | {PREFIX + "HOST": settings.host, PREFIX + "PORT": str(settings.port)}
    arguments = {
        "server.address": settings.host,
        "server.port": str(settings.port),
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "server.maxUploadSize": str(settings.max_file_mb),
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "logger.level": "warning",
    }
    command = [
        sys.executable,
        "-m",
        "app.web.server",
        *(f"--{name}={value}" for name, value in arguments.items()),
    ]
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Streamlit's own banner would be a second address
    os.execve(sys.executable, command, environment)  # signals then reach the page itself, and nothing stays behind


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check the set-up; each fault comes with its remedy. Exit 1 if there is one."""
    from app.doctor import examine

    results = examine(load_settings())
    if as_json:
        print_json({"checks": [one.to_json() for one in results]})
    else:
        for one in results:
            click.echo(f"{'✓' if one.ok else '✗'} {one.name}: {one.message}" + ("" if one.ok else f" {one.remedy}"))
    if not all(one.ok for one in results):
        raise SystemExit(1)
