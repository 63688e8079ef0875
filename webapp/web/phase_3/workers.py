"""The worker of phase 3, which puts questions to the chatbot beside the requests."""

from __future__ import annotations

from webapp.web.phase_3.asking import QuestionWorker

WORKERS = (QuestionWorker,)
