"""Questions are put to the chatbot beside the requests; a server that starts asks what waited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from webapp.services.phase_3 import turns
from webapp.services.phase_3.asking import QuestionWork

if TYPE_CHECKING:
    from flask import Flask
    from sqlalchemy.orm import Session


def left(session: Session, _app: Flask) -> Iterator[tuple[QuestionWork, int]]:
    """Yield the questions that waited when the last process ended."""
    if at_once := turns.calls_at_once(session):
        yield QuestionWork(), at_once
