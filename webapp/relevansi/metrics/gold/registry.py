"""The meaning of every figure of the constraints, and which to read together.

All texts but the citations are English message ids, as in ``metrics.judging.registry``.
"""

from __future__ import annotations

from relevansi.i18n import mark
from relevansi.metrics.judging.registry import (
    MANNING,
    MeasureGroup,
    ReadTogether,
    by_name,
    explained,
)

CONSTRAINT_METHOD = "Evaluation V2: constraints and a confusion matrix"
ALL_CARDS = mark("all cards of all questions together")
ALL_QUESTIONS_OF_GOLD = mark("all questions of the gold file")
NO_CARDS = mark("No value without cards.")

CONSTRAINT_LABELS = {
    "property_type": mark("Property type"),
    "listing_type": mark("Sale or rent"),
    "location": mark("Location"),
    "price": mark("Price"),
    "bedrooms": mark("Bedrooms"),
    "floors": mark("Floors"),
}
"""The label of each constraint, as a message id."""

CONSTRAINT_MEASURES = by_name(
    explained(
        "mean_cpr",
        mark("Mean CPR"),
        mark("How much of what the questions ask the cards meet: the mean constraint pass rate."),
        mark("mean over cards of PASS / constraints that are asked"),
        ALL_CARDS,
        mark("A card of which nothing is asked has 1."),
        mark("What is asked but not on the card (MISSING) counts as not passed, or is left out."),
        mark("A card judged by hand has 1 or 0; one that waits for its judgment has 0."),
        NO_CARDS,
        source=CONSTRAINT_METHOD,
    ),
    explained(
        "strict_success_ratio",
        mark("Strict success ratio"),
        mark("How many cards meet everything that is asked."),
        mark("cards with a constraint pass rate of 1 / cards"),
        ALL_CARDS,
        NO_CARDS,
        source=CONSTRAINT_METHOD,
    ),
    explained(
        "pca",
        mark("Per-constraint accuracy (PCA)"),
        mark("How often each constraint is met where it is asked."),
        mark("PASS / all cards on which the constraint is asked"),
        mark("cards on which the constraint is asked"),
        mark("No value for a constraint that no question asks."),
        source=CONSTRAINT_METHOD,
    ),
    explained(
        "query_success_rate",
        mark("Query success rate"),
        mark("How many questions were answered as they should be."),
        mark("questions with data: results with a mean pass rate of at least T; without: none"),
        ALL_QUESTIONS_OF_GOLD,
        mark("No success while a card of the question waits for its judgment by hand."),
        mark("A question without a result in the file is empty."),
        source=CONSTRAINT_METHOD,
    ),
    explained(
        "precision",
        mark("Precision (questions)"),
        mark("Of the questions that met the threshold, how many should have."),
        "TP / (TP + FP)",
        mark("questions that have results with a mean pass rate of at least T"),
        mark("No value when no question met the threshold."),
        source=MANNING,
    ),
    explained(
        "recall",
        mark("Recall (questions)"),
        mark("Of the questions that have data, how many met the threshold."),
        "TP / (TP + FN)",
        mark("questions that should bring data"),
        mark("No value when no question should bring data."),
        source=MANNING,
    ),
    explained(
        "f1_score",
        mark("F1 (questions)"),
        mark("Precision and recall of the questions in one number."),
        "2 TP / (2 TP + FP + FN)",
        mark("questions but the true negatives"),
        mark("0 where questions are wrong and none is right."),
        source=MANNING,
    ),
    explained(
        "accuracy",
        mark("Accuracy (questions)"),
        mark("How many questions came out as expected."),
        mark("(TP + TN) / all questions"),
        ALL_QUESTIONS_OF_GOLD,
        mark(
            "A question without data that brings bad results is a true negative, but not a success."
        ),
        source=MANNING,
    ),
)

CONSTRAINT_ADVICE = (
    ReadTogether(
        ("mean_cpr", "strict_success_ratio"),
        mark("high and low"),
        mark("most constraints are met, but one of them fails often: see accuracy per constraint."),
    ),
    ReadTogether(
        ("accuracy", "query_success_rate"),
        mark("high and low"),
        mark("questions without data brought results, or cards still wait for their judgment."),
    ),
)

GROUPS = (
    MeasureGroup(
        "constraints", mark("Constraints"), CONSTRAINT_MEASURES, advice=CONSTRAINT_ADVICE, place=8
    ),
)
