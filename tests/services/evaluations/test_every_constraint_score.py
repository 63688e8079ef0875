from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from relevansi.exporters.gold.constraint_reports import constraints_json
from relevansi.metrics.gold.constraints import MissingRule
from relevansi.services.evaluations import scoring
from relevansi.services.evaluations.scoring import NamedBytes
from tests.metrics.gold import constraint_oracle

TYPES = st.sampled_from(["rumah", "House", "ruko", "land", "Tanah", "villa", "apartment"])
OFFERS = st.sampled_from(["dijual", "jual", "Sale", "sewa", "disewa", "rent", "lelang"])
WORDS = st.sampled_from(["", "Cemara", "Jl. Cemara Asri 5", "Medan Timur", "Binjai", "asri"])
POINTS = st.sampled_from([(3.60, 98.69), (3.61, 98.70), (3.59, 98.68), (-6.2, 106.8), (0, 98.7)])
MILLIONS = st.sampled_from([0, 500, 900, 990, 999, 1000, 1001, 1010, 1100, 1200, 1999, 2000])
PRICES = MILLIONS.map(lambda n: n * 1_000_000)
TOLERANCES = st.sampled_from([0, 0.01, 0.1, 0.2])
SMALL = st.integers(0, 5)
THRESHOLDS = st.sampled_from(["0", "0.2", "0.25", "0.5", "0.6", "0.75", "0.8", "1"])


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects in which every field may be there or not."""
    return st.fixed_dictionaries({}, optional=fields)


@st.composite
def places(draw: st.DrawFn) -> dict[str, Any]:
    result = draw(
        some(keywords=st.lists(WORDS, max_size=2), radius_km=st.sampled_from([0.5, 3, 9]))
    )
    if draw(st.booleans()):
        result["lat"], result["lng"] = draw(POINTS)
    return result


@st.composite
def prices(draw: st.DrawFn) -> dict[str, Any]:
    return draw(some(min=PRICES, max=PRICES, target=PRICES, tolerance=TOLERANCES))


@st.composite
def facts(draw: st.DrawFn, *, from_api: bool = False) -> dict[str, Any]:
    """Random facts of a card; the listing itself has its price as digits, and may have null."""
    result = draw(
        some(
            name=WORDS,
            location=WORDS,
            address=WORDS,
            property_type=TYPES | st.none(),
            listing_type=OFFERS | st.none(),
            price=(PRICES.map(str) if from_api else PRICES) | st.none(),
            bedrooms=SMALL | st.none(),
            floors=SMALL | st.none(),
        )
    )
    if draw(st.booleans()):
        result["latitude"], result["longitude"] = draw(POINTS | st.just((0, 0)))
    return result


@st.composite
def cards(draw: st.DrawFn) -> dict[str, Any]:
    card = draw(facts())
    if draw(st.booleans()):
        card["verified"] = draw(st.booleans())
        card["api_data"] = draw(facts(from_api=True) | st.none())
    return card


NUMBERS = some(min=SMALL, max=SMALL, exact=SMALL)
ASKED = some(
    property_type=TYPES,
    listing_type=OFFERS,
    location=places(),
    price=prices(),
    bedrooms=NUMBERS,
    floors=NUMBERS,
)
IDS = st.integers(1, 5)


@st.composite
def golds(draw: st.DrawFn) -> dict[str, Any]:
    questions = [
        {
            "id": number,
            "question": f"Q{number}?",
            "category": draw(st.sampled_from(["x", "y", "z"])),
            "expected_result": draw(st.sampled_from(["has_data", "has_data", "no_data"])),
            "constraints": draw(ASKED),
        }
        | draw(some(evaluation_mode=st.sampled_from(["auto", "auto", "manual"])))
        for number in draw(st.lists(IDS, min_size=1, unique=True))
    ]
    top = draw(some(threshold_t=THRESHOLDS.map(float), price_tolerance=TOLERANCES))
    return top | {"questions": questions}


RESULTS = st.dictionaries(IDS, st.lists(cards(), max_size=4)).map(
    lambda cards: {"results": [{"query_id": n, "properties": p} for n, p in cards.items()]}
)
PLACES = st.sampled_from("0123")
OVERRIDES = st.dictionaries(
    st.sampled_from(constraint_oracle.NAMES), st.sampled_from(["pass", "fail", "na"])
)
SAID = st.fixed_dictionaries({"result": st.sampled_from(["pass", "fail", "pending"])})
MANUALS = some(
    constraint_overrides=st.dictionaries(IDS.map(str), st.dictionaries(PLACES, OVERRIDES)),
    manual_evaluations=st.dictionaries(IDS.map(str), st.dictionaries(PLACES, SAID)),
).map(lambda manual: manual or {"manual_evaluations": {}})


def ours(
    gold: dict[str, Any],
    results: dict[str, Any],
    manual: dict[str, Any] | None,
    threshold: str | None,
    *,
    left_out: bool,
) -> dict[str, Any]:
    """The figures as the product makes them of the files."""
    files = [
        None if document is None else NamedBytes(name, json.dumps(document).encode())
        for name, document in (("g.json", gold), ("r.json", results), ("m.json", manual))
    ]
    report, _ = scoring.constraint_scoring(
        *files,  # type: ignore[arg-type]
        threshold=None if threshold is None else Fraction(threshold),
        missing=MissingRule.LEFT_OUT if left_out else MissingRule.COUNTED,
    )
    return constraints_json(report)


@given(golds(), RESULTS, st.none() | MANUALS, st.none() | THRESHOLDS, st.booleans())
def test_every_figure_is_that_of_the_second_implementation(
    gold: dict[str, Any],
    results: dict[str, Any],
    manual: dict[str, Any] | None,
    threshold: str | None,
    left_out: bool,
) -> None:
    theirs = constraint_oracle.report(gold, results, manual, threshold, left_out=left_out)

    assert ours(gold, results, manual, threshold, left_out=left_out) == theirs


def test_a_question_of_which_no_card_has_a_pass_rate_has_no_mean_and_one_without_cards_0() -> None:
    """With MISSING left out, a card without any of the facts that are asked is in no mean."""
    question = {"question": "ada?", "category": "x", "expected_result": "has_data"}
    gold = {
        "questions": [
            {"id": number, "constraints": {"bedrooms": {"min": 3}}, **question} for number in (1, 2)
        ]
    }
    results = {"results": [{"query_id": 1, "properties": [{"name": "rumah"}]}]}

    result = ours(gold, results, None, None, left_out=True)["evaluations"]

    assert [row["mean_cpr"] for row in result] == [None, 0]
