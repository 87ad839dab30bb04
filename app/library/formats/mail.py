"""E-mail (.eml): subject, sender, date and the text of the message; attachments are not read. And web pages that a
browser saved in one file (.mhtml), which are built like mails.
"""

from __future__ import annotations

from dataclasses import replace
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


def read_saved_page(data: bytes) -> Content:
    """The page itself; its pictures and scripts are other parts of the file."""
    message = message_from_bytes(data, policy=policy.default)
    pages = [part for part in message.walk() if part.get_content_type() == "text/html"]
    if not pages:
        raise UnreadableError("it is not a saved web page (no HTML inside)")
    markup = pages[0].get_payload(decode=True)
    content = read_html(markup if isinstance(markup, bytes) else b"")
    address = str(message["Snapshot-Content-Location"] or pages[0]["Content-Location"] or "")
    return replace(content, url=content.url or (address if address.startswith(("https://", "http://")) else ""))
