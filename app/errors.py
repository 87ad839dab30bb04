"""The one error that people see: what went wrong, and how to mend it, each in one sentence."""

from collections.abc import Mapping


class AdvisorError(Exception):
    """Bad input or set-up.

    `code` (with `values`) lets the chat say the same in another language; see app/advisor/errors.zh.yaml.
    """

    def __init__(self, message: str, remedy: str, *, code: str = "", values: Mapping[str, object] | None = None):
        message = message.rstrip()
        if message and message[-1] not in ".!?…。！？”\"":  # often what another package has said
            message += "."
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy
        self.code = code
        self.values = dict(values or {})
