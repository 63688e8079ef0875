"""The worker of machine judges, which lets them judge beside the requests."""

from __future__ import annotations

from webapp.web.machine_judges.judging import Judging

WORKERS = (Judging,)
