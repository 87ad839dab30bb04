"""The script that `fabric-advisor serve` runs: the page, and one clear message where something fails."""

from __future__ import annotations

import logging

import streamlit as st

from app.errors import AdvisorError
from app.web.labels import labels, resolve_language

log = logging.getLogger(__name__)


def main() -> None:
    try:
        from app.web import shell  # here, so that a fault in a module is reported like any other

        shell.draw()
    except AdvisorError as error:
        st.error(f"{error.message} {error.remedy}", icon=":material/error:")
    except Exception:
        log.exception("the page failed")
        st.error(labels(resolve_language("auto", st.context.locale))["unexpected"], icon=":material/error:")


main()
