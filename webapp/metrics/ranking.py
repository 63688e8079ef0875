"""Figures of one ranked list from its verdicts, and the reasons a figure has no value.

Every function takes the verdicts in rank order (position 0 is rank 1), ``None`` where a
result is unjudged. *Decided* means relevant or not relevant: "cannot tell" and unjudged
results are neither.

References: Manning, Raghavan & Schuetze (2008), Introduction to Information Retrieval,
chapter 8; Voorhees (1999), The TREC-8 Question Answering Track Report; Voorhees (2002), The
Philosophy of Information Retrieval Evaluation; Craswell (2009), Mean Reciprocal Rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from webapp.i18n import mark
from webapp.records import QueryState, Relevance


class Undefined(StrEnum):
    """Why a figure has no value: never to be confused with the value 0."""

    NO_RESULTS = "no_results"
    CORRECT_EMPTY = "correct_empty"
    UNCLASSIFIED = "unclassified"
    NOTHING_DECIDED = "nothing_decided"
    CANNOT_TELL = "cannot_tell"
    INCOMPLETE = "incomplete"
    UNRATED = "unrated"
    FAILED = "failed"
    UNREADABLE = "unreadable"
    NO_QUERY = "no_query"
