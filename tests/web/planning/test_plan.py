"""The rating plan on its page: a wish becomes a sentence, a curve and a table."""

from __future__ import annotations

from flask.testing import FlaskClient

PAGE = "/study/planning"


def test_an_entered_deviation_says_what_the_questions_can_show(
    client: FlaskClient, run_id: str
) -> None:
    assert run_id
    wish = {"figure": "mrr", "difference": "0,15", "power": "80", "deviation": "0.28"}
    page = client.get(PAGE, query_string=wish).text
    # statsmodels: 30 questions, see tests/metrics/planning/test_power.py.
    assert "A difference of 0.15 takes 30 questions at a power of 80%, tested at 5%." in page
    assert "With 1 question you can show" not in page  # one question shows nothing
    assert '<svg xmlns="http://www.w3.org/2000/svg"' in page
    assert 'id="table-plan"' in page


def test_before_anything_is_rated_the_page_says_what_is_missing(
    client: FlaskClient, run_id: str
) -> None:
    assert run_id
    page = client.get(PAGE).text
    assert "Nothing is known yet of how much two runs differ" in page
    assert 'id="table-plan"' not in page


def test_a_wrong_value_is_named_at_its_field(client: FlaskClient, run_id: str) -> None:
    assert run_id
    wish = {"difference": "much", "raters": "0", "figure": "none", "power": "1", "pair": "a~b"}
    page = client.get(PAGE, query_string=wish)
    assert page.status_code == 200
    assert page.text.count('aria-invalid="true"') == 2
    assert "This value cannot be used here." in page.text
    assert "This number is too small or too large." in page.text
