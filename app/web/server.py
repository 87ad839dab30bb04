"""Run the page in this process, and end with it: `python -m app.web.server --server.port=8501 …`.

Streamlit stops at Ctrl-C or SIGTERM, but Python then waits for every worker thread, and one that waits for a model
that never answers would hold the process for minutes. Nothing is lost by leaving it: chats and documents are
committed as they are made.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

PAGE = Path(__file__).parent / "main.py"


def main() -> None:
    from streamlit.web.cli import main as streamlit

    sys.argv = ["streamlit", "run", str(PAGE), *sys.argv[1:]]
    code = 0
    try:
        streamlit(standalone_mode=False)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        code = 130
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
