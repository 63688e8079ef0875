"""Files taken into the catalogue, on SQLite and PostgreSQL."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

import pytest
from openpyxl import Workbook
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.engine import Database
from relevansi.db.tables.people import LogEntry
from relevansi.db.tables.study import Study
from relevansi.importers.runs.problems import ImportRefused, to_dict
from relevansi.kinds.document import Document
from relevansi.kinds.property import Card
from relevansi.records import Item
from relevansi.services.catalogue import imports, search
from relevansi.services.catalogue.filters import Filters
from relevansi.services.catalogue.imports import CatalogueImport, Mode
from tests.conftest import NOW
from tests.services.runs.runs import card, query, run, store
from tests.stored_studies import open_study

Rows = Sequence[Mapping[str, object]]
LISTINGS: Rows = [
    {"slug": "a", "name": "Rumah A", "price": 900_000_000, "bedrooms": 3, "listing_type": "sale"},
    {
        "slug": "b",
        "name": "Ruko B",
        "price": 0,
        "facilities": ["Carport"],
        "nearby": [{"name": "x"}],
    },
]
CORPUS: Rows = [
    {"_id": "d1", "title": "Dresses", "text": "Long red"},
    {"_id": "d2", "text": "Hats"},
]
GLOVES: Mapping[str, object] = {"_id": "d3", "text": "Gloves"}


def lines(rows: Rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def table(rows: Rows, delimiter: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def workbook(rows: Rows) -> bytes:
    book = Workbook()
    sheet = book.create_sheet(index=0)
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append([row.get(name) for name in rows[0]])
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def take(
    database: Database, data: bytes, mode: Mode = Mode.ADD, name: str = "corpus.jsonl"
) -> CatalogueImport:
    return imports.import_files(database, [(name, data)], mode, NOW)


def items(database: Database, words: str = "", filters: Filters = Filters()) -> list[Item]:  # noqa: B008
    with open_study(database) as (session, study):
        return [match.card for match in search.search(session, study, words, filters).items]


def counts(outcome: CatalogueImport) -> str:
    return f"+{outcome.added} ~{outcome.changed} ={outcome.unchanged} -{outcome.removed}"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("corpus.jsonl", lines(CORPUS)),
        ("corpus.json", json.dumps(CORPUS).encode()),
        ("corpus.json", json.dumps({"total": 2, "documents": CORPUS}).encode()),
        ("corpus.csv", table([{"title": "", **row} for row in CORPUS])),
        ("corpus.xlsx", workbook([{"_id": "", "title": "", "text": "", **row} for row in CORPUS])),
        ("corpus.tsv", b"d1\tDresses\tLong red\nd2\tHats\n"),
        (
            "corpus.sgml",
            b"<DOC><DOCNO>d1</DOCNO><TITLE>Dresses</TITLE><TEXT>Long red</TEXT></DOC>\n\
<DOC><DOCNO>d2</DOCNO><TEXT>Hats</TEXT></DOC>\n",
        ),
    ],
)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_documents_are_read_from_every_shape_of_collection(
    database: Database, name: str, data: bytes
) -> None:
    outcome = take(database, data, name=name)

    assert (outcome.kind, outcome.added, outcome.problems) == ("document", 2, ())
    assert items(database, "long") == [Document(doc_id="d1", title="Dresses", text="Long red")]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("listings.json", json.dumps(LISTINGS).encode()),
        ("listings.csv", table([{"facilities": "", **row} for row in LISTINGS])),
        ("export.csv", table([{"Nama": "Rumah A", "Harga": "Rp 900 juta", "slug": "a", "KT": 3}])),
    ],
)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_listings_are_read_with_their_fields(database: Database, name: str, data: bytes) -> None:
    outcome = take(database, data, name=name)

    assert (outcome.kind, outcome.problems) == ("property", ())
    (result,) = items(database, "rumah", Filters(price_from=900_000_000, bedrooms=3))
    assert isinstance(result, Card)
    assert (result.slug, result.title, result.price) == ("a", "Rumah A", 900_000_000)


def test_listings_are_found_by_what_only_their_details_say(database: Database) -> None:
    take(database, lines(LISTINGS))

    assert [item.name for item in items(database, "carport")] == ["Ruko B"]
    assert [item.name for item in items(database, "", Filters(type="shophouse"))] == ["Ruko B"]


def test_a_second_import_adds_and_changes_by_identity(database: Database) -> None:
    assert counts(take(database, lines(CORPUS))) == "+2 ~0 =0 -0"

    again = take(database, lines([CORPUS[0], {"_id": "d2", "text": "Caps"}, GLOVES]))

    assert (counts(again), again.total) == ("+1 ~1 =1 -0", 3)
    assert (items(database, "hats"), len(items(database, "caps"))) == ([], 1)


def test_a_replacement_removes_what_the_files_have_not(database: Database) -> None:
    take(database, lines(CORPUS))

    outcome = take(database, lines([CORPUS[1], GLOVES]), Mode.REPLACE)

    assert (counts(outcome), outcome.total) == ("+1 ~0 =1 -1", 2)
    assert items(database, "long") == []


def test_a_removal_removes_what_the_files_have(database: Database) -> None:
    take(database, lines(CORPUS))

    outcome = take(database, lines([CORPUS[1], GLOVES]), Mode.REMOVE)

    assert (counts(outcome), outcome.total) == ("+0 ~0 =0 -1", 1)


def test_an_item_listed_twice_is_told_and_the_last_one_counts(database: Database) -> None:
    outcome = take(database, lines([CORPUS[0], {"_id": "d1", "text": "Short blue"}]))

    assert (counts(outcome), outcome.repeated, outcome.total) == ("+1 ~0 =0 -0", 1, 1)
    assert len(items(database, "short")) == 1


def test_an_item_of_a_run_becomes_one_of_the_catalogue_and_back(database: Database) -> None:
    with open_study(database) as (session, study):
        store(session, study, run(query(1, card("a"))))
    assert [item.name for item in items(database)] == ["A"]

    assert counts(take(database, lines(LISTINGS))) == "+2 ~0 =0 -0"
    assert [item.name for item in items(database)] == ["Rumah A", "Ruko B"]

    take(database, lines(LISTINGS), Mode.REMOVE)
    assert [item.name for item in items(database)] == ["A"]


def test_files_of_a_study_of_listings_are_read_as_listings(session: Session, study: Study) -> None:
    store(session, study, run(query(1, card("a"))))

    assert imports.kind_of(session, study, replaces=True) == "property"


@pytest.mark.parametrize(
    ("name", "data", "code", "line"),
    [
        (
            "corpus.jsonl",
            lines([*CORPUS, {"text": "no id"}]) + b"{broken\n",
            "json_broken",
            4,
        ),
        ("listings.jsonl", lines([*LISTINGS, {"bedrooms": 3}]), "catalogue_nameless", 3),
        ("qrels.txt", b"q1 0 d1 1\nq1 0 d2 0\n", "results_names_no_item", 1),
        ("empty.csv", b"id,text\n", "catalogue_no_items", None),
    ],
)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_cannot_be_read_is_refused_with_its_line_and_stores_nothing(
    database: Database, name: str, data: bytes, code: str, line: int | None
) -> None:
    with pytest.raises(ImportRefused) as refused:
        take(database, data, name=name)

    problem = to_dict(refused.value.problem)
    assert (problem["code"], problem["line"]) == (code, line)
    assert items(database) == []


def test_prices_that_are_none_are_told(database: Database) -> None:
    outcome = take(database, lines([{"slug": "a", "price": "call us"}]))

    assert [problem.code for problem in outcome.problems] == ["catalogue_price_unread"]


def test_a_wrong_value_is_told_with_its_line_and_no_question(database: Database) -> None:
    outcome = take(database, lines([{"id": 42, "slug": "a", "floors": []}]))

    (problem,) = map(to_dict, outcome.problems)
    assert (problem["code"], problem["line"], problem["query_id"]) == ("value_wrong", 1, None)


def test_an_import_is_in_the_log(database: Database) -> None:
    take(database, lines(CORPUS))

    with open_study(database) as (session, study):
        logged = select(LogEntry.action, LogEntry.subject, LogEntry.new)
        entries = session.execute(logged.where(LogEntry.study_id == study.id)).all()
    assert entries == [("catalogue add", "corpus.jsonl", "+2 ~0 -0")]
