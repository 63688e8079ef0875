"""Studies of documents: what their pages say and offer, to their owner and to blind raters."""

from __future__ import annotations

import json
import re
from io import BytesIO

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from relevansi.db.engine import Database
from relevansi.db.tables.judging import Judgment
from relevansi.db.tables.people import Rater
from relevansi.kinds import KINDS
from relevansi.metrics.judging.registry import MEASURES
from relevansi.web.features import KINDS as OF_KINDS
from tests.page import Page
from tests.services.exports.offline_files import change
from tests.stored_studies import open_study
from tests.web.conftest import PART, in_english
from tests.web.documents import GRADED, add_raters, collection, imported, lines, set_scale
from tests.web.rating.blind_study import begin, set_study
from tests.web.reached import opened

WORDS = re.compile(r"(?i)propert|listing|chatbot|iklan|\bRp\b|\bK[TM]\b|apartmen|rumah|bedroom")
ABOUT_ALL = {"guides.show", "guides.index", "guides.figures"}
"""Pages that describe the features of every kind of study by their names."""


def wrong_words(page: Page) -> list[str]:
    """What a page says or has read out that belongs to studies of properties."""
    visited = "//text()[not(parent::script or parent::style or ancestor::pre)]"  # examples of files
    parts = page.element.xpath(f"{visited} | //@aria-label | //@title | //@placeholder | //@alt")
    sources = {measure.source for measure in MEASURES.values()}  # titles of works
    texts = [" ".join(str(part).split()) for part in parts]
    return [text for text in texts if WORDS.search(text) and text not in {*sources, "bedrooms"}]


@pytest.mark.parametrize(
    ("who", "language"),
    [("owner of an open study", "id"), ("rater", "id"), ("nothing imported", "en")],
)
def test_no_page_speaks_of_properties_or_offers_what_is_for_them(
    app: Flask, web_database: Database, language: str, who: str
) -> None:
    stored = imported(web_database, *collection())
    set_scale(web_database)
    add_raters(web_database, "Ani")
    if who == "owner of an open study":
        set_study(web_database, blind=False, allow_bulk=True)
    client = app.test_client()
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = language
    if who == "rater":
        client.post("/sign-in/as", data={"rater": "2"})
    elif who == "nothing imported":
        for run in stored.runs:
            assert client.post(f"/runs/{run.id}/delete").status_code == 303

    pages = [visit for visit in opened(client, "/") if visit[0] not in ABOUT_ALL]

    assert len(pages) > (8 if who == "rater" else 25)
    wrong = {address: wrong_words(page) for _, address, page in pages if page is not None}
    assert {address: words for address, words in wrong.items() if words} == {}
    assert {name.partition(".")[0] for name, *_ in pages}.isdisjoint(OF_KINDS)


def test_what_is_for_properties_alone_is_refused(
    client: FlaskClient, web_database: Database
) -> None:
    assert client.get("/study/users/").status_code == 200  # while the study has no kind of its own
    run_id = imported(web_database, *collection()).runs[0].id

    addresses = ("/study/users/", "/ask/", f"/constraints/{run_id}", "/runs/sample")
    assert {client.get(address).status_code for address in addresses} == {404}
    settings = {
        name
        for part in ("general", "scale", "raters", "blind")
        for name in Page(client.get(f"/study/?part={part}")).fields("form.set")
    }
    assert settings.isdisjoint({"show_pictures", "badges_while_blind", "show_record"})
    assert set(OF_KINDS.values()) <= {(kind,) for kind in KINDS}


def test_the_owner_s_switches_that_have_nothing_to_do_stay_as_they_are(
    client: FlaskClient, web_database: Database
) -> None:
    set_study(web_database, show_record=True)
    imported(web_database, *collection())

    response = Page(client.get("/study/")).submit(client, "form.set", name="Passages")

    assert response.status_code == 303
    with open_study(web_database) as (_, study):
        assert (study.name, study.show_record, study.show_pictures) == ("Passages", True, False)


def with_canaries() -> tuple[tuple[str, bytes], ...]:
    """Files that say CANARY wherever a run can say something of its own; each has its own rank."""
    rows = [
        {
            "query_id": "q1",
            "query": "Does copper bend?",
            "system": f"CANARY-system-{system}",
            "run_id": "CANARY-run",
            "rank": rank,
            "score": 770077.5 + rank,
            "doc_id": f"CANARY-{system if is_of_one_list else 'id'}-{rank}",
            "title": "Wire",
            "text": f"Copper wire bends, says {'one' if is_of_one_list else 'every'} list.",
            "canary_key": f"CANARY-value-{system}",
            "CANARY-key": "x",
            "tag": "CANARY-tag",
        }
        for system in RANKS
        for rank, is_of_one_list in ((1, False), (RANKS[system], True))
    ]
    return (("CANARY-file.jsonl", lines(rows)),)


RANKS = {"a": 117, "b": 118}
TELLING = re.compile(r"canary|770(?:07[89]|19[45])", re.IGNORECASE)
RANK = re.compile(r"(?<![\w.])11[78](?![\w.])")


def test_nothing_that_one_run_says_reaches_a_blind_rater(
    app: Flask, web_database: Database
) -> None:
    """Neither by a page, nor by an answer to a click, nor in a file to rate without a server."""
    ids = [run.id for run in imported(web_database, *with_canaries(), depth=120).runs]
    assert len(ids) == 2
    add_raters(web_database, "Ani")
    client = in_english(app)
    owner = "".join(client.get(f"/runs/{run_id}").text for run_id in ids)
    assert TELLING.search(owner)  # the owner reads which system is which
    offline = [client.get(f"/runs/{run_id}/offline.html").text for run_id in ids]
    client.post("/sign-in/as", data={"rater": "2"})

    visited = {address: page.source for _, address, page in opened(client, "/") if page is not None}
    task = begin(client)
    page = Page(client.get(task))
    for key in page.values(".card [name=card]"):
        response = client.post(f"{task}/judgment", data={"card": key, "relevance": "1"},
                             headers=PART)  # fmt: skip
        assert response.status_code == 200
        visited[key] = response.text

    assert page.count(".card") == 3
    for text in [*visited.values(), *offline]:
        assert TELLING.search(text) is None
        assert not any(run_id in text for run_id in ids)
    # A file to rate without a server is of one list, so its ranks tell no system from another.
    assert not any(map(RANK.search, visited.values()))
    client.post("/sign-in/as", data={"rater": "1"})
    set_study(web_database, blind=False)
    of_owner = "".join(client.get(f"/runs/{run_id}/queries/1").text for run_id in ids)
    assert {"117", "118"} <= set(RANK.findall(of_owner))  # where nobody is blind, ranks tell


def test_metadata_is_shown_that_was_ticked_and_that_every_run_states_alike(
    client: FlaskClient, web_database: Database
) -> None:
    """A score never to blind raters, ticked or not; an open page names the run in any case."""
    row = {"query": "Does copper bend?", "doc_id": "d1", "text": "Copper bends."}
    rows = [
        row
        | {"system": system, "author": "Rafi", "year": year, "vector_score": "0.5", "shelf": "K"}
        for system, year in (("a", 2019), ("b", 2020))
    ]
    ticked = ("author", "year", "vector_score")
    run_id = imported(web_database, ("t.jsonl", lines(rows)), meta=ticked).runs[0].id

    (card,) = Page(client.get(begin(client))).all(".card")
    assert card.values(".meta span", "title") == ["author"]
    assert card.texts(".meta span") == ["Rafi"]
    set_study(web_database, blind=False)
    (card,) = Page(client.get(f"/runs/{run_id}/queries/1")).all(".card")
    assert card.values(".meta span", "title") == ["author", "vector score"]


def passage(client: FlaskClient, database: Database, **item: str) -> Page:
    row = {"query": "Does copper bend?", "system": "a", **item}
    run_id = imported(database, ("t.jsonl", lines([row]))).runs[0].id
    return Page(client.get(f"/runs/{run_id}/queries/1"))


def test_words_of_the_question_are_marked_unless_the_owner_says_no(
    client: FlaskClient, web_database: Database
) -> None:
    page = passage(client, web_database, text="<b>Copper</b> bends; tin does not.")
    assert page.texts(".excerpt mark") == ["Copper"]
    assert "<b>Copper</b>" in page.one(".excerpt").content

    set_study(web_database, marks_words=False)

    address = page.one("#question")["data-address"]
    page = Page(client.get(address))
    assert not page.has("mark")
    assert "<b>Copper</b> bends" in page.one(".excerpt").content


def test_a_long_text_is_cut_and_shown_whole_on_request(
    client: FlaskClient, web_database: Database
) -> None:
    page = passage(client, web_database, doc_id="d", text="Copper. " * 4_000 + "The very end.")
    assert "The very end." not in page

    full_text = page.one(".fold a[href*=whole]")["href"]
    page = Page(client.get(page.one("#question")["data-address"] + full_text))

    assert "The very end." in page.one(".fold[open] .rest").text
    assert len(page.one(".excerpt").text) < 400


def test_an_item_with_an_id_only_can_be_judged(client: FlaskClient, web_database: Database) -> None:
    page = passage(client, web_database, doc_id="d-17")
    assert page.one(".card h2").text.endswith("d-17")
    assert not page.has(".excerpt")

    card = page.one(".card form.verdict")
    client.post(card["action"], data={"relevance": "1"})
    assert Page(client.get(page.one("#question")["data-address"])).has('.card[data-verdict="1"]')


def test_a_graded_card_has_one_button_for_each_grade_with_its_word_and_key(
    client: FlaskClient, web_database: Database
) -> None:
    imported(web_database, *collection())
    set_scale(web_database)

    page = Page(client.get(begin(client)))

    buttons = page.all(".card")[0].all("button[aria-pressed]")
    assert [button["value"] for button in buttons] == ["0", "1", "2", "3", "unsure"]
    assert [button["aria-keyshortcuts"] for button in buttons] == ["0", "1", "2", "3", "r"]
    for button, word, line in zip(buttons, GRADED.words, GRADED.guidance, strict=False):
        assert word in button["aria-label"]
        assert line == button["title"] or line in button["aria-label"] or line in button["title"]
    assert page.texts(".strip dt") == ["0", "1", "2", "3"]


def test_an_open_page_and_the_page_of_a_run_say_where_the_pool_ends(
    client: FlaskClient, web_database: Database
) -> None:
    """And a run whose pooled cards are judged is rated to the end."""
    run_id = imported(web_database, *collection(1, 3)).runs[0].id
    set_study(web_database, blind=False, pool_depth=1)
    address = f"/runs/{run_id}/queries/1"

    page = Page(client.get(address))
    parts = [element["class"] for element in page.all("#cards > *")]
    assert parts == ["card document", "cutoff", "card document", "card document"]
    assert "provisional" in Page(client.get(f"/runs/{run_id}")).one("#state").text
    client.post(f"{address}/results/1/judgment", data={"relevance": "1"}, headers=PART)

    run = Page(client.get(f"/runs/{run_id}"))
    assert run.one("#state").text == "Complete"
    assert "rank 1:" in run.one("main").text
    set_study(web_database, pool_depth=None)
    assert not Page(client.get(address)).has("#pool-end")


def test_a_run_without_answers_says_nothing_of_an_answer(
    client: FlaskClient, web_database: Database
) -> None:
    page = passage(client, web_database, text="Copper bends.")

    assert not page.has(".strip .fold")
    assert not page.has(".grades")
    assert "answered" not in page


def test_grades_come_back_from_a_file_that_was_rated_without_a_server(
    client: FlaskClient, web_database: Database
) -> None:
    run_id = imported(web_database, *collection()).runs[0].id
    set_scale(web_database)
    page = Page(client.get(f"/runs/{run_id}/offline.html"))
    assert not page.has("#figures")
    assert page.has('[data-top="3"]')
    run = json.loads(page.one("#run").content)
    queries = [
        {
            "query_id": query["query_id"],
            "results": [{**result, "relevance": None} for result in query["results"]],
        }
        for query in run["queries"]
    ]
    changes = [change(1, 1, "relevance", "3", rank=1), change(2, 1, "relevance", "4", rank=2)]
    header = {**{name: run[name] for name in ("format", "version", "identity")}, "rater": "Sari"}
    data = json.dumps(
        {**header, "device": "laptop", "queries": queries, "changes": changes}
    ).encode()

    report = client.post(
        "/runs/import", data={"files": [(BytesIO(data), "r.json")]}, follow_redirects=True
    )
    Page(report).submit(client, "form.reports", action="store")

    assert "grade 4" in Page(report).one(".problems").text  # which is not on the scale
    with open_study(web_database) as (session, _):
        sari = session.scalars(select(Rater).where(Rater.name == "Sari")).one()
        judgments = session.scalars(select(Judgment).where(Judgment.rater_id == sari.id))
        assert [judgment.verdict for judgment in judgments] == ["3"]
