"""Runs as pages: the list, one run, its labels, its exports, its deletion."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace

from relevansi.db.engine import Database
from relevansi.i18n import gettext, speaking
from relevansi.metrics.agreement.report import COEFFICIENTS
from relevansi.metrics.judging.registry import MEASURES, read_groups
from relevansi.records import QueryState
from relevansi.services.exports import tool_files
from relevansi.services.runs import runs
from relevansi.services.study import studies
from relevansi.web.runs.runs import FORMATS
from tests.conftest import NOW
from tests.page import Page
from tests.services.runs.runs import card, query
from tests.web.conftest import judge, stored


def test_a_run_says_how_it_stands(client: FlaskClient, run_id: str) -> None:
    page = client.get(f"/runs/{run_id}").text

    # d of question 2 is asked once; one empty list; the failed call misses its quality alone.
    state = "1 of 5 questions complete · 5 answers not graded (provisional)"
    assert state in page
    assert state in client.get("/runs/").text
    assert " not yet" in page
    assert "call failed" in page
    assert "unreadable, not counted" in page


def test_the_owner_moves_a_run_in_the_study(client: FlaskClient, web_database: Database) -> None:
    first = stored(web_database, [query(1, card("a"))], method="api")
    second = stored(web_database, [query(1, card("b"))], method="hybrid")

    def in_order() -> list[str]:
        with web_database.reading() as session:
            return [run.id for run in runs.in_order(session, studies.open_or_make(session, NOW))]

    assert in_order() == [first, second]
    assert client.post(f"/runs/{second}/move", data={"direction": "up"}).status_code == 303
    assert in_order() == [second, first]
    assert client.post(f"/runs/{first}/move", data={"direction": "left"}).status_code == 400


def test_runs_are_sorted_by_a_figure_and_the_best_final_value_stands_out(
    client: FlaskClient, web_database: Database
) -> None:
    low = stored(web_database, [query(1, card("a"), card("b"))], method="api")
    high = stored(web_database, [query(1, card("c"))], method="hybrid")
    open_run = stored(web_database, [query(1, card("d"))], method="bm25")
    judge(client, low, 1, 1, "1")
    judge(client, low, 1, 2, "0")
    judge(client, high, 1, 1, "1")

    def listed(order: str) -> list[str]:
        page = Page(client.get(f"/runs/?sort=mean_precision_at_5&order={order}"))
        return [link.removeprefix("/runs/") for link in page.links("tbody th a")]

    assert listed("desc") == [high, low, open_run]
    assert listed("asc") == [low, high, open_run]  # what has no value is last
    page = Page(client.get("/runs/"))
    assert page.texts(f"#run-{high} .ahead .value")[0].startswith("1.00")
    assert "0.50" not in page.texts(f"#run-{low} .ahead .value")
    assert "can still be 0.00–1.00" in page.one(f"#run-{open_run}")


def test_runs_of_a_phase_are_shown_alone_and_ticked_for_their_comparison(
    client: FlaskClient, web_database: Database
) -> None:
    of_phase = [
        stored(web_database, [query(1, card("a"))], method=method) for method in ("api", "hybrid")
    ]
    stored(web_database, [query(1, card("b"), text="Another question")], method="api")

    page = Page(client.get("/runs/"))
    assert {*page.values("[name=runs][checked]")} == {*of_phase}
    assert {*Page(client.get("/runs/?phase=1")).values("[name=runs]")} == {*of_phase}


def test_a_run_says_how_long_the_chatbot_took_where_its_file_does(
    client: FlaskClient, web_database: Database
) -> None:
    timed = [
        replace(query(n, card("a")), extra={"latency_ms": took})
        for n, took in ((1, 2000), (2, 4000))
    ]
    page = Page(client.get(f"/runs/{stored(web_database, timed)}"))
    unknown = client.get(f"/runs/{stored(web_database, [query(1, card('a'), text='Other')])}").text

    assert "half below 3.0 sec" in page  # 2 and 4 seconds
    assert "95% below 3.9 sec" in page  # 2 + 0.95 x 2
    assert "Response time" not in unknown


def test_files_are_named_with_their_day_and_figures_are_not_rounded(
    client: FlaskClient, web_database: Database
) -> None:
    run = stored(web_database, [query(1, card("a"), card("b"), card("c"))])
    for rank, verdict in ((1, "0"), (2, "0"), (3, "1")):
        judge(client, run, 1, rank, verdict)

    for name in (name for key, name in FORMATS.items() if key not in tool_files.TOOLS):
        answer = client.get(f"/runs/{run}/{name}")
        assert answer.data
        assert run in answer.headers["Content-Disposition"]
    disposition = client.get(f"/runs/{run}/export.csv").headers["Content-Disposition"]
    result = client.get(f"/runs/{run}/metrics.json").get_json()

    # The file states no time, so that the day is that of the import.
    assert f"evaluation_rated_20260301_{run}_provisional.csv" in disposition  # no grade yet
    client.post(f"/runs/{run}/queries/1/rating", data={"quality": "3"})
    disposition = client.get(f"/runs/{run}/export.csv").headers["Content-Disposition"]
    assert f"evaluation_rated_20260301_{run}.csv" in disposition
    assert result["figures"]["mrr"]["value"] == 1 / 3  # the third is relevant
    assert result["queries"][0]["overall_precision"] == 1 / 3


def test_labels_change_and_the_files_own_stay(client: FlaskClient, run_id: str) -> None:
    answer = client.post(
        f"/runs/{run_id}/labels", data={"search_method": "vector_only", "llm": "gpt"}
    )

    assert answer.status_code == 303
    page = client.get(f"/runs/{run_id}/files").text
    assert "Vector Only · gpt" in page
    assert "The file says: hybrid" in page


def test_deleting_says_first_what_goes_and_what_stays(client: FlaskClient, run_id: str) -> None:
    for number in (1, 6):  # question 6 depends on its conversation
        judge(client, run_id, number)

    text = client.get(f"/runs/{run_id}/delete").text
    client.post(f"/runs/{run_id}/delete")

    assert "1 judgment on a question that depends on its conversation" in text
    assert "1 judgment on a property: it counts for every run that shows it" in text
    assert client.get(f"/runs/{run_id}").status_code == 404


QUERIES = (
    query(1, card("a"), card("b"), text="Zeta", category="location_simple"),
    query(2, card("c"), text="alpha", category="my own"),
    query(3, text="Nothing", category="property_type"),
    query(4, card("d"), card("e"), card("f"), text="Mid", category="location_simple"),
    query(5, state=QueryState.UNREADABLE, text="Broken", category="location_simple"),
)


def rated(client: FlaskClient, database: Database) -> str:
    """A run of which question 4 is half rated and question 3 a list that should not be empty."""
    run = stored(database, QUERIES)
    for number, rank, verdict in ((1, 1, "0"), (1, 2, "1"), (2, 1, "1"), (4, 1, "1"), (4, 2, "1")):
        judge(client, run, number, rank, verdict)
    client.post(f"/runs/{run}/queries/1/rating", data={"quality": "3", "notes": "w" * 50})
    client.post(f"/runs/{run}/queries/3/rating", data={"empty_outcome": "false_negative"})
    return run


def table(client: FlaskClient, address: str) -> list[list[str]]:
    return Page(client.get(address)).rows(".question-list tbody")


def test_a_row_shows_the_figures_of_its_question(
    client: FlaskClient, web_database: Database
) -> None:
    """What is not rated is blank, what has no value is a dash."""
    run = rated(client, web_database)

    rows = {row[0]: row for row in table(client, f"/runs/{run}")}

    # 2 results, 1 relevant at rank 2: precision 1/2, reciprocal rank 1/2.
    assert rows["1"][1:3] == [f"Zeta Note: {'w' * 50}", "Location"]
    assert rows["1"][4:] == ["0.50", "0.50", "1.00", "3"]
    assert rows["2"][4:] == ["1.00", "1.00", "1.00", ""]  # no quality yet
    # A false negative: no precision, reciprocal rank and success 0.
    assert rows["3"][3:7] == ["should have results", "", "0.00", "0.00"]
    assert rows["4"][4:] == ["", "", "", ""]
    assert rows["5"][3:] == ["unreadable, not counted", "–", "–", "–", "–"]
    strips = Page(client.get(f"/runs/{run}")).values(".verdicts[aria-label]", "aria-label")
    assert strips == ["1 of 2 relevant", "1 of 1 relevant", "2 of 3 relevant, 1 not yet"]


SORTED = {
    "query_id": ("12345", "54321"),
    "question": ("25431", "13452"),  # alpha, Broken, Mid, Nothing, Zeta
    "category": ("14523", "32145"),  # Location, my own, Property type
    "mean_precision_at_5": ("12345", "21345"),  # 0.5 and 1; the others have none
    "mrr": ("31245", "21345"),  # 0, 0.5 and 1
    "success_rate": ("31245", "12345"),  # 0, then 1 and 1
    "password": ("12345", "12345"),
}
"""The questions in rising and in falling order."""


def test_the_table_sorts_by_every_column_with_blanks_last(
    client: FlaskClient, web_database: Database
) -> None:
    run = rated(client, web_database)

    for sort, orders in SORTED.items():
        for order, expected in zip(("asc", "desc"), orders, strict=True):
            rows = table(client, f"/runs/{run}?sort={sort}&order={order}")
            assert "".join(row[0] for row in rows) == expected, (sort, order)


def test_questions_are_filtered(client: FlaskClient, web_database: Database) -> None:
    run = rated(client, web_database)
    judge(client, run, 1, 2, "0")

    def numbers(show: str) -> str:
        return "".join(row[0] for row in table(client, f"/runs/{run}?show={show}"))

    assert (numbers("low"), numbers("empty"), numbers("other")) == ("1", "35", "12345")


def test_a_row_leads_to_its_question_and_in_a_blind_study_to_its_list(
    client: FlaskClient, web_database: Database
) -> None:
    run = rated(client, web_database)
    page = Page(client.get(f"/runs/{run}?rule=majority&sort=mrr&order=asc"))

    assert page.count("[aria-sort=ascending]") == 1
    assert f"/runs/{run}?sort=mrr&order=desc&rule=majority#questions" in page.links()
    assert f"/runs/{run}?sort=success_rate&order=asc&rule=majority#questions" in page.links()
    assert f"/runs/{run}?rule=rater+Pemilik&sort=mrr&order=asc" in page.links(".pop a")
    assert f"/runs/{run}/queries/1" in page.links()
    with web_database.writing() as session:
        studies.open_or_make(session, None).blind = True  # type: ignore[arg-type]
        session.commit()
    page = Page(client.get(f"/runs/{run}?rule=majority"))
    assert f"/runs/{run}/queries/1" not in page.links()
    listed = f"/comparisons/questions/1?runs={run}&rule=majority"
    assert listed in page.links()


@pytest.mark.parametrize("language", ["en", "id"])
def test_every_figure_has_its_label_and_its_source(client: FlaskClient, language: str) -> None:
    page = Page(client.get("/measures/", headers={"Accept-Language": language}))

    with speaking(language):
        for measure in (
            *MEASURES.values(),
            *COEFFICIENTS.values(),
            *next(iter(read_groups("comparisons").values())).measures.values(),
        ):
            assert gettext(measure.label) in page
            assert gettext(measure.source) in page
