"""What operators watch: figures for Prometheus at ``/metrics``, and a log of requests as JSON.

Neither holds names, texts, addresses or query strings: a request is its endpoint, or the part of
the site that the endpoint is in.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from threading import Lock
from traceback import extract_tb

from flask import Blueprint, Flask, Response, current_app, g, request

from relevansi.db import outages
from relevansi.db.outages import Outage
from relevansi.printable import printable_line
from relevansi.services.judging import events
from relevansi.services.workers import jobs
from relevansi.web.frame import access, origins
from relevansi.web.frame.access import NoToken

blueprint = Blueprint("telemetry", __name__)

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The upper bounds of the histogram of durations, in seconds."""
REQUEST_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Telemetry:
    """The counts of one application since its process began."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._durations: dict[str, list[int]] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._outages: Counter[str] = Counter()

    def count(self, area: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[area, status] += 1
            buckets = self._durations.setdefault(area, [0] * (len(BUCKETS) + 1))
            buckets[bisect_left(BUCKETS, seconds)] += 1
            self._seconds[area] += seconds

    def count_outage(self, outage: Outage) -> None:
        with self._lock:
            self._outages[outage] += 1

    def lines(self) -> Iterator[str]:
        """Yield the counts in the text format of Prometheus."""
        with self._lock:
            yield "# TYPE relevansi_requests_total counter"
            for (area, status), count in sorted(self._requests.items()):
                labels = f'area="{area}",status="{status}"'
                yield f"relevansi_requests_total{{{labels}}} {count}"
            yield "# TYPE relevansi_request_seconds histogram"
            for area, buckets in sorted(self._durations.items()):
                total = 0
                for bound, count in zip((*BUCKETS, "+Inf"), buckets, strict=True):
                    total += count
                    labels = f'area="{area}",le="{bound}"'
                    yield f"relevansi_request_seconds_bucket{{{labels}}} {total}"
                yield f'relevansi_request_seconds_sum{{area="{area}"}} {self._seconds[area]:.6f}'
                yield f'relevansi_request_seconds_count{{area="{area}"}} {total}'
            yield "# TYPE relevansi_outages_total counter"
            for outage in Outage:
                yield f'relevansi_outages_total{{kind="{outage}"}} {self._outages[outage]}'


class JsonLineFormatter(logging.Formatter):
    """Formats a record as one JSON object; of an error its kind and place, never its text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {"time": moment, "level": record.levelname.lower()}
        request_line = getattr(record, "request", None)
        # The values in a message may be names: its wording is enough to know what happened.
        line |= request_line or {"message": printable_line(str(record.msg))}
        if record.exc_info and record.exc_info[0] is not None:
            kind, _error, trace = record.exc_info
            frames = [f"{frame.filename}:{frame.lineno}" for frame in extract_tb(trace)]
            line |= {"error": kind.__name__, "at": frames[-8:]}
        return json.dumps(line)


def set_up(app: Flask) -> None:
    """Let `app` count its requests, and log them where the setting says so."""
    app.before_request(_start_clock)
    app.after_request(_count_request)
    if app.config["LOG"]:
        app.logger.setLevel(logging.INFO)


def telemetry() -> Telemetry:
    counts: Telemetry = current_app.extensions["telemetry"]
    return counts


def _start_clock() -> None:
    g.began_at = time.perf_counter()


def _count_request(response: Response) -> Response:
    seconds = time.perf_counter() - g.began_at
    endpoint = request.endpoint or "none"
    telemetry().count(endpoint.partition(".")[0], response.status_code, seconds)
    if current_app.config["LOG"]:
        header = request.headers.get("X-Request-ID", "")
        request_id = header if REQUEST_ID.fullmatch(header) else secrets.token_hex(8)
        response.headers["X-Request-ID"] = request_id
        line = {
            "method": request.method,
            "endpoint": endpoint,
            "status": response.status_code,
            "ms": round(seconds * 1000, 1),
            "request_id": request_id,
        }
        current_app.logger.info("request", extra={"request": line})
    return response


@blueprint.get("/metrics")
def metrics() -> Response:
    """Return the figures of this process and its database, for this machine or the owner."""
    user = access.current_user()
    if not origins.is_from_here():
        if not user.is_owner:
            raise NoToken
        access.need_scope("read")
    lines = [*telemetry().lines(), *_database_lines()]
    return Response("\n".join((*lines, "")), content_type=PROMETHEUS_TEXT)


def _database_lines() -> Iterator[str]:
    """Yield the figures that all processes of one database have in common."""
    try:
        with access.database().reading() as session:
            clicks, counts = events.count(session), jobs.counts(session)
    except outages.OUTAGE_ERRORS as failure:
        if (outage := outages.outage(failure)) is None:
            raise
        telemetry().count_outage(outage)
        yield from ("# TYPE relevansi_database_up gauge", "relevansi_database_up 0")
        return
    yield from ("# TYPE relevansi_database_up gauge", "relevansi_database_up 1")
    yield from ("# TYPE relevansi_clicks_total counter", f"relevansi_clicks_total {clicks}")
    yield "# TYPE relevansi_jobs gauge"
    for state, count in counts.items():
        yield f'relevansi_jobs{{state="{state}"}} {count}'
