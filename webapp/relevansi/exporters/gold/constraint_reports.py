"""Runs checked under V2: compared for the page and every report, and as files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from msgspec.structs import asdict

from relevansi import notation
from relevansi.exporters.comparisons import words
from relevansi.exporters.comparisons.differences import (
    conclusion,
    difference_json,
    difference_table,
    signed_rank_table,
    signed_ranks_json,
)
from relevansi.exporters.frame.csv_cells import Value, csv_bytes
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.tables import Cell, Column, Section, Table, numbers, stacked, word
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.gold.constraint_rules import CONSTRAINT_LABELS, CONSTRAINT_MEASURES
from relevansi.metrics.gold.constraints import (
    CARD,
    PART,
    CheckedContender,
    ConstraintComparison,
    ConstraintConfusion,
    ConstraintFigure,
    ConstraintReport,
    Decided,
    MissingRule,
    QueryEvaluation,
    headline_figures,
)
from relevansi.records import CONSTRAINTS

CONFUSION_LABELS = {
    ConstraintConfusion.TP: mark("TP: has data, met"),
    ConstraintConfusion.FN: mark("FN: has data, not met"),
    ConstraintConfusion.FP: mark("FP: no data, met"),
    ConstraintConfusion.TN: mark("TN: no data, not met"),
}
MATRIX_FIGURES = ("precision", "recall", "f1_score", "accuracy")


def section(comparison: ConstraintComparison) -> Section:
    """Return the runs under the gold questions: their gaps, figures, matrices and differences."""
    basis = _basis(comparison)
    sentences: list[str] = []
    for contender in comparison.contenders:
        sentences += _missing_parts(contender)
    for difference in comparison.differences:
        if not difference.false_negatives_at_zero:
            sentences.append(conclusion(difference))
    pairing = gettext(
        "Mean CPR by question is paired over the questions to which both runs gave cards; with no "
        "results at 0, a question that has data counts as 0 for a run without cards. Query success "
        "is paired over all questions that both runs were asked."
    )
    tables = (
        _figures(comparison, basis),
        _matrices(comparison, basis),
        difference_table("constraint_differences", comparison.differences, (pairing, basis)),
        signed_rank_table("constraint_signed_rank", comparison.differences, (basis,)),
    )
    return Section(PART, gettext("Constraints (V2)"), tuple(sentences), tables)


def part_json(comparison: ConstraintComparison) -> dict[str, Any]:
    """Return the comparison as plain values.

    ``{gold, version, threshold_t, runs: [{id, name, not_run, pending, decided, from_text, ...}],
    differences, signed_rank}``; the rest of a run is what ``score constraints`` prints.
    """
    return {
        **fields(comparison, "gold", "version"),
        "threshold_t": float(comparison.threshold),
        "runs": [
            {
                "id": contender.run,
                "name": contender.name,
                "not_run": list(contender.not_run),
                "pending": {str(query_id): n for query_id, n in contender.pending.items()},
                **fields(contender, "decided", "from_text"),
                **constraints_json(contender.report),
            }
            for contender in comparison.contenders
        ],
        "differences": [difference_json(difference) for difference in comparison.differences],
        "signed_rank": signed_ranks_json(comparison.differences),
    }


def _basis(comparison: ConstraintComparison) -> str:
    return gettext(
        "Gold questions: %(name)s, version %(n)s. T = %(t)s. What is asked but not on a card "
        "(MISSING) counts as not passed.",
        name=comparison.gold,
        n=comparison.version,
        t=notation.number(float(comparison.threshold)),
    )


def _figures(comparison: ConstraintComparison, basis: str) -> Table:
    totals = [contender.report.totals for contender in comparison.contenders]
    rows = [
        (word(gettext("Total questions")), *(_count(each.n_queries) for each in totals)),
        (word(gettext("Total properties")), *(_count(each.n_properties) for each in totals)),
    ]
    headlines = [headline_figures(contender.report) for contender in comparison.contenders]
    for name in headlines[0]:
        label = gettext(CONSTRAINT_MEASURES[name].label)
        rows.append((word(label), *(_figure(figures[name]) for figures in headlines)))
    accuracy = gettext(CONSTRAINT_MEASURES["pca"].label)
    for name, label in CONSTRAINT_LABELS.items():
        heading = word(f"{accuracy}: {gettext(label)}")
        rows.append((heading, *(_figure(each.pca[name]) for each in totals)))
    note = gettext("n counts cards for Mean CPR, strict success and PCA, else questions.")
    runs = (numbers(each.name, gettext("Value"), "n") for each in comparison.contenders)
    columns = (Column(gettext("Figure")), *runs)
    title = gettext("Figures under the gold questions: value, n")
    return Table("constraint_figures", title, columns, tuple(rows), (note, basis))


def _matrices(comparison: ConstraintComparison, basis: str) -> Table:
    contenders = comparison.contenders
    rows = (
        (word(gettext(label)), *(_questions_in(contender, cell) for contender in contenders))
        for cell, label in CONFUSION_LABELS.items()
    )
    parts = (gettext("Questions"), gettext("No."))
    columns = (Column(gettext("Cell")), *(Column(each.name, parts=parts) for each in contenders))
    notes = (gettext("Met: results with a mean CPR of at least T."), basis)
    title = gettext("Confusion matrices: questions and their numbers")
    return Table("constraint_matrices", title, columns, tuple(rows), notes)


def _missing_parts(contender: CheckedContender) -> Iterator[str]:
    """Yield a sentence for what a run lacks: a list, questions, decisions; and what was decided."""
    name = contender.name
    if contender.from_text:
        yield gettext(
            "No file of %(name)s lists its properties: its cards are checked by the text "
            "of the answers, which never states the property type.",
            name=name,
        )
    if contender.not_run:
        yield gettext(
            "%(name)s was not asked %(questions)s: they count as without results in its figures "
            "and are in no pair.",
            name=name,
            questions=words.positions(contender.not_run),
        )
    if contender.pending:
        yield gettext(
            "%(name)s waits for decisions by hand on the cards of %(questions)s: until "
            "then they count as not passed.",
            name=name,
            questions=words.positions(tuple(contender.pending)),
        )
    if contender.decided:
        yield ngettext(
            "%(n)s decision by hand is in the figures of %(name)s.",
            "%(n)s decisions by hand are in the figures of %(name)s.",
            contender.decided,
            name=name,
        )


def _count(n: int) -> Cell:
    return Cell(notation.number(n), (n, None))


def _figure(figure: ConstraintFigure) -> Cell:
    lines = (notation.four(figure.value), f"n = {notation.number(figure.n)}")
    return stacked(lines, (_number(figure.value), figure.n))


def _questions_in(contender: CheckedContender, cell: ConstraintConfusion) -> Cell:
    """Return how many questions of a run are in a cell of its matrix, and their numbers."""
    queries = contender.report.queries
    query_ids = [query.question.query_id for query in queries if query.confusion is cell]
    n, listed = notation.number(len(query_ids)), ", ".join(map(str, query_ids))
    text = f"{n} ({listed})" if query_ids else n
    return Cell(text, (len(query_ids), listed), (n, listed))


def constraints_json(report: ConstraintReport) -> dict[str, Any]:
    """Return the evaluation as one flat object; ``missing`` only if MISSING is left out.

    Totals are rounded to 4 decimals. A question without cards has mean_cpr 0, as the
    recorded evaluations have it: the one place where undefined is written 0.
    """
    totals = report.totals
    rule = {} if report.missing is MissingRule.COUNTED else {"missing": str(report.missing)}
    return {
        "total_queries": totals.n_queries,
        "total_properties": totals.n_properties,
        "threshold_t": float(report.threshold),
        **rule,
        "pca": {name: _rounded(figure.value) for name, figure in totals.pca.items()},
        "mean_cpr": _rounded(totals.mean_cpr),
        "strict_success_ratio": _rounded(totals.strict_success_ratio),
        "query_success_rate": _rounded(totals.success_rate),
        "confusion_matrix": asdict(totals.matrix)
        | {name: _rounded(getattr(totals.matrix, name)) for name in MATRIX_FIGURES},
        "category_metrics": {
            name: {
                "total_queries": part.n_queries,
                "successful_queries": part.n_successful,
                "success_rate": _rounded(part.success_rate),
                "total_properties": part.n_properties,
                "mean_cpr": _rounded(part.mean_cpr),
            }
            for name, part in report.categories.items()
        },
        "evaluations": [
            _evaluation(query) | ({} if query.cards else {"mean_cpr": 0.0})
            for query in report.queries
        ],
    }


def _evaluation(query: QueryEvaluation) -> dict[str, Any]:
    """Return the outcome of one question as plain values."""
    return {
        "query_id": query.question.query_id,
        "question": query.question.text,
        "category": query.question.category,
        "expected_result": str(query.question.expected),
        "has_results": bool(query.cards),
        "num_properties": len(query.cards),
        "mean_cpr": _number(query.mean_cpr),
        **fields(query, "strict_success", "is_success"),
        "confusion_category": str(query.confusion),
    }


def _rounded(value: Fraction | None) -> float | None:
    return None if value is None else float(round(value, 4))


QUESTION_COLUMNS = (
    *("query_id", "question", "category", "expected_result", "num_properties"),
    *("mean_cpr", "strict_success", "is_success", "confusion_category"),
)
CARD_COLUMNS = (
    *("query_id", "card", "name", "slug", "cpr", "manual_result", "comment"),
    *(*CONSTRAINTS, *(f"{name}_automatic" for name in CONSTRAINTS), "distance_km"),
)


def questions_csv(report: ConstraintReport) -> bytes:
    """Return a line for each question: what it expects, its pass rate and its outcome."""
    evaluations = map(_evaluation, report.queries)
    rows = [[evaluation[name] for name in QUESTION_COLUMNS] for evaluation in evaluations]
    return csv_bytes([QUESTION_COLUMNS, *rows])


def cards_csv(report: ConstraintReport) -> bytes:
    """Return a line for each card: its outcomes, with and without people's decisions."""
    rows: list[tuple[Value, ...]] = []
    for query in report.queries:
        for index, card in enumerate(query.cards):
            passed = {True: "pass", False: "fail", None: "pending" if card.pending else None}
            # Only the constraint on the place measures a distance.
            measured = [check.distance_km for check in card.checks]
            distances = [km for km in measured if km is not None]
            rows.append(
                (
                    *(query.question.query_id, index, card.card.name, card.card.slug),
                    *(_number(card.cpr), passed[card.passed], card.comment),
                    *(str(check.outcome) for check in card.checks),
                    *(str(check.automatic) for check in card.checks),
                    distances[0] if distances else None,
                )
            )
    return csv_bytes([CARD_COLUMNS, *rows])


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def manual_json(decided: Iterable[Decided], *, timestamp: str) -> dict[str, Any]:
    """Return the file of decisions; reasons of overrides have a key of their own."""
    # By the id of the query and the number of its card, both as text: keys of JSON.
    overrides: dict[str, dict[str, dict[str, str]]] = {}
    reasons: dict[str, dict[str, dict[str, str]]] = {}
    cards: dict[str, dict[str, dict[str, str]]] = {}
    in_order = sorted(decided, key=lambda decision: decision[:3])
    for query_id, index, subject, outcome, reason in in_order:
        query, card = str(query_id), str(index)
        if subject == CARD:
            verdict = {"result": outcome or "pending", "comment": reason}
            cards.setdefault(query, {})[card] = verdict
        elif outcome is not None:
            overrides.setdefault(query, {}).setdefault(card, {})[subject] = outcome
            reasons.setdefault(query, {}).setdefault(card, {})[subject] = reason
    return {
        "timestamp": timestamp,
        "source_report": "Relevansi",
        "summary": {
            "constraint_overrides_count": sum(map(len, overrides.values())),
            "manual_evaluations_count": sum(map(len, cards.values())),
        },
        "constraint_overrides": overrides,
        "override_reasons": reasons,
        "manual_evaluations": cards,
    }
