"""The study as pages: what needs doing, its set-up, who judges what, and how far it is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from relevansi.db.engine import Database
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import Study
from relevansi.i18n import speaking
from relevansi.records import BINARY, Relevance, Scale
from relevansi.services.agreement import adjudications
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.rating import task_judgments, tasks
from relevansi.services.study import assignments, studies
from relevansi.services.study.studies import Switches
from relevansi.web.frame.forms import form_from_request, typed
from relevansi.web.study import study as study_pages
from relevansi.web.study.study import PARTS, StudyForm
from tests.conftest import NOW
from tests.page import Page
from tests.services.rating.blind_raters import Robot
from tests.services.runs.runs import card, click, query
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.conftest import PART, judge, stored
from tests.web.rating.blind_study import set_study
from tests.web.visitors import invited

FORM = {
    "name": "Skripsi",
    "guidelines": "# Aturan",
    "blind": "auto",
    "order": "given",
    "figures": "progress",
    "overlap": "",
    "pool_depth": "",
    "repeat_percent": "5",
    "confirmed": "1",
}
ASSIGNMENTS = "/study/assignments/"


def settings(client: FlaskClient, part: str) -> Page:
    """The page of one group of settings."""
    return Page(client.get(f"/study/?part={part}"))


def switches_of(database: Database) -> Switches:
    """Return how the study is set."""
    with open_study(database) as (_session, study):
        return studies.switches(study)


def add(database: Database, name: str, *verdicts: Relevance) -> int:
    """Add a rater who gives `verdicts` on the cards of their first task, a minute apart."""
    with open_study(database) as (session, study):
        rater = studies.add_rater(session, study, name, NOW)
        task = tasks.next_task(session, rater, NOW) if verdicts else None
        for minute, verdict in enumerate(verdicts):
            assert task is not None
            key = tasks.key(task, tasks.cards(session, task)[minute].id)
            task_judgments.judge(
                session, rater, task.id, key, verdict, click(f"{name}{minute}", minute=1)
            )
        session.flush()
        return rater.id


def test_a_new_study_shows_what_is_in_force(client: FlaskClient, web_database: Database) -> None:
    blind = settings(client, "blind").fields(".set")
    assert (blind["blind"], blind["figures"], blind["repeat_percent"]) == ("auto", "progress", "5")
    assert settings(client, "raters").fields(".set")["overlap"] == ""
    with open_study(web_database) as (_session, study):
        for part in PARTS:
            assert study.order_secret not in settings(client, part).source


def test_a_translated_name_is_not_stored(client: FlaskClient, web_database: Database) -> None:
    before = switches_of(web_database).name
    for code, name in (("id", "Studi saya"), ("en", "My study")):
        client.post("/study/", data=FORM | {"name": name}, headers={"Accept-Language": code})
        assert switches_of(web_database).name == before
    client.post("/study/", data=FORM | {"name": "Skripsi"})
    assert switches_of(web_database).name == "Skripsi"


def test_the_page_of_a_changed_setting_is_read_while_others_write(
    client: FlaskClient, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_page = study_pages._page

    def beside_a_click(*arguments: Any, **options: Any) -> Any:
        with web_database.writing() as session:
            session.commit()
        return read_page(*arguments, **options)

    monkeypatch.setattr(study_pages, "_page", beside_a_click)

    assert client.post("/study/", data=FORM | {"name": "Thesis"}, headers=PART).status_code == 200
    assert client.post("/study/", data=FORM | {"repeat_percent": "x"}).status_code == 422
    assert switches_of(web_database).name == "Thesis"


def test_every_switch_is_stored_and_logged(client: FlaskClient, web_database: Database) -> None:
    expected = FORM | {
        "blind": "yes",
        "order": "shuffled",
        "figures": "all",
        "overlap": "2",
        "pool_depth": "10",
        "repeat_percent": "0",
        "allow_bulk": "1",
        "show_pictures": "1",
        "cannot_tell": "left_out",
        "reason_required": "1",
    }

    for _again in range(2):
        assert client.post("/study/", data=expected).status_code == 303

    assert switches_of(web_database) == Switches(
        name="Skripsi",
        allow_bulk=True,
        show_pictures=True,
        blind=True,
        shuffle_questions=True,
        pool_depth=10,
        overlap=2,
        figures="all",
        cannot_tell="left_out",
        repeat_percent=0,
        reason_required=True,
        guidelines="# Aturan",
    )
    with web_database.reading() as session:
        assert len(session.query(LogEntry).all()) == 13  # new guidelines end the starter too


@pytest.mark.parametrize(
    "switches",
    [
        Switches("House search"),
        Switches("A", blind=True, shuffle_questions=True, overlap=2, figures="all"),
        Switches("C", scale=Scale(3, 2, ("no", "", "", "yes"), ("", "a", "b", "c"))),
        Switches("D", scale=Scale(words=("no", "yes")), merging="median", measures=("P@5", "mrr")),
        Switches("E", asks_quality=False, marks_words=False),
        Switches("B", blind=False, pool_depth=20, repeat_percent=0, guidelines="a\n b "),
    ],
)
def test_a_form_sent_as_shown_changes_nothing(app: Flask, switches: Switches) -> None:
    stored = {name: getattr(switches, name) for name in Switches.__struct_fields__}
    study = Study(**stored | {"scale": switches.scale.to_store()}, kind="property")
    fields = typed(StudyForm(data=StudyForm.stored(study)))
    with app.test_request_context(method="POST", data=fields):
        form = form_from_request(StudyForm)

    assert form.validate(), form.errors
    assert form.switches(study) == switches


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", " ", "Please fill this in."),
        ("overlap", "0", "This number is too small or too large."),
        ("pool_depth", "999999999", "This number is too small or too large."),
        ("repeat_percent", "", "Please fill this in."),
        ("repeat_percent", "101", "This number is too small or too large."),
        ("top", "5", "This value cannot be used here."),
        ("relevant_from", "0", "This value cannot be used here."),
        ("word_2", "x" * 41, "This text is too long."),
        ("place", "1.5", "Please write a whole number, in digits."),
        ("guidelines", "x" * 200_001, "This text is too long."),
    ],
)
def test_every_setting_has_its_bounds(app: Flask, field: str, value: str, message: str) -> None:
    with app.test_request_context(method="POST", data=FORM | {field: value}), speaking("en"):
        form = form_from_request(StudyForm)

        assert not form.validate()
        assert form[field].errors[0] == message


def test_what_cannot_be_is_marked_and_nothing_is_stored_nor_lost(
    client: FlaskClient, web_database: Database
) -> None:
    before = switches_of(web_database)

    response = client.post("/study/", data=FORM | {"name": "Thesis", "overlap": "1.5"})
    page = Page(response)

    assert response.status_code == 422
    assert page.one("#overlap-error").text == "Please write a whole number, in digits."
    assert page.one("[name=overlap]")["value"] == "1.5"
    assert switches_of(web_database) == before


def test_what_changes_judgments_is_confirmed_and_the_rest_is_saved(
    client: FlaskClient, web_database: Database
) -> None:
    run_id = stored(web_database, [query(1, card("a"))])
    change = {"overlap": "2", "reason_required": "1"}
    assert client.post("/study/", data={"overlap": "3"}).status_code == 303  # nothing is judged
    client.post(f"/runs/{run_id}/queries/1/results/1/judgment", data={"relevance": "1"})

    response = client.post("/study/?part=raters", data=change)
    switches = switches_of(web_database)
    assert (switches.overlap, switches.reason_required) == (3, True)
    page = Page(response)
    assert page.has(".effect [name=confirmed]")
    assert page.one("[name=overlap]")["value"] == "2"
    part = Page(client.post("/study/?part=raters", data=change, headers=PART))
    assert part.partials["#settings"].has(".effect")
    client.post("/study/?part=raters", data=change | {"confirmed": "1"})
    assert switches_of(web_database).overlap == 2


def test_the_scale_is_set_with_words_for_its_grades(
    client: FlaskClient, web_database: Database
) -> None:
    words = {"word_0": "no", "word_2": " yes ", "guidance_1": "In part.", "word_4": "of no grade"}

    client.post("/study/", data=FORM | words | {"top": "2", "relevant_from": "2"})
    assert switches_of(web_database).scale == Scale(2, 2, ("no", "", "yes"), ("", "In part.", ""))
    fields = settings(client, "scale").fields(".set")
    assert (fields["top"], fields["relevant_from"], fields["word_2"]) == ("2", "2", "yes")
    refused = client.post("/study/", data=FORM | {"top": "2", "relevant_from": "3"})
    assert refused.status_code == 422
    assert "1 to 2" in Page(refused).one("#relevant_from-error").text
    assert client.post("/study/", data=FORM | {"top": "2", "relevant_from": "9"}).status_code == 422
    client.post("/study/", data=FORM | words | {"top": "1", "relevant_from": "3"})
    assert switches_of(web_database).scale == BINARY


def test_with_verdicts_the_scale_is_shown_but_its_words_change(
    client: FlaskClient, web_database: Database
) -> None:
    set_study(web_database, scale=Scale(2, 2))
    run_id = stored(web_database, [query(1, card("a"))])
    assert not settings(client, "scale").has("[name=top][disabled]")
    client.post(f"/runs/{run_id}/queries/1/results/1/judgment", data={"relevance": "1"})

    page = settings(client, "scale")
    assert page.count("[name=top][disabled]") == 4
    assert page.has("select[name=relevant_from][disabled]")
    assert page.values("[name=top][checked]") == ["2"]
    # A browser sends no disabled fields.
    assert client.post("/study/", data=FORM | {"word_1": "partly"}).status_code == 303
    assert switches_of(web_database).scale == Scale(2, 2, ("", "partly", ""))
    response = client.post("/study/", data=FORM | {"top": "3"})
    assert response.status_code == 409
    assert switches_of(web_database).scale == Scale(2, 2, ("", "partly", ""))


def placed(client: FlaskClient, **places: str) -> dict[str, object]:
    """Return the form with the figures at the places as shown, and some moved or added."""
    page = settings(client, "scale")
    names, current = page.values("[name=figure]"), page.values("[name=place] [selected]")
    moved = [places.get(name, place) for name, place in zip(names, current, strict=True)]
    return FORM | {"figure": names, "place": moved}


def test_figures_are_put_in_order(client: FlaskClient, web_database: Database) -> None:
    client.post("/study/", data=placed(client))
    assert switches_of(web_database).measures is None
    set_study(web_database, measures=("mrr", "coverage", "P@5"))

    def chosen(further: str = "", **places: str) -> tuple[str, ...] | None:
        client.post("/study/", data=placed(client, **places) | {"further": further})
        return switches_of(web_database).measures

    assert chosen(RBP="1") == ("RBP", "mrr", "coverage", "P@5")
    assert chosen(RBP="3") == ("mrr", "coverage", "RBP", "P@5")
    assert chosen(coverage="", RBP="9") == ("mrr", "P@5", "RBP")
    assert chosen("ndcg@20, mrr") == ("mrr", "P@5", "RBP", "nDCG@20")
    wrong = client.post("/study/", data=placed(client, mrr="7") | {"further": "P@5, best"})
    page = Page(wrong)
    assert wrong.status_code == 422
    assert "best" in page.one("#further-error").text
    assert page.one("#further")["value"] == "P@5, best"
    places = page.values("[name=place] [selected]")
    assert dict(zip(page.values("[name=figure]"), places, strict=True))["mrr"] == "7"
    assert chosen(**dict.fromkeys(("mrr", "P@5", "RBP", "nDCG@20"), "")) is None


def test_marks_are_offered_where_items_are_texts(
    client: FlaskClient, web_database: Database
) -> None:
    assert not settings(client, "blind").has("[name=marks_words]")
    with web_database.writing() as session:
        studies.open_or_make(session, NOW).kind = "document"
        session.commit()
    assert settings(client, "blind").values("[name=marks_words][checked]") == ["1"]
    client.post("/study/", data=FORM | {"marks_words": "", "asks_quality": ""})
    switches = switches_of(web_database)
    assert (switches.marks_words, switches.asks_quality) == (False, False)
    client.post("/study/", data=FORM)
    assert not switches_of(web_database).marks_words


def test_the_preview_is_a_part_or_a_page_and_runs_nothing(client: FlaskClient) -> None:
    hostile = "# Aturan <script>alert(1)</script>[x](javascript:alert(1))<img src=x onerror=a>"
    form = FORM | {"guidelines": hostile}
    part = Page(client.post("/study/guidelines", data=form, headers=PART))
    page = Page(client.post("/study/guidelines", data=FORM))

    assert part.is_part
    assert part.one("#preview h2").text.startswith("Aturan")
    assert not part.has("script, img, [href^=javascript]")
    assert page.texts("#preview h2") == ["Aturan"]
    assert "Aturan" not in settings(client, "guidelines")  # nothing was stored
    assert client.get("/study/guidelines").location == "/study/?part=guidelines"
    for code, word in (("id", "Tidak yakin"), ("en", "Cannot tell")):
        address = f"/study/guidelines?starter={code}"
        part = Page(client.post(address, data=FORM, headers=PART)).one("#guidelines-part")
        assert part.content.index("# Aturan") < part.content.index(f"# {word}")
    assert client.post("/study/guidelines?starter=../x", data=FORM).status_code == 400


def test_starter_guidelines_are_translated(client: FlaskClient, web_database: Database) -> None:
    stored(web_database, [query(1, card("a"))])
    set_study(web_database, blind=True)

    def languages() -> list[bool]:
        page = client.get("/rate/", follow_redirects=True).text
        return ["What you judge" in page, "Yang dinilai" in page]

    with open_study(web_database) as (_session, study):
        english = studies.starters(study)["en"]
    assert english in settings(client, "guidelines").fields(".set")["guidelines"]
    assert languages() == [True, False]
    client.post("/study/", data=FORM | {"blind": "yes", "guidelines": f"{english}\r\n"})
    client.post("/language", data={"to": "id"})
    assert languages() == [False, True]
    client.post("/study/", data=FORM | {"blind": "yes", "guidelines": ""})
    assert languages() == [False, False]
    client.post("/study/", data=FORM | {"blind": "yes", "guidelines": english})
    assert languages() == [True, False]


def steps(page: Page) -> list[str]:
    """The steps on the owner's first page: how each is, done, now or todo."""
    return [str(step.get("class")) for step in page.all("ol.steps > li")]


def test_home_leads_to_the_next_act(client: FlaskClient, web_database: Database) -> None:
    assert "Start with the results of your system" in Page(client.get("/")).one("main")
    run = stored(web_database, [query(1, card("a"))], method="api")

    page = Page(client.get("/"))
    assert page.one("h1").text == "1 question left to rate"
    assert steps(page) == ["done", "now", "todo", "todo", "todo"]
    question = f"/runs/{run}/queries/1"
    assert page.links(".next .btn") == page.links(".segments a") == [question]
    judge(client, run, 1)
    client.post(f"/runs/{run}/queries/1/rating", data={"quality": "5"})
    page = Page(client.get("/"))
    assert (page.one("h1").text, steps(page)) == ("Complete", ["done"] * 5)
    stored(web_database, [query(1, card("b"))], method="hybrid")
    page = Page(client.get("/"))
    assert page.texts(".strip-row .name") == ["api", "Hybrid"]
    assert f"/runs/{run}" in page.links(".strip-row a")
    assert "can still be 0.00–1.00" in page.all(".strip-row")[1]


def test_an_invited_rater_sees_their_own_work_and_no_figure(
    app: Flask, web_database: Database
) -> None:
    stored(web_database, [query(1, card("a")), query(2, card("b"))], method="api")
    ani = invited(app, "Ani")

    page = Page(ani.get("/")).one("main")

    assert "0 of 2 are done. 2 cards left." in page
    assert page.links() == ["/rate/"]  # no question is given to her yet
    first = ani.get("/rate/").location
    page = Page(ani.get("/")).one("main")
    assert page.links(".segments a") == [first]
    assert not page.all(".strip, .people")
    assert "api" not in page


def lefts(page: Page) -> list[str]:
    """Return the last column of the questions."""
    questions = page.all(".heat [role=row]:not(.names):not(.sums)")
    return [row.texts("[role=cell].sum")[0] or "0" for row in questions]


def test_questions_say_what_is_left(client: FlaskClient, web_database: Database) -> None:
    queries = [query(1, card("a"), card("b"), text="<script>x</script>"), query(2, card("c"))]
    run_id = stored(web_database, queries)
    add(web_database, "Ani <i>", Relevance.RELEVANT)

    organised = Page(client.get("/study/standing"))
    judge(client, run_id, 2, 1)
    page = Page(client.get("/study/standing"))
    client.post("/study/", data=FORM | {"overlap": "1"})
    alone = Page(client.get("/study/standing"))

    assert "Ani <i>" in page.texts(".heat .names span")
    assert page.all(".heat [role=row]")[1].texts("[role=cell]") == ["2", "1", "3"]
    assert "<script>x" not in page.source
    assert lefts(organised) == ["1", "1"]  # an owner who judges nothing is not waited for
    assert lefts(page) == ["3", "1"]  # of two raters: Ani lacks a card of each, the owner both of 1
    assert lefts(alone) == ["1", "0"]  # question 1 is Ani's, question 2 the owner's


def numbers(cells: list[str]) -> list[int]:
    return [int(text) for text in cells]


def test_many_questions_are_shown_by_ten_and_each_leads_to_the_first_open_one(
    client: FlaskClient, web_database: Database
) -> None:
    """Of 41 questions of one card each, the owner judged the first two."""
    queries = [query(n, card(f"c{n}"), text=f"Question {n}?") for n in range(1, 42)]
    run_id = stored(web_database, queries)
    judge(client, run_id, 1, 1)
    judge(client, run_id, 2, 1)

    page = Page(client.get("/study/standing"))
    *blocks, total = page.all(".heat [role=row]:not(.names)")

    assert [block.one("[role=rowheader]").text for block in blocks] == [
        *("1–10", "11–20", "21–30", "31–40", "41"),
    ]
    assert [numbers(block.texts("[role=cell]")) for block in blocks] == [
        [8, 8], [10, 10], [10, 10], [10, 10], [1, 1],
    ]  # fmt: skip
    assert numbers(total.texts("[role=cell]")) == [39, 39]
    leads_to = [block.links("[role=cell] a")[0].partition("?")[0] for block in blocks]
    assert leads_to == [f"/comparisons/questions/{n}" for n in (3, 11, 21, 31, 41)]
    assert "2 of 41 verdicts" in page


def test_a_rater_with_cards_left_can_be_reminded_but_not_oneself(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    base = "https://nilai.example"
    stored(web_database, [query(1, card("a"), card("b")), query(2, card("c"))])
    client.post("/study/", data=FORM)
    add(web_database, "Ani <i>", Relevance.RELEVANT)

    here = Page(client.get("/study/standing"))
    visitors.lock(web_database)
    far = app.test_client()
    far.post("/sign-in", base_url=base, data={"password": visitors.PASSWORD})
    elsewhere = Page(far.get("/study/standing", base_url=base, headers={"Accept-Language": "en"}))

    words = "Hello Ani <i>, 2 cards are left for you to judge in “Skripsi”."
    assert here.texts("[id^=reminder-]") == [words]  # a local address leads nowhere elsewhere
    assert elsewhere.texts("[id^=reminder-]") == [f"{words} {base}/"]
    copies = here.values("[data-copies]", "data-copies")
    assert copies == here.values("[id^=reminder-]", "id")


@pytest.fixture(name="two_raters")
def _two_raters(client: FlaskClient, web_database: Database) -> str:
    """A run of one card that the owner called relevant and Ani did not; its id."""
    run_id = stored(web_database, [query(1, card("a"))])
    judge(client, run_id, 1)
    add(web_database, "Ani & Co", Relevance.NOT_RELEVANT)
    return run_id


@pytest.mark.parametrize(
    ("rule", "value", "words"),
    [
        ("rater Ani & Co", "0.00", "Ani & Co alone"),
        ("adjudicated", "0.00–1.00", "Adjudicated, else the majority"),
        ("", "0.00–1.00", "Majority of all raters"),
    ],
)
def test_a_runs_figures_follow_the_rule_in_the_address_and_name_it(
    client: FlaskClient, two_raters: str, rule: str, value: str, words: str
) -> None:
    page = Page(client.get(f"/runs/{two_raters}", query_string={"rule": rule}))
    tile = page.all(".tiles li")[0]
    report = client.get(f"/runs/{two_raters}/metrics.json", query_string={"rule": rule}).get_json()

    assert value in tile
    assert page.texts(".pick b") == [words]
    assert report["rule"] == (rule or "majority")
    figure = report["figures"]["mean_precision_at_5"]["value"]
    assert figure == (None if "–" in value else float(value))


def test_exports_carry_the_rule_of_the_address(client: FlaskClient, two_raters: str) -> None:
    page = Page(client.get(f"/runs/{two_raters}", query_string={"rule": "rater Ani & Co"}))
    links = page.links(f"a[href^='/runs/{two_raters}/'][href*='.'][href*='?']")

    assert len(links) == 10
    assert {link.partition("?")[2] for link in links} == {"rule=rater+Ani+%26+Co"}
    csv = client.get(next(link for link in links if "/export.csv" in link)).text
    assert csv.splitlines()[1].startswith("1,Question 1,location,1,0,,0.0000,0.0000,0.0000,0")
    for part in ("", "/metrics.json", "/export.csv"):
        response = client.get(f"/runs/{two_raters}{part}?rule=best")
        assert response.status_code == 400
        assert '"majority", "adjudicated"' in Page(response)
    assert client.get(f"/runs/{two_raters}/metrics.json?rule=rater+Nobody").status_code == 404


@pytest.fixture(name="ani")
def _ani(web_database: Database) -> int:
    """Ani, beside the owner, in a blind study of four questions; her id."""
    queries = [
        query(number, card("a"), category="area" if number < 3 else "price")
        for number in range(1, 5)
    ]
    for method in ("hybrid", "api_only"):
        stored(web_database, queries, method=method)
    return add(web_database, "Ani <b>")


def assigned(database: Database) -> dict[int, str]:
    """Return what is assigned, as it would be written."""
    with open_study(database) as (session, study):
        sets = assignments.numbered(session, study)
        by_rater = assignments.by_rater(session, study)
        return {key: assignments.written(questions, sets) for key, questions in by_rater.items()}


def test_assignments_are_stored(client: FlaskClient, web_database: Database, ani: int) -> None:
    page = Page(client.get(ASSIGNMENTS))
    assert page.one(f"[name=questions-{ani}]")["value"] == ""
    assert page.texts("dt") == ["All questions", "area", "price"]
    assert page.texts("dd") == ["1-4", "1-2", "3-4"]

    response = client.post(ASSIGNMENTS, data={f"questions-{ani}": "Price, 2"})

    assert (response.status_code, response.location) == (303, f"{ASSIGNMENTS}?saved=1")
    assert assigned(web_database) == {ani: "2-4"}
    page = Page(client.get(response.location))
    assert page.one(f"[name=questions-{ani}]")["value"] == "2-4"
    assert "gets 3 questions" in page
    with web_database.reading() as session:
        entry = session.scalars(select(LogEntry).where(LogEntry.action == "assign")).one()
        assert (entry.old, entry.new) == ("all", "2-4")
    indonesian = {"Accept-Language": "id"}
    client.post(ASSIGNMENTS, data={f"questions-{ani}": "semua"}, headers=indonesian)
    assert assigned(web_database) == {}
    stored(web_database, [query(1, card("a"), text="Another set")])
    wrong = client.post(ASSIGNMENTS, data={f"questions-{ani}": "2"}).text
    assert "as in A2." in wrong
    client.post(ASSIGNMENTS, data={f"questions-{ani}": "A2, B"})
    assert assigned(web_database) == {ani: "A2, B1"}


@pytest.mark.parametrize(
    ("value", "message"),
    [("<script>", '"<script>" is not a number'), ("1," * 1500, "This text is too long.")],
)
def test_what_names_no_question_is_marked_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, ani: int, value: str, message: str
) -> None:
    form = {f"questions-{ani - 1}": "1", f"questions-{ani}": value}
    response = client.post(ASSIGNMENTS, data=form)

    assert response.status_code == 422
    assert Page(response).one(f"#error-{ani}").text.startswith(message)
    assert Page(response).one(f"[name=questions-{ani - 1}]")["value"] == "1"
    assert assigned(web_database) == {}


def test_the_plan_shows_every_rater(client: FlaskClient, web_database: Database, ani: int) -> None:
    client.post("/study/", data={"name": "S", "repeat_percent": "0", "overlap": "2"})
    client.post(ASSIGNMENTS, data={f"questions-{ani - 1}": "1-2", f"questions-{ani}": "2-3"})
    with web_database.writing() as session:
        rater = studies.raters(session, studies.open_or_make(session, NOW))[1]
        tasks.next_task(session, rater, NOW)
        session.commit()

    page = Page(client.get("/study/standing"))
    rows = page.all(".heat [role=row]:not(.names):not(.sums)")

    # What each rater has left of a question, and what is left of it in all.
    assert [row.texts("[role=cell]") for row in rows] == [
        ["1", "not theirs", "1"],
        ["1", "1", "2"],
        ["not theirs", "1", "1"],
        ["not theirs", "not theirs", ""],
    ]
    assert "Nobody will judge: 4." in page
    assert "Fewer raters than the overlap of 2 will judge: 1, 3." in page
    assert lefts(page) == ["1", "2", "1", "0"]
    set_study(web_database, blind=False)
    assert "not theirs" not in Page(client.get("/study/standing"))


def test_the_map_marks_the_questions_that_decide_between_methods(
    client: FlaskClient, web_database: Database
) -> None:
    """Both runs answer question 1 alike, so that only question 2 can put one above the other."""
    same, text = query(1, card("same")), "Rumah dua kamar?"
    stored(web_database, [same, query(2, card("a"), text=text)], method="api")
    stored(web_database, [same, query(2, card("b"), text=text)], method="hybrid")

    rows = Page(client.get("/study/standing")).all(".heat [role=row]:not(.names):not(.sums)")

    assert [row.has(".decides") for row in rows] == [False, True]


HIDDEN = "blind (names of run and method hidden)"


@pytest.fixture(name="runs")
def _runs(client: FlaskClient, web_database: Database) -> list[str]:
    """Cards a and b, an empty list and two qualities are given openly; c is not given yet."""
    set_study(web_database, repeat_percent=0)
    first = stored(web_database, [query(1, card("a"), card("b")), query(2)], method="hybrid")
    place = f"/runs/{first}/queries"
    for rank in (1, 2):
        judge(client, first, 1, rank)
    client.post(f"{place}/1/rating", data={"quality": "4"})
    client.post(f"{place}/2/rating", data={"quality": "0", "empty_outcome": "correct_empty"})
    lists = {"api_only": [card("a"), card("c")], "vector_only": [card("b")]}
    others = [stored(web_database, [query(1, *of), query(2)], method=m) for m, of in lists.items()]
    return [first, *others]


def rate_all(database: Database, *, since: int = 0) -> None:
    """Have the owner answer all that tasks ask, `since` so many clicks."""
    with database.writing() as session:
        rater = session.scalars(select(Rater)).one()
        robot = Robot(session, rater)
        robot.clicks = since
        robot.rate_all()
        session.commit()


def blind_sentence(client: FlaskClient, address: str) -> str:
    """Return the sentence of a page or a report on verdicts given blind, without the time."""
    response = client.get(address)
    text = Page(response).text if response.mimetype == "text/html" else response.text
    matches = re.search(r"\d of 4 verdicts were given .*?\. ", text)
    assert matches is not None
    return re.sub(r"until [^.;]*", "until TIME", matches[0])


def test_reports_count_what_was_blind_and_the_owner_has_the_rest_asked_again(
    client: FlaskClient, web_database: Database, runs: list[str]
) -> None:
    rate_all(web_database)  # card c, and four qualities
    chosen = "&".join(f"runs={run}" for run in runs)
    report = f"/comparisons/report.markdown?{chosen}"
    pages = ("/comparisons/?phase=1", report, "/study/standing")
    openly = f"1 of 4 verdicts were given {HIDDEN}; 3 with the method visible, until TIME. "
    assert [blind_sentence(client, address) for address in pages] == [openly] * 3
    counts = client.get(f"/runs/{runs[0]}/export.json").get_json()["blindness"]["verdicts"]
    assert (counts["n"], counts["blind"], counts["open"], counts["unknown"]) == (3, 0, 3, 0)

    assert "3 verdicts and 2 grades by 1 rater" in client.get("/study/ask-again").text
    assert client.post("/study/ask-again").status_code == 303

    assert blind_sentence(client, pages[0]) == openly  # until they are answered
    assert "Asked again and not answered yet: 3 verdicts" in client.get("/study/standing").text
    rate_all(web_database, since=1000)
    blind = f"4 of 4 verdicts were given {HIDDEN}. "
    assert [blind_sentence(client, address) for address in pages] == [blind] * 3
    assert "Asked again and not" not in client.get("/study/standing").text
    assert client.post("/study/ask-again").status_code == 409


def test_ties_are_one_state_on_every_page_and_the_button_leads_to_them(
    client: FlaskClient, two_raters: str, web_database: Database
) -> None:
    """Both raters are done and contradict each other; then the tie is decided."""
    stored(web_database, [query(1, card("a"))], method="other")  # its card is the same
    with open_study(web_database) as (session, study):
        for rater in studies.present(session, study):
            for run in session.scalars(select(Run)):
                rated = AnswerRating(quality=4)
                judgments.rate(session, rater, run.id, 1, rated, click(f"{rater.id}-{run.id}"))
    home = Page(client.get("/"))
    assert home.one("h1").text == "Decide 1 tie"
    assert "/adjudications/" in home.one(".next").links()
    assert steps(home) == ["done", "done", "done", "now", "todo"]
    state = "All raters are done · 1 tie waits for a decision (provisional)"
    assert {*Page(client.get("/runs/")).values("[id^=left-]", "title")} == {state}
    for address in (f"/runs/{two_raters}", "/comparisons/"):
        page = Page(client.get(address)).one("main")
        assert state in page, address
        assert page.texts("a[href='/adjudications/']") == ["Decide 1 tie"], address
    disposition = client.get(f"/runs/{two_raters}/export.csv").headers["Content-Disposition"]
    assert "_provisional.csv" in disposition
    run_state = client.get(f"/runs/{two_raters}/metrics.json").get_json()["state"]
    assert (run_state["stage"], run_state["ties"], run_state["finished"]) == ("ties", 1, False)

    with open_study(web_database) as (session, study):
        (dispute,) = adjudications.docket(session, study).ties
        owner = studies.raters(session, study)[0]
        adjudications.adjudicate(session, owner, dispute.item_id, "1", "a reason", NOW)
    assert steps(Page(client.get("/"))) == ["done"] * 5
    for address in ("/runs/", f"/runs/{two_raters}?rule=adjudicated"):
        page = Page(client.get(address)).one("main")
        assert {*page.texts("#state, [id^=left-]")} == {"Complete"}
    page = Page(client.get(f"/runs/{two_raters}"))
    assert page.texts("#state") == ["1 tie is decided, but this rule leaves it open (provisional)"]
    assert f"/runs/{two_raters}?rule=adjudicated" in page.links("a.btn")
