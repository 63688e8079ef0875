"""A page's scripts come as one file, and so do its styles."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from webapp.config import resource


def test_a_rating_page_asks_for_one_script_and_one_style_beside_htmx(
    client: FlaskClient, run_id: str
) -> None:
    page = client.get(f"/runs/{run_id}/queries/1").text

    files = re.findall(r'(?:href|src)="/static/([^?"]+)\?v=[0-9a-f]{10}"', page)

    assert sorted(files) == [
        "frame/first.js",
        "frame/icon.svg",
        "joined/rating/rating.css",
        "joined/rating/rating.js",
        "vendor/htmx.min.js",
    ]


def test_no_two_scripts_have_one_name() -> None:
    """Joined scripts know each other by the names of their files, without the folders."""
    names = [path.name for path in resource("static").rglob("*.js") if "vendor" not in path.parts]

    assert len(names) > 10
    assert sorted(names) == sorted(set(names))


def test_a_script_comes_after_all_that_it_imports_and_each_file_once(client: FlaskClient) -> None:
    script = client.get("/static/joined/rating/rating.js+people/links.js")

    order = re.findall(r'^parts\["([\w.]+)"\] =', script.text, re.MULTILINE)

    assert script.mimetype == "text/javascript"
    assert not re.search(r"^\s*(?:import|export)\b", script.text, re.MULTILINE)
    assert len(order) == len(set(order))
    assert order.index("memory.js") < order.index("queue.js") < order.index("outbox.js")
    assert order[-2:] == ["rating.js", "links.js"]


def test_styles_count_in_the_order_of_their_names(client: FlaskClient) -> None:
    style = client.get("/static/joined/frame/doors.css+rating/rating.css")

    alone = [
        (resource("static") / name).read_text("utf-8").strip()
        for name in (
            *("vendor/modern-normalize.css", "frame/app.css"),
            *("frame/doors.css", "rating/rating.css"),
        )
    ]
    assert style.mimetype == "text/css"
    assert style.text == "\n".join(alone)


@pytest.mark.parametrize(
    "name",
    [
        "frame/nothing.js",
        "frame/page.js+frame/app.css",
        "../../pyproject.toml",
        "rating/rating.js+../../webapp/app.js",
        "frame/icon.svg",
    ],
)
def test_no_other_file_is_shown(client: FlaskClient, name: str) -> None:
    assert client.get(f"/static/joined/{name}").status_code == 404
