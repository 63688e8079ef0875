"""The summary of phase 3 as one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from relevansi.exporters.frame.json_files import fields, moment_json, whole_if_exact
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.metrics.phase_3.user_study import ClusteredMean, OwnAnswer, Person, UserStudyReport
from relevansi.records import BINARY


def user_study_json(report: UserStudyReport) -> dict[str, Any]:
    """Return `report` as plain values.

    ``{study, phase, search_method, llm, version, settings, cannot_tell, judged_until, suggested,
    counts, figures: {name: {value, interval, participants, questions}}, usability,
    categories: [...], participants: [{participant, stage, consent_version, ..., figures,
    usability, comments, questions: [{..., results: [...]}]}]}``.
    """
    return {
        "study": report.study,
        "phase": 3,
        "search_method": report.search_method or None,
        "llm": report.llm or None,
        "version": report.version,
        "settings": {
            "confidence": CONFIDENCE,
            "interval": "Wilson's score interval with the variance between participants",
            "usability_interval": "Student's t over participants, cut at 0 and 100",
        },
        "cannot_tell": report.cannot_tell,
        "judged_until": moment_json(report.judged_until),
        "suggested": [moment_json(when) for when in report.suggested],
        "counts": {
            "participants": len(report.taking_part),
            "questions": report.n_questions,
            "failed": report.totals.n_failed,
            "unreadable": report.totals.n_unreadable,
            "withdrawn": report.withdrawn,
        },
        "figures": _figures(report.figures),
        "usability": asdict(report.usability) | {"interval": asdict(report.usability.interval)},
        "categories": [
            {
                "category": line.category or None,
                "questions": line.n_questions,
                "participants": line.n_people,
                "figures": _figures(line.figures),
            }
            for line in report.categories
        ],
        "participants": [
            {
                **participant_json(person),
                "figures": {
                    name: fields(figure, "value", "n") for name, figure in person.figures.items()
                },
                "usability": {"answers": list(person.usability), "score": person.usability_score},
                "comments": [
                    {"comment": comment.name, **fields(comment, "text", "themes")}
                    for comment in person.comments
                ],
                "questions": [
                    answer_json(answer) | {"results": results_json(answer)}
                    for answer in person.answers
                ],
            }
            for person in report.people
        ],
    }


def participant_json(person: Person) -> dict[str, Any]:
    return {
        "participant": person.pseudonym,
        "number": person.number,
        "stage": str(person.stage),
        "consent_version": person.consent,
        "agreed_at": moment_json(person.agreed_at),
        "finished_at": moment_json(person.finished_at),
    }


def answer_json(answer: OwnAnswer) -> dict[str, Any]:
    summary = answer.row.summary if answer.row else None
    figures = {name: span.value for name, span in summary.figures.items()} if summary else {}
    return {
        **fields(answer, "number", "question"),
        "category": answer.category or None,
        **fields(answer, "conversation", "state"),
        "asked_at": moment_json(answer.asked_at),
        "answered_at": moment_json(answer.answered_at),
        "response": answer.response,
        "answer_state": summary.state.value if summary else None,
        "empty_outcome": summary.empty_outcome.value if summary and summary.empty_outcome else None,
        "rated": answer.is_rated if answer.asks_for_a_rating else None,
        "precision_at_5": figures.get("mean_precision_at_5"),
        "overall_precision": figures.get("mean_overall_precision"),
        "reciprocal_rank": figures.get("mrr"),
        "success": whole_if_exact(figures.get("success_rate")),
        "response_quality": whole_if_exact(figures.get("mean_response_quality")),
        "notes": answer.row.notes if answer.row else "",
    }


def results_json(answer: OwnAnswer) -> list[dict[str, Any]]:
    return [
        {
            "rank": rank,
            **fields(card, "title", "url", "price", "location"),
            "relevance": BINARY.number(verdict),
        }
        for rank, card, verdict in answer.cards
    ]


def _figures(means: Mapping[str, ClusteredMean]) -> dict[str, Any]:
    return {
        name: {
            "value": mean.value,
            "interval": asdict(mean.interval),
            "participants": mean.clusters,
            "questions": mean.n,
        }
        for name, mean in means.items()
    }
