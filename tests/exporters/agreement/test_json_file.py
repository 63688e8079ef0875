"""The JSON of an agreement has a key for each kind, and a reason where a figure is missing."""

from __future__ import annotations

import json
from datetime import timedelta

from tests.conftest import NOW
from tests.metrics.agreement.tables import FEW
from webapp.exporters.agreement.json_file import agreement_json
from webapp.metrics.agreement.report import (
    AgreementReport,
    ItemKind,
    LabelledItem,
    consistency,
    of_kind,
)

CARDS = [
    LabelledItem("harga", {"Ani": "1", "Budi": "1"}, NOW),
    LabelledItem("harga", {"Ani": "0", "Budi": "1"}, NOW + timedelta(minutes=1)),
    LabelledItem("area", {"Ani": "1", "Budi": "unsure"}, NOW + timedelta(minutes=2)),
]
RATERS = ("Ani", "Budi")
REPORT = AgreementReport(
    raters=RATERS,
    kinds=tuple(of_kind(kind, RATERS, CARDS if kind == "cards" else [], FEW) for kind in ItemKind),
    repeats=(consistency("Ani", ItemKind.CARDS, [("1", "1"), ("0", None)], FEW),),
    bootstrap=FEW,
)


def test_every_kind_and_every_part_is_there() -> None:
    found = json.loads(json.dumps(agreement_json(REPORT)))

    assert list(found) == ["raters", "bootstrap", "cards", "empty_lists", "quality", "repeats"]
    assert found["bootstrap"]["resamples"] == FEW.resamples
    cards = found["cards"]
    assert (cards["n_items"], cards["n_shared"], cards["scale"]) == (3, 2, "nominal")
    assert cards["overall"]["raw"]["value"] == 0.5  # of two that both decided
    assert cards["pairs"][0]["raters"] == ["Ani", "Budi"]
    assert {name: one["n_items"] for name, one in cards["categories"].items()} == {
        "harga": 2, "area": 1,
    }  # fmt: skip
    assert cards["over_time"][0]["first"] == NOW.isoformat()


def test_only_cards_tell_how_often_nobody_could_tell() -> None:
    found = agreement_json(REPORT)

    assert found["cards"]["cannot_tell"] == {
        "n": 1,
        "judged": 6,
        "rate": 1 / 6,
        "raters": {
            "Ani": {"n": 0, "judged": 3, "rate": 0.0},
            "Budi": {"n": 1, "judged": 3, "rate": 1 / 3},
        },
    }
    assert found["quality"]["cannot_tell"] is None


def test_a_figure_without_a_value_says_why() -> None:
    found = agreement_json(REPORT)

    missing = found["cards"]["categories"]["area"]["cohen_kappa"]
    assert (missing["value"], missing["why_undefined"]) == (None, "no_shared_item")
    assert found["cards"]["overall"]["raw"]["why_undefined"] is None


def test_a_repeat_names_its_rater_and_what_was_answered() -> None:
    (repeat,) = agreement_json(REPORT)["repeats"]

    assert (repeat["rater"], repeat["kind"]) == ("Ani", "cards")
    assert (repeat["asked"], repeat["answered"], repeat["raw"]["n"]) == (2, 1, 1)
