"""The page of the rating plan: a rule is chosen and ended there, each with a plain sentence."""

from __future__ import annotations

from flask.testing import FlaskClient

from tests.services.rating.blind_raters import Robot
from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from webapp.db.engine import Database
from webapp.services.planning import rules
from webapp.services.study import studies

PAGE = "/study/planning"


def test_a_study_without_questions_says_so(client: FlaskClient) -> None:
    page = client.get(PAGE)
    assert page.status_code == 200
    assert "There are no questions yet." in page.text


def test_a_plan_can_be_made_before_there_are_questions(client: FlaskClient) -> None:
    page = client.get(PAGE, query_string={"deviation": "0.3", "difference": "0.1"}).text

    assert "A difference of 0.10 takes 73 questions" in page
    assert "<svg" in page


def test_the_owner_chooses_by_effect_and_ends_it(client: FlaskClient, run_id: str) -> None:
    assert run_id
    page = client.get(PAGE).text
    assert "All questions are rated, in their usual order." in page
    assert 'aria-current="page">Rating plan</a>' in page

    chosen = client.post(f"{PAGE}/1/rule", data={"kind": "by_effect"}, follow_redirects=True)

    assert chosen.request.full_path == f"{PAGE}?set=1"
    assert "<strong>By effect.</strong>" in chosen.text
    assert "before the first verdict; seed " in chosen.text
    ended = client.post(f"{PAGE}/1/rule/end", follow_redirects=True).text
    assert "All questions are rated, in their usual order." in ended
    assert "1 earlier rule" in ended
    assert "ended after 0 verdicts" in ended


def test_after_a_verdict_the_page_says_why_a_rule_is_too_late(
    client: FlaskClient, run_id: str
) -> None:
    address = f"/runs/{run_id}/queries/1/results/1/judgment"
    client.post(address, data={"relevance": "1", "event_id": "first"})

    page = client.get(PAGE).text
    assert "People have given 1 verdict on these questions." in page
    assert "Rate by effect" not in page
    refused = client.post(f"{PAGE}/1/rule", data={"kind": "by_effect"})
    assert refused.status_code == 409
    assert "This rule can no longer be chosen" in refused.text


def test_what_no_page_sends_is_refused(client: FlaskClient, run_id: str) -> None:
    assert run_id
    assert client.post(f"{PAGE}/1/rule", data={"kind": "best"}).status_code == 400
    assert client.post(f"{PAGE}/9/rule", data={"kind": "by_effect"}).status_code == 404
    assert client.post(f"{PAGE}/1/rule/end").status_code == 404
    assert client.get(f"{PAGE}?set=9").status_code == 404
    assert client.get(f"{PAGE}/1/rule").location == f"{PAGE}?set=1"


def test_each_question_set_has_a_plan_of_its_own(
    client: FlaskClient, web_database: Database
) -> None:
    stored(web_database, [query(1, card("a"))])
    stored(web_database, [query(1, card("a"), text="Another")])
    client.post(f"{PAGE}/1/rule", data={"kind": "by_effect"})

    assert "<strong>By effect.</strong>" in client.get(f"{PAGE}?set=1").text
    newest = client.get(PAGE).text
    assert "<strong>By effect.</strong>" not in newest
    assert "Question set B" in newest
    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        first, second = rules.question_sets(session, study)
        assert rules.in_force(session, first.id) is not None
        assert rules.in_force(session, second.id) is None


def compared(database: Database) -> tuple[str, str]:
    """Store two runs of two questions, a card of its own in each."""
    first, second = (
        stored(database, [query(n, card(f"{method}{n}")) for n in (1, 2)], method=method)
        for method in ("hybrid", "api_only")
    )
    return first, second


def judge(client: FlaskClient, run: str, number: int, said: str) -> None:
    address = f"/runs/{run}/queries/{number}/results/1/judgment"
    data = {"relevance": said, "event_id": f"{run}-{number}"}
    assert client.post(address, data=data).status_code == 303


def test_what_is_settled_is_on_the_plan_the_progress_page_and_the_comparison(
    client: FlaskClient, web_database: Database
) -> None:
    first, second = compared(web_database)
    comparison = f"/comparisons/?runs={first}&runs={second}"
    places = (PAGE, "/study/standing", comparison)
    for place in places:
        page = client.get(place).text
        assert "No order is settled yet: the open cards can still change every one." in page, place
        assert "The rest depends on 4 cards in 2 questions: 1, 2." in page, place
    assert "The questions that can change most: 1, 2." in client.get(PAGE).text
    for number in (1, 2):
        judge(client, first, number, "1")
    judge(client, second, 1, "0")

    for place in places:
        page = client.get(place).text
        assert "Every order is settled: no card that is still open can change it." in page, place
        assert "settled: Hybrid is ahead" in page, place
        assert "Judged so far: 3 of 4 distinct cards and empty lists." in page, place

    found = client.get(f"/comparisons/report.json?runs={first}&runs={second}").json
    assert found is not None
    assert found["settled"][0] == {
        "runs": [first, second],
        "figure": "mean_precision_at_5",
        "settled": True,
        "ahead": first,
        "min": 0.5,  # 1 - 0 and 1 - 1
        "max": 1.0,
        "n": 2,
        "open_cards": 0,
        "questions": [],
        "judged": 3,
        "of": 4,
        "rule": None,  # rated in the usual order
    }
    markdown = client.get(f"/comparisons/report.markdown?runs={first}&runs={second}").text
    assert "Every order is settled" in markdown


def test_one_run_has_nothing_to_settle(client: FlaskClient, run_id: str) -> None:
    assert run_id
    assert "settled-title" not in client.get(PAGE).text
    assert "settled-title" not in client.get("/study/standing").text


def test_a_rater_by_effect_is_told_when_enough_is_rated(
    client: FlaskClient, web_database: Database
) -> None:
    """Question 1 is the same in both runs, so only question 2 is asked."""
    for method in ("hybrid", "api_only"):
        stored(web_database, [query(1, card("same")), query(2, card(method))], method=method)
    client.post(f"{PAGE}/1/rule", data={"kind": "by_effect", "afterwards": "stop"})
    assert ". Once every order is settled, nothing else is asked." in client.get(PAGE).text
    with web_database.writing() as session:
        study = studies.current(session)
        assert study is not None
        robot = Robot(session, studies.raters(session, study)[0])
        page = robot.next_page()
        assert page is not None
        assert page.question == "Question 2"
        robot.rate(page)
        session.commit()

    done = client.get("/rate/").text

    assert "Enough is rated. Thank you." in done
    assert "cannot change the result any more" in done
