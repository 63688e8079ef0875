"""How far the raters agree: the page, and the files that the command writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from flask import Blueprint, Response, render_template, request
from werkzeug.exceptions import NotFound

from relevansi.exporters.agreement import report as words
from relevansi.i18n import gettext
from relevansi.metrics.agreement.agreement import Agreement
from relevansi.metrics.agreement.report import (
    COEFFICIENTS,
    KIND_LABELS,
    ItemKind,
    KindAgreement,
    LabelledItem,
)
from relevansi.records import Relevance
from relevansi.services.agreement import agreement
from relevansi.services.study import studies
from relevansi.web.frame import access
from relevansi.web.frame.htmx import attached

blueprint = Blueprint("agreement", __name__)


@blueprint.get("/agreement")
def show() -> str:
    name = request.args.get("of", ItemKind.CARDS)
    kind = ItemKind(name) if name in list(ItemKind) else ItemKind.CARDS
    with access.reading() as (session, rater):
        report = agreement.report(session, rater.study, kinds=[kind])
        (measured,) = report.kinds
        pairs = [*measured.pairs]
        number = request.args.get("pair", 0, type=int)
        pair = pairs[number] if number in range(len(pairs)) else next(iter(pairs), None)
        raters = studies.raters(session, rater.study)
        people = [person for person in raters if pair and person.name in pair]
        items = agreement.items(session, rater.study, kind, people) if pair else []
    return render_template(
        "agreement/page.html",
        measured=measured,
        pair=pair,
        crossed=_crossed(items, *pair) if pair else (),
        categories=_categories(measured),
        kinds={kind: gettext(name) for kind, name in KIND_LABELS.items()},
        chosen=kind,
        document=words.document(report),
        formats=words.FORMATS,
        **about_coefficients(COEFFICIENTS),
    )


def _categories(measured: KindAgreement) -> list[tuple[str, Agreement]]:
    """Return the agreement on the items of each category where it has a value, best first."""
    with_value = [
        (value, name, of_category)
        for name, (_, of_category) in measured.categories.items()
        if (value := of_category.alpha.value) is not None
    ]
    ordered = sorted(with_value, key=lambda line: (-line[0], line[1]))
    return [(name, of_category) for _, name, of_category in ordered]


def _crossed(
    items: Sequence[LabelledItem], first: str, second: str
) -> tuple[tuple[str | float, tuple[tuple[str | float, int], ...]], ...]:
    """Return how often two raters gave each pair of labels: a row for each label of the first."""
    labels = [
        (item.labels[first], item.labels[second])
        for item in items
        if {first, second} <= item.labels.keys()
    ]
    decided = [both for both in labels if str(Relevance.UNSURE) not in both]
    counts = Counter(decided)
    values = sorted({value for both in decided for value in both}, key=str, reverse=True)
    return tuple((row, tuple((column, counts[row, column]) for column in values)) for row in values)


def about_coefficients(names: Iterable[str]) -> dict[str, Any]:
    """Return what explains the coefficients in the tables of a page, by what they are called."""
    measures = tuple(COEFFICIENTS[name] for name in names)
    about = {gettext(measure.label): measure.name for measure in measures}
    return {"measures": measures, "about": about, "reasons": {}}


@blueprint.get("/agreement.<end>")
def take_away(end: str) -> Response:
    """Return the agreement on all kinds of items as ``relevansi agreement`` does."""
    formats = words.FORMATS.values()
    file_format = next((each for each in formats if each.extension == end), None)
    if file_format is None:
        raise NotFound
    with access.reading() as (session, rater):
        report = agreement.report(session, rater.study)
    today = access.now().astimezone().date()
    return attached(file_format.render(report, today), file_format.media_type, f"agreement.{end}")
