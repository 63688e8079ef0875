"""The measures that the page of all measures says nothing of."""

from __future__ import annotations

from collections.abc import Iterable

from relevansi.exporters.exports.meanings import measures_markdown
from relevansi.i18n import gettext, speaking
from relevansi.metrics.judging.registry import Measure


def unexplained(measures: Iterable[Measure], language: str) -> list[str]:
    with speaking(language):
        page = measures_markdown()
        return [
            measure.label
            for measure in measures
            if f"### {gettext(measure.label)}\n" not in page
            or gettext(measure.meaning) not in page
            or gettext(measure.reading or measure.meaning) not in page
        ]
