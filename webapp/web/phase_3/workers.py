"""What phase 3 does beside the requests: it puts questions to the chatbot."""

from __future__ import annotations

from webapp.web.phase_3.asking import Asker

WORKERS = (Asker,)
