"""A comparison as pages and files, of runs and of rated CSVs that were dropped."""

from __future__ import annotations

import json
from io import BytesIO

import pytest
from flask import Flask
from flask.testing import FlaskClient
from msgspec.structs import replace
from werkzeug.test import TestResponse

from relevansi.db.engine import Database
from relevansi.db.tables.judging import Event
from relevansi.db.tables.runs import Query, Run, Upload
from relevansi.exporters.comparisons.files import FORMATS
from relevansi.records import EmptyOutcome, Relevance
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.page import Page
from tests.services.runs.runs import card, click, query
from tests.stored_studies import made_once, open_study
from tests.web.conftest import count, stored
from tests.web.documents import collection
from tests.web.programs.program import Program
from tests.web.rating.blind_study import set_study

YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(name="pair")
def _pair(web_database: Database) -> tuple[str, str]:
    return rated_pair(web_database)


@made_once
def rated_pair(database: Database) -> tuple[str, str]:
    """Two runs: question 1 is 1/2 against 1/1, question 2 found against a false negative."""
    first = stored(
        database,
        [query(1, card("same"), card("a"), category=HOSTILE), query(2, card("b"))],
        method="api",
    )
    second = stored(database, [query(1, card("same"), category=HOSTILE), query(2)], method="hybrid")
    with open_study(database) as (session, study):
        owner = studies.raters(session, study)[0]
        for query_id, rank, verdict in ((1, 1, YES), (1, 2, NO), (2, 1, YES)):
            event = click(f"{query_id}-{rank}")
            judgments.judge(session, owner, first, query_id, rank, verdict, event)
        empty = AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
        judgments.rate(session, owner, second, 2, empty, click("empty"))
    return first, second


def selection(pair: tuple[str, ...], **parameters: str) -> str:
    """The query of an address that chooses runs, and what to show of their comparison."""
    pairs = [*(("runs", run) for run in pair), *parameters.items()]
    return "?" + "&".join(f"{name}={value}" for name, value in pairs)


def test_the_first_phase_with_runs_is_shown_at_once(
    client: FlaskClient, pair: tuple[str, str]
) -> None:
    page = client.get("/comparisons/").text

    assert "Phase 1: methods" in Page(client.get("/comparisons/")).texts("[aria-current=page]")
    assert page == client.get(f"/comparisons/{selection(pair)}").text
    assert page == client.get("/comparisons/?phase=1").text
    assert page == client.get("/comparisons/?phase=2").text  # there is none
    parts = selection(pair, part="categories", figure="success_rate")
    assert Page(client.get(f"/comparisons/{parts}")).has("#multiples")


def test_figures_on_the_page_are_worked_by_hand(client: FlaskClient, pair: tuple[str, str]) -> None:
    page = Page(client.get(f"/comparisons/{selection(pair)}"))

    # P@5 of api: (1/2 + 1/1) / 2; of hybrid 1/1 over one list. Success 2/2 and 1/2.
    assert page.texts(".val b")[:2] == ["0.75", "1.00"]
    assert page.texts("#answer") == ["No answer yet: 4 answers are still to be graded."]
    assert page.texts(".ft .pair") == ["api − Hybrid"] * 3
    file = client.get(f"/comparisons/report.json{selection(pair)}")
    assert "phase1_comparison_" in file.headers["Content-Disposition"]
    assert "0.75" in file.text


def test_both_lists_of_a_question_stand_side_by_side(
    client: FlaskClient, pair: tuple[str, str]
) -> None:
    page = Page(client.get(f"/comparisons/questions/1{selection(pair)}"))

    categories = Page(client.get(f"/comparisons/{selection(pair, part='categories')}"))
    for hostile_page in (page, categories):
        assert "<script>alert" not in hostile_page.source
        assert HOSTILE in hostile_page
    assert sorted(page.values("[data-verdict]", "data-verdict")) == ["0", "1", "1"]  # "same": once
    assert "also at rank 1 of Hybrid" in page
    assert "false negative" in client.get(f"/comparisons/questions/2{selection(pair)}").text


def test_questions_that_moved_come_first_unless_the_order_is_asked_for(
    client: FlaskClient, pair: tuple[str, str]
) -> None:
    def positions(**order: str) -> list[str]:
        page = Page(client.get(f"/comparisons/{selection(pair, part='questions', **order)}"))
        links = page.links(".qt a")
        return [link.partition("?")[0].removeprefix("/comparisons/questions/") for link in links]

    assert positions() == ["2", "1"]  # 1 against 0, then 1 against 1/2
    assert positions(order="set") == ["1", "2"]
    assert positions(order="loses") == ["2"]  # Hybrid, higher by its mean, has no list


@pytest.mark.parametrize(
    ("opened_from", "position", "ways"),
    [
        ({}, 2, {"prev": 1}),  # from elsewhere: all questions in their order
        ({"part": "questions"}, 2, {"next": 1}),  # the farthest apart comes first
        ({"part": "questions", "order": "set"}, 1, {"next": 2}),
        ({"part": "questions", "order": "loses"}, 2, {}),  # the only one that the filter leaves
        ({"part": "questions", "order": "loses"}, 1, {"next": 2}),  # not left by it
    ],
)
def test_a_question_leads_on_through_the_list_it_was_opened_from(
    client: FlaskClient,
    pair: tuple[str, str],
    opened_from: dict[str, str],
    position: int,
    ways: dict[str, int],
) -> None:
    opened = selection(pair, **opened_from)
    page = Page(client.get(f"/comparisons/questions/{position}{opened}"))

    neighbours = {
        rel: int(link.partition("?")[0].rpartition("/")[2])
        for rel in ("prev", "next")
        for link in page.links(f"[rel={rel}]")
    }
    assert neighbours == ways


def test_rate_again_leads_a_blind_owner_to_their_task_and_only_to_one_of_theirs(
    client: FlaskClient, pair: tuple[str, str], web_database: Database
) -> None:
    task = client.get("/rate/").location.partition("?")[0]  # two runs: blind by itself

    def ways(position: int) -> list[str]:
        page = Page(client.get(f"/comparisons/questions/{position}{selection(pair)}"))
        return page.links(".list header a")

    assert sorted(map(ways, (1, 2))) == [[], [task, task]]  # beside either list
    set_study(web_database, blind=False)
    assert ways(1) == [f"/runs/{run}/queries/1" for run in pair]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/comparisons/?runs=nowhere&runs=nothing", 404),
        ("/comparisons/questions/9", 404),
        ("/comparisons/report.json", 422),
        ("/comparisons/report.exe", 404),
        ("/comparisons/?rule=rater%20Nobody", 404),
    ],
)
@pytest.mark.usefixtures("pair")
def test_what_is_not_there_is_said_without_a_traceback(
    client: FlaskClient, path: str, status: int
) -> None:
    page = client.get(path)

    assert page.status_code == status
    assert "Traceback" not in page.text


def test_disputes_that_keep_figures_open_are_named_where_verdicts_are_merged(
    client: FlaskClient, web_database: Database, pair: tuple[str, str]
) -> None:
    """The owner found the card relevant, Ani did not: the two votes have no majority."""
    with open_study(web_database) as (session, study):
        ani = studies.add_rater(session, study, "Ani", NOW)
        judgments.judge(session, ani, pair[0], 1, 1, NO, click("ani"))

    merged = Page(client.get(f"/comparisons/{selection(pair, rule='majority')}"))
    alone = client.get(f"/comparisons/{selection(pair, rule='rater Owner')}").text

    assert "1 tie" not in alone
    assert merged.links(".btn.go") == ["/study/standing"]  # others have still to rate
    text = client.get(f"/comparisons/{selection(pair, rule='rater Ani')}").text
    assert "Ani alone" in text
    assert "No answer yet: 2 of 2 questions are still to be rated." in text


def test_runs_of_different_questions_are_refused_with_what_differs(
    client: FlaskClient, web_database: Database, pair: tuple[str, str]
) -> None:
    second = stored(web_database, [query(1, card("z"), text="Quite another")], method="other")

    page = Page(client.get(f"/comparisons/{selection((pair[0], second))}"))

    assert page.has("#different")
    assert "Quite another" in page
    assert client.get(f"/comparisons/report.json{selection((pair[0], second))}").status_code == 422


HEADER = "query_id,question,category,results_count,relevant_count,first_relevant_rank,notes\n"
HYBRID = ("5,4,1,", "5,3,1,", "5,2,2,")
API = ("5,2,2,", "5,1,4,", "5,2,2,")


def rated(*lines: str, last: str = "rumah 3") -> bytes:
    """A rated CSV with `lines`, each from results_count on; questions 1, 2 and so on."""
    texts = [*(f"rumah {n}" for n in range(1, len(lines))), last]
    rows = (f"{n},{texts[n - 1]},lokasi,{line}\n" for n, line in enumerate(lines, 1))
    return (HEADER + "".join(rows)).encode()


def drop(client: FlaskClient, **files: bytes) -> TestResponse:
    chosen = [(BytesIO(data), f"evaluation_rated_{name}.csv") for name, data in files.items()]
    return client.post("/comparisons/files/", data={"files": chosen}, follow_redirects=True)


def place(page: TestResponse) -> str:
    return "?" + page.request.query_string.decode()


def test_two_dropped_files_are_compared_and_nothing_of_them_is_in_the_study(
    client: FlaskClient, web_database: Database
) -> None:
    """P@5 .8 .6 .4 against .4 .2 .4: the mean difference is .8/3."""
    page = drop(client, hybrid_20260125=rated(*HYBRID), api_only=rated(*API))

    assert page.status_code == 200
    assert Page(page).texts(".val b")[0] == "0.60"  # (.8+.6+.4)/3
    assert Page(page).texts(".ft td.num b")[0] == "+0.27"
    parts = {"questions": "#matrix", "categories": "#multiples", "details": "#stability"}
    for part, heading in parts.items():
        response = client.get(f"/comparisons/files/{place(page)}&part={part}")
        assert Page(response).has(heading)
        assert f"part={part}" in page.text
        assert "/comparisons/questions/" not in response.text
    assert "A rated file has counts and no verdicts by card." in response.text
    assert [count(web_database, table) for table in (Run, Query, Event)] == [0, 0, 0]
    tokens = Page(page).values("[name=file]")[:2]
    assert client.post("/comparisons/files/forget", data={"file": tokens}).status_code == 303
    assert count(web_database, Upload) == 0
    assert client.get(f"/comparisons/files/{place(page)}").status_code == 404


def test_every_file_and_picture_of_dropped_files_can_be_taken_away(client: FlaskClient) -> None:
    page = drop(client, hybrid=rated(*HYBRID), api_only=rated(*API))

    links = set(Page(page).links(".side a[href^='/comparisons/files/']"))
    assert any(link.startswith("/comparisons/files/intervals.svg") for link in links)
    for name in FORMATS:
        assert any(f"report.{name}?" in link for link in links), name
    for link in links:
        assert client.get(link).status_code == 200, link


def test_runs_of_dropped_files_have_the_names_of_their_files_or_others(client: FlaskClient) -> None:
    page = drop(client, hybrid=rated(*HYBRID), api_only=rated(*API))

    report = client.get(f"/comparisons/files/report.json{place(page)}&phase=1")
    assert "phase1_comparison_" in report.headers["Content-Disposition"]
    assert [(run["name"], run["search_method"]) for run in json.loads(report.data)["runs"]] == [
        ("Hybrid", "hybrid"),
        ("API Only", "api_only"),
    ]
    renamed = Page(client.get(f"/comparisons/files/{place(page)}&name=Baru&name=v1.2+lama&phase=1"))
    assert renamed.texts(".ft .pair")[0] == "Baru − v1.2 lama"


def test_what_is_wrong_with_a_dropped_file_is_told_by_file_and_line(client: FlaskClient) -> None:
    name = "evaluation_rated_20260125.csv"
    wrong = rated("5,4,1,", "5,9,1,", "5,2,2,")
    chosen = [(BytesIO(data), name) for data in (rated(*HYBRID), wrong)]

    page = client.post("/comparisons/files/", data={"files": chosen}, follow_redirects=True)

    assert f"{name} (2), line 3: " in page.text
    details = client.get(f"/comparisons/files/{place(page)}&part=details").text
    assert f"{name} (2) was not asked question 2" in details


def test_files_with_different_questions_are_refused_with_those_that_differ(
    client: FlaskClient,
) -> None:
    page = drop(client, hybrid=rated(*HYBRID), api_only=rated(*API, last="ruko 3"))

    assert "These files have different questions, so they cannot be compared." in page.text
    assert "3. rumah 3" in page.text
    assert "3. ruko 3" in page.text
    assert "rumah 1" not in page.text


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"hybrid": rated(*HYBRID)}, "A comparison needs two rated CSVs."),
        ({"a": rated(*HYBRID), "b": HEADER.encode()}, "holds no question"),
    ],
)
def test_files_that_cannot_be_compared_say_why(
    client: FlaskClient, files: dict[str, bytes], message: str
) -> None:
    page = drop(client, **files)

    assert page.status_code == 200
    assert message in page.text
    assert not Page(page).has("#answer")
    assert client.post("/comparisons/files/", data={}).status_code == 422


def test_any_figures_can_be_shown_first(
    client: FlaskClient, web_database: Database, pair: tuple[str, str]
) -> None:
    headline = ("composite", "coverage", "Judged@5", "R-precision (trec_eval)")
    with open_study(web_database) as (session, study):
        changed = replace(studies.switches(study), measures=headline)
        studies.set_switches(session, study, changed, NOW)

    for part in ("", "categories", "questions"):
        page = Page(client.get(f"/comparisons/{selection(pair, part=part)}"))
        assert not page.all("[id*=' ']")
    for name in ("html", "latex", "xlsx"):  # they make names, labels and sheets of them
        assert client.get(f"/comparisons/report.{name}{selection(pair)}").status_code == 200


def test_a_question_judged_in_part_has_its_value_with_what_is_judged(
    app: Flask, client: FlaskClient
) -> None:
    """A ranking figure is defined before all is judged: the hole stands beside it."""
    program = Program(app)
    runs = [run["id"] for run in program.send(*collection())["data"]]
    first = program.get(f"/runs/{runs[0]}/results")["data"][0]
    program.post("/judgments", event_id="e", item=first["item"], verdict="1")
    page = client.get("/comparisons/", query_string={"runs": runs, "part": "questions"})

    assert "0.50–1.00" in Page(page).one("main")
    assert "1 of 2 judged" in Page(page).values(".cell.open", "title")[0]
