"""What had to be decided in reading a question, said in the answer's assumptions: "200 to 300: sized for 300"."""

from __future__ import annotations

from dataclasses import dataclass

from app.fabric.calculation import Bilingual


@dataclass(frozen=True, slots=True)
class ReadingNote:
    """`subject` is what it was said of (gpus, price, negation, …); one note a subject is shown."""

    subject: str
    text: Bilingual


def note(subject: str, en: str, zh: str) -> ReadingNote:
    return ReadingNote(subject, Bilingual(en, zh))
