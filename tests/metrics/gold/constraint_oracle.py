"""A second way to the figures of constraints: one table of (question, card, constraint), grouped.

Written from the method alone, with nothing of ``relevansi``: JSON documents in, the flat object
out.
Money is compared as decimals, shares are whole numbers of sixtieths (a card is asked one to six
things), the distance is a chord through the globe, and pandas does the sums.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any

import pandas as pd

NAMES = ["property_type", "listing_type", "location", "price", "bedrooms", "floors"]
SAME = [
    {"rumah", "house"},
    {"apartemen", "apartment"},
    {"ruko", "shophouse"},
    {"tanah", "land"},
    {"gudang", "warehouse"},
    {"kantor", "office"},
]
SALE = [{"dijual", "jual", "sale"}, {"disewa", "sewa", "rent"}]
SIXTIETHS = 60
EARTH_KM = 6371


def report(
    gold: dict[str, Any],
    results: dict[str, Any],
    manual: dict[str, Any] | None = None,
    threshold: str | None = None,
    *,
    left_out: bool = False,
) -> dict[str, Any]:
    """The flat object of the evaluation; `threshold` and the gold file's as they are written."""
    at_least = Decimal(threshold if threshold is not None else repr(gold.get("threshold_t", 0.6)))
    checks, cards = tables(gold, results, manual or {}, left_out=left_out)
    questions = summed_up(gold, cards, at_least)
    applicable = checks[checks.counts]
    document = {
        "total_queries": len(questions),
        "total_properties": len(cards),
        "threshold_t": float(at_least),
        "pca": {
            name: share(int(part.passed.sum()), len(part))
            for name in NAMES
            for part in [applicable[applicable.constraint == name]]
        },
        "mean_cpr": mean_of(cards),
        "strict_success_ratio": share(int((cards.sixtieths == SIXTIETHS).sum()), len(cards)),
        "query_success_rate": share(int(questions.is_success.sum()), len(questions)),
        "confusion_matrix": matrix(questions),
        "category_metrics": {
            name: category(questions[questions.category == name], cards)
            for name in questions.category.drop_duplicates()
        },
        "evaluations": [evaluation(dict(row)) for _, row in questions.iterrows()],
    }
    if left_out:
        document["missing"] = "left-out"
    return document


# --- One row for each thing asked of each card -----------------------------------------


def tables(
    gold: dict[str, Any], results: dict[str, Any], manual: dict[str, Any], *, left_out: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every constraint of every card, and every card with its pass rate in sixtieths."""
    listed = {entry["query_id"]: entry.get("properties") or [] for entry in results["results"]}
    checks, cards = [], []
    for question in gold["questions"]:
        query, by_hand = question["id"], question.get("evaluation_mode") == "manual"
        for place, raw in enumerate(listed.get(query, [])):
            facts = facts_of(raw)
            overrides = lookup(manual.get("constraint_overrides"), query, place)
            response = lookup(manual.get("manual_evaluations"), query, place).get("result")
            rows = []
            for name in NAMES:
                rule = asked_for(question, name)
                word = overrides.get(name) or ("na" if rule is None else check(name, rule, facts))
                counts = word != "na" and not (left_out and word == "missing")
                rows.append((query, place, name, word == "pass", counts, word))
            checks += rows
            cards.append((query, place, *rate(rows, response, by_hand=by_hand)))
    kinds = ["query", "card", "constraint", "passed", "counts", "word"]
    result = pd.DataFrame(checks, columns=kinds).astype({"passed": bool, "counts": bool})
    return result, pd.DataFrame(cards, columns=["query", "card", "sixtieths", "pending"])


def rate(rows: list[tuple[Any, ...]], verdict: str | None, *, by_hand: bool) -> tuple[int, bool]:
    """The card's passes per sixty asked (-1: undefined), and whether a person is waited for."""
    if verdict in {"pass", "fail"}:
        return (SIXTIETHS if verdict == "pass" else 0), False
    if by_hand:
        return 0, True
    if all(word == "na" for *_, word in rows):
        return SIXTIETHS, False
    n = sum(counts for *_, counts, _ in rows)
    passed = sum(passed for *_, passed, counts, _ in rows if counts)
    return (SIXTIETHS // n * passed if n else -1), False


def asked_for(question: dict[str, Any], name: str) -> Any:
    """The question's rule for one constraint; a rule that states no bound asks nothing."""
    rule = question.get("constraints", {}).get(name)
    if not isinstance(rule, dict):
        return rule
    if name == "location":
        words = [word for word in rule.get("keywords") or [] if word.strip()]
        return rule if words or (rule.get("lat") and rule.get("lng")) else None
    bounds = [rule.get(bound) for bound in ("min", "max", "target", "exact")]
    return None if bounds == [None] * 4 else rule


def lookup(entries: dict[str, Any] | None, query: int, place: int) -> dict[str, Any]:
    result: dict[str, Any] = ((entries or {}).get(str(query)) or {}).get(str(place)) or {}
    return result


def facts_of(raw: dict[str, Any]) -> dict[str, Any]:
    """The facts of a card: the listing's own fields over the parsed ones where it was verified."""
    facts = dict(raw)
    if raw.get("verified") and raw.get("api_data"):
        facts.update(raw["api_data"])
    for name in ("bedrooms", "floors", "latitude", "longitude"):
        if facts.get(name) is not None and Decimal(str(facts[name])) == 0:
            facts[name] = None
    return facts


def check(name: str, rule: Any, facts: dict[str, Any]) -> str:
    """The outcome of one constraint on one card, in a word."""
    if name == "location":
        return located(rule, facts)
    value = facts.get(name)
    if value is None or value == "":
        return "missing"
    if name in {"property_type", "listing_type"}:
        return "pass" if same(rule, value, SAME if name == "property_type" else SALE) else "fail"
    return "pass" if within(rule, Decimal(str(value))) else "fail"


def same(rule_word: str, card_word: str, groups: list[set[str]]) -> bool:
    first, second = rule_word.strip().lower(), card_word.strip().lower()
    return first == second or any(first in group and second in group for group in groups)


def located(rule: dict[str, Any], facts: dict[str, Any]) -> str:
    parts = [facts.get(name) or "" for name in ("location", "name", "address")]
    text = " ".join(parts).lower()
    if any(word.lower() in text for word in rule.get("keywords") or [] if word.strip()):
        return "pass"
    here = [facts.get("latitude"), facts.get("longitude")]
    centre = [rule.get("lat"), rule.get("lng")]
    if None not in here and all(centre):  # a point at 0 is none
        lat, lng, to_lat, to_lng = (float(str(x)) for x in (*here, *centre))
        near = chord_km(lat, lng, to_lat, to_lng) <= rule.get("radius_km", 2)
        return "pass" if near else "fail"
    says_nothing = not parts[0] and not parts[2] and None in here
    return "missing" if says_nothing else "fail"


def chord_km(lat: float, lng: float, to_lat: float, to_lng: float) -> float:
    """The way over the globe, from the straight line through it between two points."""

    def point(a: float, b: float) -> tuple[float, float, float]:
        a, b = math.radians(a), math.radians(b)
        return math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)

    straight = math.dist(point(lat, lng), point(to_lat, to_lng))
    return 2 * EARTH_KM * math.asin(min(1.0, straight / 2))


def within(rule: dict[str, Any], value: Decimal) -> bool:
    def number(name: str) -> Decimal | None:
        response = rule.get(name)
        return None if response is None else Decimal(repr(response))

    room = number("tolerance") or Decimal(0)
    least, most, target, exact = map(number, ("min", "max", "target", "exact"))
    return (
        (least is None or value >= least * (1 - room))
        and (most is None or value <= most * (1 + room))
        and (target is None or target * (1 - room) <= value <= target * (1 + room))
        and (exact is None or value == exact)
    )


# --- Questions, categories, the matrix -------------------------------------------------


def summed_up(gold: dict[str, Any], cards: pd.DataFrame, at_least: Decimal) -> pd.DataFrame:
    """One row for each question, in the order of the gold file."""
    rows = []
    for question in gold["questions"]:
        listed = cards[cards["query"] == question["id"]]
        rated = listed[listed.sixtieths >= 0]
        # the mean of sixtieths against T, both sides whole: no division, no rounding
        met = len(rated) > 0 and Decimal(int(rated.sixtieths.sum())) >= at_least * SIXTIETHS * len(
            rated
        )
        expected, waits = question["expected_result"] == "has_data", bool(listed.pending.any())
        rows.append(
            {
                "query_id": question["id"],
                "question": question["question"],
                "category": question["category"],
                "expected_result": question["expected_result"],
                "num_properties": len(listed),
                "mean_cpr": mean_of(listed, rounded=False),
                "strict_success": int((listed.sixtieths == SIXTIETHS).sum()),
                "is_success": (met if expected else listed.empty) and not waits,
                "confusion_category": ("TP" if met else "FN")
                if expected
                else "FP"
                if met
                else "TN",
            }
        )
    columns = ["query_id", "category", "is_success", "confusion_category"]
    return pd.DataFrame(rows, columns=None if rows else columns)


def category(part: pd.DataFrame, cards: pd.DataFrame) -> dict[str, Any]:
    listed = cards[cards["query"].isin(part.query_id)]
    return {
        "total_queries": len(part),
        "successful_queries": int(part.is_success.sum()),
        "success_rate": share(int(part.is_success.sum()), len(part)),
        "total_properties": len(listed),
        "mean_cpr": mean_of(listed),
    }


def matrix(questions: pd.DataFrame) -> dict[str, Any]:
    n = questions.confusion_category.value_counts()
    tp, fp, tn, fn = (int(n.get(name, 0)) for name in ("TP", "FP", "TN", "FN"))
    return {
        "tp": tp,
        "fp": fp,
        "tn": tn,
        "fn": fn,
        "precision": share(tp, tp + fp),
        "recall": share(tp, tp + fn),
        "f1_score": share(2 * tp, 2 * tp + fp + fn),
        "accuracy": share(tp + tn, len(questions)),
    }


def evaluation(row: dict[str, Any]) -> dict[str, Any]:
    """A question as it is written; without cards its mean is 0, as it was recorded."""
    mean = 0.0 if row["num_properties"] == 0 else row["mean_cpr"]
    return row | {
        "has_results": row["num_properties"] > 0,
        "mean_cpr": None if mean is None or math.isnan(mean) else mean,
        "is_success": bool(row["is_success"]),
    }


def mean_of(cards: pd.DataFrame, *, rounded: bool = True) -> float | None:
    rated = cards[cards.sixtieths >= 0]
    part, n_sixtieths = int(rated.sixtieths.sum()), SIXTIETHS * len(rated)
    if rounded:
        return share(part, n_sixtieths)
    return part / n_sixtieths if n_sixtieths else None


def share(part: int, total: int) -> float | None:
    """A share with four decimals, halves to the even digit; nothing where nothing is divided."""
    if not total:
        return None
    with localcontext(prec=60):
        exact = Decimal(part) / Decimal(total)
        return float(exact.quantize(Decimal("0.0001"), ROUND_HALF_EVEN))
