"""The figures that pages of a study show first, by what the row of the study says."""

from __future__ import annotations

from typing import Any

from relevansi.kinds import KINDS
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.graded import kept
from relevansi.records import Scale


def headline_of(study: Any) -> tuple[str, ...]:
    """Return the names of the figures that pages of a study show first, in order.

    `study` has its columns ``measures``, ``kind`` and ``scale``. Each name is one of
    ``figures.HEADLINES`` or one that ``graded.ranking_figure`` knows.
    """
    return tuple(study.measures) if study.measures else usual_headline(study)


def is_pooled(study: Any) -> bool:
    """Whether its figures rest on all that was judged for a question, not on lists alone."""
    return KINDS[study.kind].of_collection or bool(kept(headline_of(study)))


def usual_headline(study: Any) -> tuple[str, ...]:
    """Return those of a study whose owner chose none: by its kind of items and its scale."""
    of_kind = KINDS[study.kind].headlines or HEADLINES
    graded = Scale.stored(study.scale).top > 1
    return tuple(name for name in of_kind if graded or name != "nDCG@10")
