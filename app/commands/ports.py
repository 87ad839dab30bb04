"""Whether a port is free, said before the library is opened."""

from __future__ import annotations

import socket

from app.errors import AdvisorError


def require_free(host: str, port: int) -> None:
    """Raises AdvisorError where nothing can be served there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise AdvisorError(
                f"Port {port} on {host} cannot be used: {(error.strerror or str(error)).lower()}.",
                f"Choose another, for example --port {port + 1 if port < 65535 else 8501}.",
            ) from None
