"""Agreement as a page: figures that explain themselves, and the same numbers as JSON."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.runs.runs import click
from webapp.db.engine import Database
from webapp.exporters.agreement.report import agreement_json, written
from webapp.i18n import speaking
from webapp.records import EmptyOutcome, Relevance
from webapp.services.agreement import agreement
from webapp.services.judging import events
from webapp.services.judging.events import AnswerRating
from webapp.services.study import studies

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
    cards = client.get("/agreement?of=nonsense").text
    empty = client.get("/agreement?of=empty_lists").text
    quality = client.get("/agreement?of=quality").text

    # a and c of a, b, c alike: 2/3. Pe = 2/3 x 1/3 + 1/3 x 2/3 = 4/9; kappa = 0.4.
    assert '<span class="value">0.67</span>' in cards
    assert '<span class="value">0.40</span>' in cards
    assert "Budi &lt;b&gt;" in cards
    assert "<b>" not in cards
    for name in ("raw", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        assert f'id="about-{name}"' in cards
        assert f'popovertarget="about-{name}"' in cards
    # One list, called empty by both: kappa cannot be told from chance.
    assert 'popovertarget="why-one_label"' in empty
    assert 'id="why-one_label"' in empty
    assert '<span class="value">1.00</span>' in empty
    assert "Quality 0-5 is an order" in quality


@pytest.mark.usefixtures("two_raters")
def test_the_json_is_what_the_command_prints(client: FlaskClient, web_database: Database) -> None:
    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        assert client.get("/agreement.json").json == agreement_json(
            agreement.report(session, study)
        )
