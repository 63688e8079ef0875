"""Looking things up as the tests do it: a catalogue, a search, and what it can pin."""

from __future__ import annotations

from flask.testing import FlaskClient

from relevansi.db.engine import Database
from relevansi.kinds.property import Card
from relevansi.services.catalogue import catalogue
from tests.page import Page
from tests.stored_studies import open_study
from tests.web.conftest import PART


def fill(database: Database, *names: str, price: int | None = None) -> None:
    items = [
        Card(title=f"House {name}", slug=name, location="Medan", price=price) for name in names
    ]
    with open_study(database) as (session, _study):
        entries = [catalogue.entry(item) for item in items]
        catalogue.write(session, entries, is_imported=True)


def look(client: FlaskClient, at: str, words: str, **filters: str) -> Page:
    return Page(client.get(f"{at}/look", query_string={"words": words, **filters}, headers=PART))


def pins(page: Page) -> list[str]:
    return page.values(".hit [name=listing]")
