"""The figures beside the cards are those of the exports, and move with every click."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from tests.services.runs.runs import card, query
from tests.web.conftest import PART, stored
from tests.web.rating.blind_study import begin, keys, set_study
from tests.web.rating.open_answers import place
from webapp.db.engine import Database


def test_plain_counts_of_what_was_clicked_stand_beside_the_figures(
    client: FlaskClient, run_id: str
) -> None:
    """Nothing decided: no number; then one not relevant; then the third card relevant."""
    assert clicked(client.get(place(run_id, 1)).text) == ["-", "-"]
    said = [
        (1, "unsure", ["-", "-"]),
        (2, "0", ["0 of 1", "none so far"]),
        (3, "1", ["1 of 2", "3"]),
    ]
    for rank, relevance, counts in said:
        address = f"{place(run_id, 1)}/results/{rank}/judgment"
        answer = client.post(address, data={"relevance": relevance}, headers=PART)
        assert clicked(answer.text) == counts


def clicked(html: str) -> list[str]:
    """Return the plain counts beside the figures."""
    found = re.search(r'<dl class="clicked">.*?</dl>', html, re.DOTALL)
    assert found is not None
    return re.findall(r"<dd>([^<]*)</dd>", found[0])


def test_figures_on_the_page_are_those_of_metrics_json(client: FlaskClient, run_id: str) -> None:
    for rank, relevance in ((1, "0"), (2, "1"), (3, "1")):
        client.post(f"{place(run_id, 1)}/results/{rank}/judgment", data={"relevance": relevance})

    figures = client.get(f"/runs/{run_id}/metrics.json").get_json()["figures"]

    page = client.get(f"/runs/{run_id}").text
    for name, figure in figures.items():
        row = re.search(rf'about-{name}".*?</tr>', page, re.DOTALL)
        assert row is not None
        shown = re.search(r'class="value[^"]*">([^<]+)<', row[0])
        expected = None if figure["value"] is None else f"{figure['value']:.2f}"
        assert (shown[1] if shown else None) == expected


def test_a_value_so_far_is_told_apart_from_what_the_finished_rating_can_reach(
    client: FlaskClient, web_database: Database
) -> None:
    """Query 1 is rated, not relevant: success 0 over 1 of 4; at the end between 0 and 3/4."""
    run_id = stored(web_database, [query(n, card(f"c{n}")) for n in range(1, 5)])
    client.post(f"{place(run_id, 1)}/results/1/judgment", data={"relevance": "0"})
    page = client.get(place(run_id, 2)).text
    row = re.search(r'about-success_rate".*?</tr>', page, re.DOTALL)
    assert row is not None
    of_run = row[0].rsplit("<td>", 1)[1]

    assert re.search(r'class="value so-far">0\.00<', of_run)
    assert ">1 of 4<" in of_run
    assert "→0.00–0.75" in of_run

    for n in range(2, 5):
        client.post(f"{place(run_id, n)}/results/1/judgment", data={"relevance": "1"})
    page = client.get(place(run_id, 2)).text
    row = re.search(r'about-success_rate".*?</tr>', page, re.DOTALL)
    assert row is not None
    assert "so-far" not in row[0]
    assert "n = 4" in row[0]


@pytest.mark.usefixtures("run_ids")
def test_figures_are_told_only_where_the_study_tells_them(
    client: FlaskClient, web_database: Database
) -> None:
    """2 relevant of 4 counted, "cannot tell" among them; 2 of 3 where it is left out."""
    address = begin(client)
    for key, relevance in zip(
        keys(client.get(address).text), ("1", "0", "1", "unsure"), strict=True
    ):
        client.post(f"{address}/judgment", data={"card": key, "relevance": relevance})
    assert "Relevant so far" not in client.get(address).text

    set_study(web_database, figures="all")

    assert "Relevant so far: 0.50 (2 of 4 counted cards)" in unescape(client.get(address).text)
    set_study(web_database, cannot_tell="left_out")
    assert "Relevant so far: 0.67 (2 of 3 counted cards)" in unescape(client.get(address).text)


def test_each_answer_s_figures_move_with_the_verdicts_where_raters_see_figures(
    client: FlaskClient, web_database: Database
) -> None:
    """One lists a, b, the other b: a not relevant, then b relevant."""
    lists = {"hybrid": [card("a"), card("b")], "api_only": [card("b")]}
    for method, cards in lists.items():
        stored(web_database, [query(1, *cards)], method=method)
    address = begin(client)
    assert 'class="of-answers"' not in client.get(address).text
    set_study(web_database, figures="all")
    html = client.get(address).text
    assert answer_figures(html) == {
        ("-", "-", "→0.00–1.00", "→0.00–1.00", "→0.00–1.00", "→0.00–1.00")
    }

    titles = re.findall(r'id="title-\d+".*?<bdi>([AB])</bdi></h2>', html, re.DOTALL)
    named = dict(zip(titles, keys(html), strict=True))
    for title, relevance, told in (
        (
            "A",
            "0",
            {
                (
                    "0 of 1",
                    "none so far",
                    "→0.00–0.50",
                    "→0.00–0.50",
                    "→0.00–0.50",
                    "→0.00–1.00",
                ),
                ("-", "-", "→0.00–1.00", "→0.00–1.00", "→0.00–1.00", "→0.00–1.00"),
            },
        ),
        (
            "B",
            "1",
            {
                ("1 of 2", "2", "0.50", "0.50", "0.50", "1.00"),
                ("1 of 1", "1", "1.00", "1.00", "1.00", "1.00"),
            },
        ),
    ):
        data = {"card": named[title], "relevance": relevance}
        moved = client.post(f"{address}/judgment", data=data, headers=PART).text
        assert answer_figures(moved) == told
        assert answer_figures(client.get(address).text) == told


def answer_figures(html: str) -> set[tuple[str, ...]]:
    """Return the columns of the figures: two counts, then each figure's value or its bounds."""
    found = re.search(r'<aside id="figures" class="of-answers".*?</aside>', html, re.DOTALL)
    assert found is not None
    rows = re.findall(r"<tr.*?</tr>", found[0], re.DOTALL)[1:]
    cells = [re.findall(r"<td>(.*?)</td>", row, re.DOTALL) for row in rows]
    return {tuple(map(printed, column)) for column in zip(*cells, strict=True)}


def printed(cell: str) -> str:
    figure = re.search(r'class="value">([^<]*)', cell)
    bounds = re.search(r'class="bounds".*?aria-hidden="true">([^<]*)', cell)
    return figure[1] if figure else bounds[1] if bounds else cell
