"""E-mail (.eml): subject, sender, date and the text of the message; attachments are not read."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage

from app.library.formats.content import Content, UnreadableError
from app.library.formats.html import read_html

_SHOWN = ("From", "To", "Date")


def read_mail(data: bytes) -> Content:
    message = message_from_bytes(data, policy=policy.default)
    if not isinstance(message, EmailMessage) or not message["From"]:
        raise UnreadableError("it is not an e-mail (it has no sender)")
    body = message.get_body(preferencelist=("plain", "html"))
    text = ""
    if body is not None:
        try:
            text = str(body.get_content())
        except (LookupError, UnicodeError) as error:
            raise UnreadableError(f"its text cannot be decoded ({error})") from None
        if body.get_content_type() == "text/html":
            text = read_html(text.encode()).text
    subject = str(message["Subject"] or "")
    head = "\n".join(f"{name}: {message[name]}" for name in _SHOWN if message[name])
    title = f"# {subject}\n\n" if subject else ""
    return Content(f"{title}{head}\n\n{text.replace(chr(13), '').strip()}\n", title=subject)
