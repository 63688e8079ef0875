"""All of phase 3 as one JSON document: unrounded, null where undefined, pseudonyms only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from webapp.exporters.comparisons.json_file import interval_json, moment_json
from webapp.exporters.exports.json_runs import VERDICTS, whole
from webapp.exporters.frame.csv_cells import rounded
from webapp.metrics.judging.queries import Undefined
from webapp.metrics.phase_3.clustered import ClusteredMean
from webapp.metrics.phase_3.user_study import OwnAnswer, Person, UserStudyReport


def user_study_bytes(report: UserStudyReport) -> bytes:
    """Return ``user_study_json`` as a file, to four decimals."""
    document = rounded(user_study_json(report))
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def user_study_json(report: UserStudyReport) -> dict[str, Any]:
    """Return `report` as plain values.

    ``{study, phase, search_method, llm, version, settings, cannot_tell, judged_until, suggested,
    counts,
    figures: {name: {value, interval, participants, questions}}, usability, categories: [...],
    participants: [{participant, stage, consent_version, ..., figures, usability, comments,
    questions: [{..., results: [...]}]}]}``.
    """
    return {
        "study": report.study,
        "phase": 3,
        "search_method": report.search_method or None,
        "llm": report.llm or None,
        "version": report.version,
        "settings": {
            "resamples": report.settings.resamples,
            "seed": report.settings.seed,
            "confidence": report.settings.confidence,
            "interval": "percentile bootstrap over participants",
            "usability_interval": "Student's t over participants, cut at 0 and 100",
        },
        "cannot_tell": report.cannot_tell,
        "judged_until": moment_json(report.judged_until),
        "suggested": [moment_json(when) for when in report.suggested],
        "counts": {
            "participants": len(report.taking_part),
            "questions": report.n_questions,
            "failed": report.n_failed,
            "unreadable": report.n_unreadable,
            "declined": report.declined,
            "withdrawn": report.withdrawn,
        },
        "figures": _figures(report.figures),
        "usability": {
            "n": report.usability.n,
            "mean": report.usability.mean,
            "interval": interval_json(report.usability.interval),
            "adjective": report.usability.adjective,
            "grade": report.usability.grade,
        },
        "categories": [
            {
                "category": line.category or None,
                "questions": line.n_questions,
                "participants": line.n_people,
                "figures": _figures(line.figures),
            }
            for line in report.categories
        ],
        "participants": [_person(person) for person in report.people],
    }


def _person(person: Person) -> dict[str, Any]:
    score = person.usability_score
    return {
        "participant": person.pseudonym,
        "number": person.number,
        "stage": str(person.stage),
        "consent_version": person.consent,
        "agreed_at": moment_json(person.agreed_at),
        "finished_at": moment_json(person.finished_at),
        "figures": {
            name: {"value": found.value, "n": found.n} for name, found in person.figures.items()
        },
        "usability": {
            "answers": list(person.usability),
            "score": None if isinstance(score, Undefined) else score,
        },
        "comments": [
            {"comment": said.name, "text": said.text, "themes": list(said.themes)}
            for said in person.comments
        ],
        "questions": [_answer(answer) for answer in person.answers],
    }


def _answer(answer: OwnAnswer) -> dict[str, Any]:
    found = answer.row.summary if answer.row else None
    return {
        "number": answer.number,
        "question": answer.question,
        "category": answer.category or None,
        "conversation": answer.conversation,
        "state": answer.state,
        "asked_at": moment_json(answer.asked_at),
        "answered_at": moment_json(answer.answered_at),
        "response": answer.response,
        "answer_state": found.state.value if found else None,
        "empty_outcome": found.empty_outcome.value if found and found.empty_outcome else None,
        "rated": answer.is_rated if answer.asks_for_a_rating else None,
        "precision_at_5": found.precision_at_5.value if found else None,
        "overall_precision": found.overall_precision.value if found else None,
        "reciprocal_rank": found.reciprocal_rank.value if found else None,
        "success": whole(found.success.value) if found else None,
        "response_quality": whole(found.response_quality.value) if found else None,
        "notes": answer.row.notes if answer.row else "",
        "results": [
            {
                "rank": shown.rank,
                "title": shown.card.title,
                "url": shown.card.url,
                "price": shown.card.price,
                "location": shown.card.location,
                "relevance": VERDICTS[shown.verdict],
            }
            for shown in answer.cards
        ],
    }


def _figures(found: Mapping[str, ClusteredMean]) -> dict[str, Any]:
    return {name: _estimate(mean) for name, mean in found.items()}


def _estimate(found: ClusteredMean) -> dict[str, Any]:
    return {
        "value": found.value,
        "interval": interval_json(found.interval),
        "participants": found.clusters,
        "questions": found.n,
    }
