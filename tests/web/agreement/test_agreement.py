"""Agreement as a page: figures that explain themselves, and the same numbers as JSON."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.runs.runs import click
from webapp.db.engine import Database
from webapp.exporters.agreement.json_file import agreement_json
from webapp.i18n import speaking
from webapp.records import EmptyOutcome, Relevance
from webapp.services.agreement import agreement
from webapp.services.judging import events
from webapp.services.judging.events import AnswerRating
from webapp.services.study import studies
from webapp.web.agreement.agreement import written

YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT


@pytest.fixture(name="two_raters")
def _two_raters(web_database: Database, run_id: str) -> None:
    """The owner and Budi <b> judged cards a, b, c: alike, apart, alike; and one empty list."""
    with web_database.writing() as session:
        study = studies.current(session)
        assert study is not None
        study.blind = False
        owner = studies.raters(session, study)[0]
        budi = studies.add_rater(session, study, "Budi <b>", NOW)
        for rater, verdicts in ((owner, (YES, YES, NO)), (budi, (YES, NO, NO))):
            for rank, verdict in enumerate(verdicts, start=1):
                made = click(f"{rater.id}-{rank}")
                events.judge(session, rater, run_id, 1, rank, verdict, made)
            said = AnswerRating(quality=3, notes="", empty_outcome=EmptyOutcome.CORRECT_EMPTY)
            events.rate(session, rater, run_id, 3, said, click(f"{rater.id}-empty"))
        session.commit()


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.575, "0.58"), (0.625, "0.62"), (-0.25, "−0.25"), (-0.001, "0.00"), (None, "-")],
)
def test_a_coefficient_is_rounded_as_every_figure_and_has_a_real_minus(
    value: float | None, shown: str
) -> None:
    with speaking("en"):
        assert written(value) == shown


def test_before_two_raters_have_judged_the_page_says_what_is_missing(
    client: FlaskClient, run_id: str
) -> None:
    assert "Nothing of this kind has been judged yet." in client.get("/agreement").text
    client.post(f"/runs/{run_id}/queries/1/results/1/judgment", data={"relevance": "1"})

    assert "one rater alone has judged here" in client.get("/agreement").text


@pytest.mark.usefixtures("two_raters")
def test_the_page_shows_each_coefficient_with_its_meaning(client: FlaskClient) -> None:
    page = client.get("/agreement").text

    # a and c of a, b, c alike: 2/3. Pe = 2/3 x 1/3 + 1/3 x 2/3 = 4/9; kappa = 0.4.
    assert '<span class="value">0.67</span>' in page
    assert '<span class="value">0.40</span>' in page
    assert "3 items have a judgment" in page
    assert "Budi &lt;b&gt;" in page
    assert "<b>" not in page
    for name in ("raw", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        assert f'id="about-{name}"' in page
    assert 'id="why-one_label"' in page


@pytest.mark.usefixtures("two_raters")
def test_a_figure_without_a_value_says_why(client: FlaskClient) -> None:
    page = client.get("/agreement?of=empty_lists").text

    # One list, called empty by both: kappa cannot be told from chance.
    assert 'popovertarget="why-one_label"' in page
    assert '<span class="value">1.00</span>' in page


@pytest.mark.usefixtures("two_raters")
def test_quality_has_its_own_page_and_nonsense_shows_the_cards(client: FlaskClient) -> None:
    quality = client.get("/agreement?of=quality").text

    assert "Quality 0-5 is an order" in quality
    assert "Cannot tell" not in quality.split("</main>")[0].split("explanations")[0]
    assert "3 items have a judgment" in client.get("/agreement?of=nonsense").text


@pytest.mark.usefixtures("two_raters")
def test_the_json_is_what_the_command_prints(client: FlaskClient, web_database: Database) -> None:
    answer = client.get("/agreement.json").json

    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        assert answer == agreement_json(agreement.report(session, study))
    assert answer["cards"]["pairs"][0]["cohen_kappa"]["value"] == pytest.approx(0.4)
    assert answer["empty_lists"]["overall"]["cohen_kappa"]["value"] is None
    assert answer["empty_lists"]["overall"]["cohen_kappa"]["why_undefined"] == "one_label"
    assert answer["quality"]["cannot_tell"] is None
