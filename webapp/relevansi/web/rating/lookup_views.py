"""The search of the catalogue on a rating page, and the items that a rater pins as evidence.

A search is a GET form and a pin a form of its own, so both work without a script. No part tells
which run returned an item.
"""

from __future__ import annotations

from collections.abc import Callable

from flask import Response, render_template, request
from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy.orm import Session
from wtforms import Form

from relevansi.db.tables.people import Rater
from relevansi.importers.runs import prices
from relevansi.metrics.gold.constraint_rules import PROPERTY_TYPES
from relevansi.records import LARGEST_INTEGER, Item
from relevansi.services.catalogue.filters import MAX_PLACE, Filters
from relevansi.services.rating import lookups
from relevansi.services.rating.lookups import Evidence, LookupOff, LookupPage, Place
from relevansi.web.frame import access, htmx
from relevansi.web.frame.forms import (
    ChoiceField,
    DecimalField,
    LineField,
    WholeField,
    validated,
    validated_form,
)
from relevansi.web.rating import clicks
from relevansi.web.rating.clicks import ClickForm

MILLION = 1_000_000
HIGHEST_PRICE = 10_000_000
"""In millions of rupiah, as prices are typed."""
MOST_BEDROOMS = 100


class SearchForm(Form):
    """What is looked up; prices are in millions of rupiah.

    ``without`` names a filter that is dropped, ``start`` is where the page begins.
    """

    words = LineField(lookups.LONGEST_WORDS)
    type = ChoiceField({"": None, **{name: name for name in PROPERTY_TYPES.values()}})
    offer = ChoiceField({"": None, "sale": "sale", "rent": "rent"})
    place = LineField(MAX_PLACE)
    price_from = DecimalField(0, HIGHEST_PRICE)
    price_to = DecimalField(0, HIGHEST_PRICE)
    bedrooms = WholeField(0, MOST_BEDROOMS)
    without = ChoiceField({"": None, **{name: name for name in Filters.__struct_fields__}})
    start = WholeField(0, lookups.LAST_START, default=0)

    @property
    def filters(self) -> Filters:
        values = {name: self[name].data for name in Filters.__struct_fields__}
        values["place"] = values["place"] or None
        for name in ("price_from", "price_to"):
            values[name] = None if values[name] is None else int(values[name] * MILLION)
        return Filters(**values | ({self.without.data: None} if self.without.data else {}))


class PinForm(ClickForm):
    """An item of the catalogue that fits, or evidence that is taken back, by its judged item."""

    evidence = ChoiceField({"1": True, "": False}, default=False)
    listing = WholeField(1, LARGEST_INTEGER)
    item = WholeField(1, LARGEST_INTEGER)


class Lookup(Struct, frozen=True):
    """What a page shows of looking up: where it is asked for, and what the rater found.

    ``page`` is there once something was looked up: on a page the script asks for it. ``query`` has
    its filters as they are typed, ``uniform`` gives an item as the raters of the page see it.
    ``ranks`` are those of what the answer lists itself, by identity: nothing of it is missing.
    """

    at_look: str
    at_pin: str
    evidence: list[Evidence]
    kind: str
    page: LookupPage | None = None
    query: dict[str, str] = {}
    uniform: Callable[[Item], Item] = lambda card: card
    ranks: dict[str, int] = {}

    @property
    def pinned(self) -> set[int | None]:
        """The ids in the catalogue of what is evidence."""
        return {item.catalogue_id for item in self.evidence}


def look_up(
    session: Session, rater: Rater, find: Callable[[], Place], at: Callable[..., str]
) -> Lookup | None:
    """Return what the page at a place shows of looking up; ``None`` where nothing is looked up."""
    try:
        place = find()
    except LookupOff:
        return None
    query = clicks.query()
    evidence = lookups.evidence(session, rater, place)
    lookup = Lookup(at("look", **query), at("pin", **query), evidence, rater.study.kind)
    if not place.task_id:
        return lookup
    offer = prices.read_note(place.question.text)
    return replace(lookup, uniform=lambda card: card.uniform(offer))


def searched(session: Session, rater: Rater, place: Place, lookup: Lookup | None) -> Lookup:
    """Return `lookup` with what the request looks up, which is stored."""
    if lookup is None:
        raise LookupOff
    if "words" in request.args:
        form = validated(SearchForm(request.args))
        words, start = form.words.data, form.start.data or 0
        page = lookups.search(session, rater, place, words, form.filters, access.now(), start=start)
    else:
        page = lookups.opening_page(session, rater, place)
    return replace(lookup, page=page, query=_typed(page))


def _typed(page: LookupPage) -> dict[str, str]:
    """Return the filters of a search as its form sends them."""
    texts = {}
    for name, value in asdict(page.filters).items():
        is_price = name.startswith("price") and value is not None
        texts[name] = DecimalField.plain(value / MILLION) if is_price else str(value or "")
    return texts


def part(lookup: Lookup) -> Response:
    """Return what a script puts in place: the field and all, the results, or more of these."""
    name = "_search" if "words" not in request.args else "_matches"
    if lookup.page is not None and lookup.page.start:
        name = "_hits"
    return htmx.part(f"rating/lookups/{name}.html", lookup=lookup)


def pin(session: Session, rater: Rater, place: Place) -> None:
    """Store what the request pins, or take it back."""
    form = validated_form(PinForm)
    item_id, listing = form.item.data, form.listing.data
    if form.evidence.data and listing is not None:
        lookups.pin(session, rater, place, listing, form.click)
        return
    if item_id is None:
        item_id = lookups.judged_item(session, place, listing or 0)
    lookups.unpin(session, rater, place, item_id, form.click)


def pinned(clicked: Response, lookup: Lookup | None) -> Response:
    """Return the answer to a pin: what it moved as any click, and the evidence with its buttons."""
    listing = request.form.get("listing", type=int)
    parts = render_template("rating/lookups/_pinned.html", lookup=lookup, listing=listing)
    clicked.set_data(clicked.get_data(as_text=True) + parts)
    return clicked
