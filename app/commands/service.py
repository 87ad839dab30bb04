"""serve and doctor."""

from __future__ import annotations

import os
import socket
import sys

import click

from app.commands.output import json_option, print_json
from app.errors import AdvisorError
from app.settings import PREFIX, Settings, load_settings


@click.command()
@click.option("--host", default=None, help="Address to serve on.")
@click.option("--port", type=int, default=None, help="Port to serve on.")
def serve(host: str | None, port: int | None) -> None:
    """Serve the chat in a browser until Ctrl-C."""
    from app.commands.documents import progress_line
    from app.library.library import Library

    chosen = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = load_settings(**chosen)
    _require_free(settings)
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


def _require_free(settings: Settings) -> None:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise AdvisorError(
                f"Port {settings.port} on {settings.host} cannot be used: {(error.strerror or str(error)).lower()}.",
                f"Choose another, for example --port {settings.port + 1 if settings.port < 65535 else 8501}.",
            ) from None


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
