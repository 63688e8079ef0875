"""The study as pages: how it is set up, how far it is, and whose verdicts a run's figures take."""

from __future__ import annotations

import html
import re
from hashlib import sha256

import pytest
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.runs.runs import card, click, query
from tests.web.conftest import PART, stored
from tests.web.rating.blind_study import set_study
from webapp.db.engine import Database
from webapp.db.tables.people import LogEntry
from webapp.records import Relevance
from webapp.services.rating import tasks
from webapp.services.study import studies
from webapp.services.study.studies import Switches

FORM = {
    "name": "Skripsi",
    "guidelines": "# Aturan",
    "blind": "auto",
    "order": "given",
    "figures": "progress",
    "overlap": "",
    "pool_depth": "",
    "repeat_percent": "5",
}


def kept(database: Database) -> Switches:
    """Return how the study is set."""
    with database.reading() as session:
        study = studies.current(session)
        assert study is not None
        return studies.switches(study)


def add(database: Database, name: str, *verdicts: Relevance) -> None:
    """Add a rater who gives `verdicts` on the cards of their first task, a minute apart."""
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        rater = studies.add_rater(session, study, name, NOW)
        task = tasks.next_task(session, rater, NOW)
        assert task is not None
        for minute, verdict in enumerate(verdicts):
            shown = tasks.key(task, tasks.things(session, task)[minute].id)
            tasks.judge(session, rater, task.id, shown, verdict, click(f"{name}{minute}", minute=1))
        session.commit()


def test_a_new_study_shows_what_is_in_force(client: FlaskClient, web_database: Database) -> None:
    page = client.get("/study/").text

    assert re.search(r'name="blind" value="auto" checked', page)
    assert re.search(r'name="figures" value="progress" checked', page)
    assert re.search(r'name="repeat_percent" value="5"', page)
    assert re.search(r'name="overlap" value=""', page)
    assert "At present raters are not blind." in page
    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        secret = study.order_secret
    assert f"same: {sha256(secret.encode()).hexdigest()}<" in page
    assert secret not in page
    assert "Work already done" in page


def test_an_unnamed_study_is_not_named_by_saving_the_form_in_another_language(
    client: FlaskClient, web_database: Database
) -> None:
    before = kept(web_database).name
    for code, name in (("id", "Studi saya"), ("en", "My study")):
        client.post("/study/", data=FORM | {"name": name}, headers={"Accept-Language": code})
        assert kept(web_database).name == before
    client.post("/study/", data=FORM | {"name": "Skripsi"})
    assert kept(web_database).name == "Skripsi"


def test_every_switch_is_stored_and_each_change_logged(
    client: FlaskClient, web_database: Database
) -> None:
    wanted = FORM | {
        "blind": "yes",
        "order": "shuffled",
        "figures": "all",
        "overlap": "2",
        "pool_depth": "10",
        "repeat_percent": "0",
        "allow_bulk": "1",
        "show_pictures": "1",
        "cannot_tell": "left_out",
    }

    assert client.post("/study/", data=wanted).status_code == 303

    assert kept(web_database) == Switches(
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
        guidelines="# Aturan",
    )
    with web_database.reading() as session:
        assert len(session.query(LogEntry).all()) == 12  # new guidelines end the starter too


def test_saving_what_is_shown_changes_nothing(client: FlaskClient, web_database: Database) -> None:
    client.post("/study/", data=FORM | {"overlap": "3", "blind": "no", "allow_bulk": "1"})
    before = kept(web_database)

    client.post("/study/", data=FORM | {"overlap": "3", "blind": "no", "allow_bulk": "1"})

    assert kept(web_database) == before
    assert "Saved" in client.get("/study/?saved=1").text


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("name", " ", "Please fill this in."),
        ("name", "x" * 201, "This text is too long."),
        ("overlap", "two", "Please write a whole number, in digits."),
        ("overlap", "1.5", "Please write a whole number, in digits."),
        ("overlap", "٣", "Please write a whole number, in digits."),
        ("overlap", "0", "This number is too small or too large."),
        ("pool_depth", "-1", "Please write a whole number, in digits."),
        ("pool_depth", "999999999", "This number is too small or too large."),
        ("repeat_percent", "", "Please fill this in."),
        ("repeat_percent", "101", "This number is too small or too large."),
        ("blind", "perhaps", "This value cannot be used here."),
        ("figures", "none", "This value cannot be used here."),
        ("cannot_tell", "perhaps", "This value cannot be used here."),
        ("order", "random", "This value cannot be used here."),
        ("guidelines", "x" * 200_001, "This text is too long."),
    ],
)
def test_what_cannot_be_is_marked_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, field: str, typed: str, said: str
) -> None:
    before = kept(web_database)

    answer = client.post("/study/", data=FORM | {"name": "Other", field: typed})

    assert answer.status_code == 422
    assert f'id="{field}-error">{said}' in answer.text
    assert "Nothing was saved yet" in answer.text
    assert kept(web_database) == before


def test_what_was_typed_is_shown_again(client: FlaskClient) -> None:
    typed = FORM | {"overlap": "<b>", "guidelines": "Aturan baru", "blind": "no"}

    page = client.post("/study/", data=typed).text

    assert 'value="&lt;b&gt;"' in page
    assert "Aturan baru</textarea>" in page
    assert re.search(r'name="blind" value="no" checked', page)


def test_the_preview_is_a_part_with_htmx_and_a_page_without(client: FlaskClient) -> None:
    part = client.post("/study/guidelines", data=FORM, headers=PART)
    page = client.post("/study/guidelines", data=FORM | {"name": "Half typed"})

    assert part.text.lstrip().startswith('<div id="preview"')
    assert "<h4>Aturan</h4>" in part.text
    assert "<h4>Aturan</h4>" in page.text
    assert 'value="Half typed"' in page.text
    assert "Skripsi" not in client.get("/study/").text  # nothing was stored
    assert client.get("/study/guidelines").location == "/study/#guidelines-part"


def test_guidelines_cannot_run_anything(client: FlaskClient) -> None:
    hostile = "<script>alert(1)</script>[x](javascript:alert(1))<img src=x onerror=alert(1)>"

    part = client.post("/study/guidelines", data=FORM | {"guidelines": hostile}, headers=PART).text

    assert not re.search(r"<script|<img|href=.javascript", part)


@pytest.mark.parametrize(("code", "word"), [("id", "Tidak yakin"), ("en", "Cannot tell")])
def test_a_starter_text_is_put_below_what_stands_there(
    client: FlaskClient, code: str, word: str
) -> None:
    address = f"/study/guidelines?starter={code}"

    part = client.post(address, data=FORM, headers=PART).text

    assert part.index("# Aturan") < part.index(f"# {word}")
    assert f"<h4>{word}</h4>" in part
    assert 'id="guidelines-part"' in part


def test_there_is_no_starter_text_in_another_language(client: FlaskClient) -> None:
    assert client.post("/study/guidelines?starter=../x", data=FORM).status_code == 400


def test_a_study_without_runs_has_nothing_to_judge(client: FlaskClient) -> None:
    assert "There is nothing to judge yet." in client.get("/study/standing").text


def test_the_saving_is_told_in_the_studys_own_numbers(
    client: FlaskClient, web_database: Database
) -> None:
    stored(web_database, [query(1, card("a"), card("b"), card("c"))])
    stored(web_database, [query(1, card("b"), card("c"), card("d"))], method="api_only")

    page = client.get("/study/standing").text
    client.post("/study/", data=FORM | {"pool_depth": "2"})
    cut = client.get("/study/standing").text

    # Six cards shown: a, b, c, d are four things, two cards (33 %) need no verdict.
    assert "6 cards shown, 4 to judge." in page
    assert "saves each rater 2 verdicts, 33% of all cards" in page
    assert "nothing is left out" in page
    # Down to rank 2: a, b of one run and b, c of the other; d lies deeper only.
    assert "6 cards shown, 3 to judge." in cut
    assert "The pool ends at rank 2: 1 property that only lies deeper stays unjudged" in cut


def test_each_rater_and_question_says_what_is_left(
    client: FlaskClient, web_database: Database
) -> None:
    stored(web_database, [query(1, card("a"), card("b")), query(2, card("c"))])
    add(web_database, "Ani", Relevance.RELEVANT)

    page = client.get("/study/standing").text
    client.post("/study/", data=FORM | {"overlap": "1"})
    alone = client.get("/study/standing").text

    assert "Ani <b>1</b>" in page
    assert lefts(page) == ["3", "2"]  # of two raters: Ani lacks 1 of 2, the owner all of both
    assert lefts(alone) == ["1", "1"]  # question 1 is Ani's, question 2 is free
    assert "given to nobody yet" in page
    assert "so together it is less" in alone


def test_the_standing_refreshes_as_a_part(client: FlaskClient, run_id: str) -> None:
    part = client.get("/study/standing", headers=PART).text

    assert run_id
    assert part.lstrip().startswith('<div id="standing">')


def test_names_are_text_wherever_they_stand(client: FlaskClient, web_database: Database) -> None:
    stored(web_database, [query(1, card("a"), text="<script>x</script>")])
    add(web_database, "<b>Ani</b>", Relevance.RELEVANT)

    page = client.get("/study/standing").text

    assert "<script>x" not in page
    assert "<b>Ani" not in page


def lefts(page: str) -> list[str]:
    """Return the last column of the questions."""
    rows = page.split("questions-stand")[1]
    return re.findall(r'data-label="Left">(\d+)<', rows)


# ---- whose verdicts a run's figures take ---------------------------------------------------


@pytest.fixture(name="two_raters")
def _two_raters(client: FlaskClient, web_database: Database) -> str:
    """A run of one card that the owner called relevant and Ani did not; its id."""
    run_id = stored(web_database, [query(1, card("a"))])
    client.post(f"/runs/{run_id}/queries/1/results/1/judgment", data={"relevance": "1"})
    add(web_database, "Ani & Co", Relevance.NOT_RELEVANT)
    return run_id


@pytest.mark.parametrize(
    ("rule", "value", "words"),
    [
        ("rater Ani & Co", "0.00", "Ani &amp; Co alone"),
        ("rater Pemilik", "1.00", "Pemilik alone"),
        ("majority", "-", "Majority of all raters"),
        ("adjudicated", "-", "Adjudicated, else the majority"),
        ("", "-", "Majority of all raters"),
    ],
)
def test_a_runs_figures_follow_the_rule_and_name_it(
    client: FlaskClient, two_raters: str, rule: str, value: str, words: str
) -> None:
    page = client.get(f"/runs/{two_raters}", query_string={"rule": rule}).text
    first = page.split('popovertarget="about-mean_precision_at_5"')[1].split("</tr>")[0]
    found = client.get(f"/runs/{two_raters}/metrics.json", query_string={"rule": rule}).get_json()

    assert f">{value}<" in first
    assert f"<strong>{words}</strong>" in page
    assert found["rule"] == (rule or "majority")
    figure = found["figures"]["mean_precision_at_5"]["value"]
    assert figure == (None if value == "-" else float(value))


def test_every_export_link_carries_the_rule(client: FlaskClient, two_raters: str) -> None:
    asked = {"part": "exports", "rule": "rater Ani & Co"}
    page = client.get(f"/runs/{two_raters}", query_string=asked).text
    links = re.findall(rf'href="(/runs/{two_raters}/[a-z]+\.[a-z]+\?[^"]*)"', page)

    assert len(links) == 9
    for link in links:
        assert link.endswith("?rule=rater+Ani+%26+Co")
    csv = client.get(next(link for link in links if "/export.csv" in link)).text
    assert csv.splitlines()[1].startswith("1,Question 1,location,1,0,,0.0000,0.0000,0.0000,0")


@pytest.mark.parametrize("part", ["", "/metrics.json", "/export.csv"])
def test_an_unknown_rule_is_refused_with_those_there_are(
    client: FlaskClient, two_raters: str, part: str
) -> None:
    answer = client.get(f"/runs/{two_raters}{part}?rule=best")

    assert answer.status_code == 400
    assert "&#34;majority&#34;, &#34;adjudicated&#34;" in answer.text


def test_raters_see_the_starter_guidelines_in_their_language_until_the_owner_edits_them(
    client: FlaskClient, web_database: Database
) -> None:
    """Saved as they are they stay the starter; cleared they are gone."""
    stored(web_database, [query(1, card("a"))])
    set_study(web_database, blind=True)

    def shown() -> list[bool]:
        page = client.get("/rate/", follow_redirects=True).text
        return ["What you judge" in page, "Yang dinilai" in page]

    english = studies.starters()["en"]
    assert english in html.unescape(client.get("/study/").text)
    assert shown() == [True, False]
    client.post("/study/", data=FORM | {"blind": "yes", "guidelines": f"{english}\r\n"})
    client.post("/language", data={"to": "id"})
    assert shown() == [False, True]
    client.post("/study/", data=FORM | {"blind": "yes", "guidelines": ""})
    assert shown() == [False, False]
    client.post("/study/", data=FORM | {"blind": "yes", "guidelines": english})
    assert shown() == [True, False]
