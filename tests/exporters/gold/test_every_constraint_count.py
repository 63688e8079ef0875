from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from relevansi.exporters.comparisons import files as comparison_files
from relevansi.exporters.comparisons.document import Part
from relevansi.exporters.gold import constraint_reports
from relevansi.exporters.gold.constraint_reports import constraints_json
from relevansi.i18n import speaking
from relevansi.metrics.comparisons.comparisons import ComparisonReport
from relevansi.metrics.gold.constraint_rules import (
    CONSTRAINT_MEASURES,
    CardFacts,
    Constraints,
    Range,
)
from relevansi.metrics.gold.constraints import (
    PART,
    Decisions,
    Expected,
    GoldQuestion,
    MissingRule,
    compare_constraints,
    evaluate,
)
from tests.exporters.comparisons.comparisons import DAY, three_runs
from tests.exporters.explained import unexplained
from tests.exporters.one_language import foreign, text_of
from tests.metrics.gold.test_constraint_comparison import DEAR, GOOD, LAND, contender

small = st.integers(0, 4).map(Fraction)
ranges = st.builds(Range, min=st.none() | small, max=st.none() | small)
constraint_rules = st.builds(
    Constraints,
    property_type=st.none() | st.sampled_from(["rumah", "house", "land"]),
    bedrooms=st.none() | ranges,
    price=st.none() | ranges,
)
facts = st.builds(
    CardFacts,
    property_type=st.none() | st.sampled_from(["rumah", "House", "tanah"]),
    bedrooms=st.none() | small,
    price=st.none() | small,
)
golds = st.lists(
    st.builds(
        GoldQuestion,
        query_id=st.integers(1, 5),
        text=st.just("?"),
        category=st.sampled_from(["x", "y"]),
        expected=st.sampled_from(Expected),
        constraints=constraint_rules,
        manual=st.booleans(),
    ),
    max_size=4,
    unique_by=lambda question: question.query_id,
)
results = st.dictionaries(st.integers(1, 5), st.lists(facts, max_size=4))
decided = st.builds(
    Decisions, cards=st.dictionaries(st.tuples(st.integers(1, 5), st.integers(0, 3)), st.booleans())
)
thresholds = st.fractions(0, 1, max_denominator=10)


@given(golds, results, decided, thresholds, st.sampled_from(MissingRule))
def test_the_counts_of_the_matrix_are_the_questions_and_shares_stay_within_1(
    gold: list[GoldQuestion],
    cards: dict[int, list[CardFacts]],
    decisions: Decisions,
    threshold: Fraction,
    missing: MissingRule,
) -> None:
    report = evaluate(gold, cards, threshold=threshold, decisions=decisions, missing=missing)
    document = constraints_json(report)
    matrix = document["confusion_matrix"]

    assert matrix["tp"] + matrix["fp"] + matrix["tn"] + matrix["fn"] == len(gold)
    shares = [document[name] for name in ("mean_cpr", "strict_success_ratio")]
    shares += [*document["pca"].values(), matrix["precision"], matrix["recall"]]
    assert all(share is None or 0 <= share <= 1 for share in shares)
    parts = document["category_metrics"].values()
    assert sum(part["total_properties"] for part in parts) == document["total_properties"]


@given(golds, results, thresholds, thresholds)
def test_leaving_missing_out_never_lowers_a_card_and_a_higher_threshold_never_meets_more(
    gold: list[GoldQuestion], cards: dict[int, list[CardFacts]], first: Fraction, second: Fraction
) -> None:
    low, high = sorted([first, second])
    lenient = evaluate(gold, cards, threshold=low)
    strict = evaluate(gold, cards, threshold=high).totals.matrix
    left_out = evaluate(gold, cards, threshold=low, missing=MissingRule.LEFT_OUT)

    assert strict.tp <= lenient.totals.matrix.tp
    assert strict.fp <= lenient.totals.matrix.fp
    for query, same in zip(lenient.queries, left_out.queries, strict=True):
        for card, again in zip(query.cards, same.cards, strict=True):
            assert card.cpr is not None
            assert again.cpr is None or again.cpr >= card.cpr


def _checked_runs() -> ComparisonReport:
    """Return a comparison under V2 too, with a pending card and a run without its own list."""
    runs = (
        contender("a", (GOOD, DEAR), (GOOD,), (), (GOOD,)),
        contender("b", (LAND,), (), (LAND,), (), not_run=(4,)),
        replace(contender("c", (DEAR,), (LAND,), (), (GOOD,)), from_text=True),
    )
    compared = compare_constraints(runs, gold="g", version=1, threshold=Fraction(1, 2))
    part = Part(PART, compared, constraint_reports.section, constraint_reports.part_json)
    return replace(three_runs(), parts={PART: part})


@pytest.mark.parametrize("language", ["id", "en"])
def test_a_report_is_in_one_language(language: str) -> None:
    with speaking(language):
        report = comparison_files.FORMATS["html"].render(_checked_runs(), DAY)

        assert foreign(text_of(report), language) == []
    assert unexplained(CONSTRAINT_MEASURES.values(), language) == []
