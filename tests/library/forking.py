"""Run as a process of its own by tests: forks one ingest after another, so that each is killed or done in tenths of a
second and not in the seconds that its imports take.

python -m tests.library.forking; then, line by line, as JSON: [HOME, KNOWLEDGE, FOLDER, when to kill it or null] is
answered by [exit code, seconds taken].
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import chromadb  # noqa: F401  (imported here, once; no client is opened before the fork)

from app.library.library import Library
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings


def main() -> None:
    HashEmbeddings().embed_query("warm")
    for line in sys.stdin:
        *what, kill_after_s = json.loads(line)
        started = time.monotonic()
        process = os.fork()
        if process == 0:
            ingest(*what)
            os._exit(0)
        if kill_after_s is not None:
            time.sleep(kill_after_s)
            os.kill(process, signal.SIGKILL)  # ours still, even if it has ended: nobody has waited for it
        _, status = os.waitpid(process, 0)
        sys.stdout.write(json.dumps([os.waitstatus_to_exitcode(status), time.monotonic() - started]) + "\n")
        sys.stdout.flush()


def ingest(home: str, knowledge: str, folder: str) -> None:
    settings = Settings(home=Path(home), knowledge=Path(knowledge), _env_file=None)  # type: ignore[call-arg]
    library = Library.open(settings, embeddings=HashEmbeddings())
    library.ingest([folder])
    library.close()


if __name__ == "__main__":
    main()
