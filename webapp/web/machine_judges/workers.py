"""What machine judges do beside the requests: they judge."""

from __future__ import annotations

from webapp.web.machine_judges.judging import Judging

WORKERS = (Judging,)
