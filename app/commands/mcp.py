"""mcp: serve the advisor to other assistants over the Model Context Protocol."""

from __future__ import annotations

import click

from app.commands.ports import require_free
from app.settings import load_settings


@click.command()
@click.option("--http", is_flag=True, help="Streamable HTTP on this machine instead of stdin and stdout.")
@click.option("--port", type=click.IntRange(1, 65535), default=8601, show_default=True, help="Port for --http.")
def mcp(http: bool, port: int) -> None:
    """Serve size, cost, compare, collective, search and ask to assistants that speak MCP."""
    from app.advisor.advisor import Advisor
    from app.commands.documents import progress_line
    from app.mcp.server import mcp_server

    settings = load_settings()
    host = "127.0.0.1"
    if http:
        require_free(host, port)
    server = mcp_server(Advisor.open(settings, on_progress=progress_line))
    if http:
        click.echo(f"MCP is served at http://{host}:{port}/mcp; press Ctrl-C to stop.", err=True)
        server.run("streamable-http", host=host, port=port)
    else:
        server.run("stdio")
