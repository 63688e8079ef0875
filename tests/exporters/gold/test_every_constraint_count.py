"""Constraints come out within their bounds and in their order, whatever the files say."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from webapp.exporters.gold.constraint_reports import constraints_json
from webapp.metrics.gold.constraint_rules import CardFacts, Constraints, Outcome, Range, check_card
from webapp.metrics.gold.constraints import Decisions, Expected, GoldQuestion, MissingRule, evaluate

small = st.integers(0, 4).map(Fraction)
ranges = st.builds(Range, minimum=st.none() | small, maximum=st.none() | small)
asked = st.builds(
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
        constraints=asked,
        manual=st.booleans(),
    ),
    max_size=4,
    unique_by=lambda question: question.query_id,
)
results = st.dictionaries(st.integers(1, 5), st.lists(facts, max_size=4))
decided = st.builds(
    Decisions,
    cards=st.dictionaries(st.tuples(st.integers(1, 5), st.integers(0, 3)), st.booleans()),
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


@given(golds, results, thresholds)
def test_leaving_missing_out_never_lowers_a_card(
    gold: list[GoldQuestion], cards: dict[int, list[CardFacts]], threshold: Fraction
) -> None:
    counted = evaluate(gold, cards, threshold=threshold)
    left_out = evaluate(gold, cards, threshold=threshold, missing=MissingRule.LEFT_OUT)
    for one, other in zip(counted.queries, left_out.queries, strict=True):
        for card, same in zip(one.cards, other.cards, strict=True):
            assert card.cpr is not None
            assert same.cpr is None or same.cpr >= card.cpr


@given(golds, results, thresholds, thresholds)
def test_a_higher_threshold_never_meets_more(
    gold: list[GoldQuestion],
    cards: dict[int, list[CardFacts]],
    one: Fraction,
    other: Fraction,
) -> None:
    low, high = sorted([one, other])
    lenient = evaluate(gold, cards, threshold=low).totals.matrix
    strict = evaluate(gold, cards, threshold=high).totals.matrix

    assert strict.tp <= lenient.tp
    assert strict.fp <= lenient.fp


@given(asked, facts)
def test_every_constraint_has_an_outcome_and_na_is_what_is_not_asked(
    constraints: Constraints, card: CardFacts
) -> None:
    for check in check_card(constraints, card):
        assert (check.outcome is Outcome.NA) == (getattr(constraints, check.constraint) is None)
        assert check.automatic is check.outcome
