"""Run as a process of its own by tests: ingest a folder with hash embeddings, or remove a document.

python -m tests.library.ingest_process HOME KNOWLEDGE PAUSE_S ingest|remove WHAT
"""

import sys
from pathlib import Path

from app.library.library import Library
from app.settings import Settings
from tests.library.hash_embeddings import HashEmbeddings


def main() -> None:
    home, knowledge, pause_s, action, what = sys.argv[1:]
    settings = Settings(home=Path(home), knowledge=Path(knowledge), _env_file=None)  # type: ignore[call-arg]
    library = Library.open(settings, embeddings=HashEmbeddings(pause_s=float(pause_s)))
    sys.stdout.write("started\n")
    sys.stdout.flush()
    if action == "remove":
        library.remove(what)
    else:
        library.ingest([what])
    library.close()


if __name__ == "__main__":
    main()
