"""What a search of the catalogue finds, the same on SQLite and PostgreSQL."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from relevansi.db.tables.study import Study
from relevansi.kinds.document import Document
from relevansi.kinds.property import Card
from relevansi.records import Item
from relevansi.services.catalogue import catalogue
from relevansi.services.catalogue.filters import Filters
from relevansi.services.catalogue.search import (
    MAX_WORDS,
    LongSearch,
    NoCatalogueItem,
    find,
    search,
)
from relevansi.services.runs import runs
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.runs.runs import card, query, run, store

LISTINGS = (
    Card("Dijual Rumah Setia Budi", slug="a", price=900_000_000, bedrooms=3, listing_type="sale"),
    Card("Dijual Ruko Ringroad", slug="b", price=2_000_000_000, listing_type="sale"),
    Card("Disewa Rumah Johor", slug="c", price=40_000_000, bedrooms=2, price_note="rent"),
    Card("Rumah Café Helvetia", slug="d", bedrooms=3),
)


def imported(session: Session, *items: Item) -> None:
    catalogue.write(session, [catalogue.entry(item) for item in items], is_imported=True)


def slugs(session: Session, study: Study, words: str, filters: Filters = Filters()) -> str:  # noqa: B008
    matches = search(session, study, words, filters)
    assert matches.count == len(matches.items)
    return "".join(match.identity[-1] for match in matches.items)


def test_items_with_all_the_words_are_found(session: Session, study: Study) -> None:
    imported(session, *LISTINGS)
    expected = {
        "rumah": "acd",
        "RUMAH joh": "c",  # the last word as a beginning
        "joh rumah": "",  # only the last one
        "cafe": "d",
        "CAFÉ": "d",
        "": "abcd",
        " ?! ": "abcd",
        "rumah ruko": "",
    }

    result = {words: "".join(sorted(slugs(session, study, words))) for words in expected}
    assert result == expected


def test_filters_leave_out_what_does_not_state_the_value(session: Session, study: Study) -> None:
    imported(session, *LISTINGS)
    expected = {
        Filters(type="house"): "acd",
        Filters(type="shophouse"): "b",
        Filters(offer="rent"): "c",
        Filters(price_from=40_000_000, price_to=900_000_000): "ac",
        Filters(bedrooms=3, price_to=10**9): "a",
        Filters(place="setia BUDI"): "a",
        Filters(place="setia johor, café, ?"): "d",
        Filters(type="house", place="johor, ringroad, helvetia"): "cd",
    }

    result = {filters: "".join(sorted(slugs(session, study, "", filters))) for filters in expected}
    assert result == expected


def test_the_filter_that_excludes_most_is_named_where_nothing_fits(
    session: Session, study: Study
) -> None:
    imported(session, *LISTINGS)

    matches = search(session, study, "rumah", Filters(price_to=10_000_000, bedrooms=3))
    hopeless = search(session, study, "rumah", Filters(offer="rent", price_to=1, bedrooms=3))
    elsewhere = search(session, study, "", Filters(type="house", place="ringroad"))

    assert (matches.count, matches.widest) == (0, ("price_to", 2))
    assert hopeless.widest is None
    assert elsewhere.widest == ("place", 3)


def test_what_has_the_words_most_comes_first(session: Session, study: Study) -> None:
    imported(
        session,
        Document(doc_id="1", text="a dress among many other things that are sold in a shop"),
        Document(doc_id="2", text="dress, dress, dress"),
        Document(doc_id="3", text="shirts"),
    )

    assert slugs(session, study, "dress") == "21"


def test_pages_follow_one_another(session: Session, study: Study) -> None:
    imported(session, *(Document(doc_id=f"{n:02}", text="same words") for n in range(25)))

    pages = [search(session, study, "same", start=start, most=10).items for start in (0, 10, 20)]

    assert [len(page) for page in pages] == [10, 10, 5]
    assert len({match.id for page in pages for match in page}) == 25


def test_without_a_catalogue_what_runs_returned_is_found(session: Session, study: Study) -> None:
    answers = run(query(1, card("a")), query(2, card("b"), context_dependent=True))
    stored = store(session, study, answers)

    matches = search(session, study, "")

    assert [match.card for match in matches.items] == [card("a"), card("b")]
    assert (matches.total, matches.is_imported) == (2, False)
    runs.delete_run(session, study, stored.id, NOW)
    assert slugs(session, study, "") == "a"  # whose verdicts stay, too


def test_an_item_that_a_later_run_says_more_of_is_found_by_that(
    session: Session, study: Study
) -> None:
    store(session, study, run(query(1, card("a"))))
    assert search(session, study, "johor").count == 0
    fuller = run(query(1, card("a", location="Medan Johor"), card("b")), method="vector")

    store(session, study, fuller)

    assert slugs(session, study, "johor") == "a"


def test_an_item_of_the_owner_s_files_is_as_they_say(session: Session, study: Study) -> None:
    imported(session, card("a", location="Medan Johor"))

    store(session, study, run(query(1, card("a"), card("b"))))

    matches = search(session, study, "")
    assert [match.card.location for match in matches.items] == ["Medan Johor", None]  # type: ignore[attr-defined]
    assert (matches.total, matches.is_imported) == (2, True)


def test_an_item_is_no_longer_found_by_words_that_it_lost(session: Session, study: Study) -> None:
    imported(session, card("a", location="Johor"))
    imported(session, card("a", location="Helvetia"))

    assert (slugs(session, study, "johor"), slugs(session, study, "helvetia")) == ("", "a")


def test_what_a_system_wrote_of_an_item_leads_to_nothing(session: Session, study: Study) -> None:
    imported(session, Document(doc_id="1", text="dress", meta={"retriever": "bm25", "by": "ann"}))

    assert (slugs(session, study, "bm25"), slugs(session, study, "ann")) == ("", "1")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=MAX_WORDS))
def test_no_words_are_taken_for_a_query_of_the_database(
    session: Session, study: Study, words: str
) -> None:
    search(session, study, words)


@given(st.text())
def test_every_text_is_found_by_its_folded_words(text: str) -> None:
    assert catalogue.folded(catalogue.folded(text)).split() == catalogue.folded(text).split()


def test_a_search_that_is_too_long_is_refused(session: Session, study: Study) -> None:
    with pytest.raises(LongSearch):
        search(session, study, "a" * (MAX_WORDS + 1))


def test_an_item_is_found_by_its_id_until_it_goes(session: Session, study: Study) -> None:
    imported(session, *LISTINGS)
    match = search(session, study, "ruko").items[0]
    assert find(session, match.id) == match

    catalogue.remove(session, [match.id])

    with pytest.raises(NoCatalogueItem):
        find(session, match.id)
    assert slugs(session, study, "ruko") == ""


@pytest.mark.parametrize(
    ("words", "filters", "exists"),
    [
        # Question 9: a house in the centre below a billion, of which one run found none.
        ("petisah", Filters(type="house", offer="sale", price_to=10**9), True),
        # Question 12: a warehouse in KIM, which is in Mabar.
        ("mabar", Filters(type="warehouse"), False),
    ],
)
def test_the_demo_has_what_an_empty_answer_missed_and_lacks_what_there_is_not(
    demo_session: Session, words: str, filters: Filters, *, exists: bool
) -> None:
    study = studies.current(demo_session)
    assert study is not None

    matches = search(demo_session, study, words, filters)

    assert (matches.is_imported, matches.total) == (True, 316)
    assert bool(matches.count) is exists
