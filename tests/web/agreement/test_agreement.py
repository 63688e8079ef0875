"""Agreement and adjudication as pages: figures, files, refusals."""

from __future__ import annotations

import io

import pytest
from flask.testing import FlaskClient
from openpyxl import load_workbook
from sqlalchemy import select

from relevansi import notation
from relevansi.db.engine import Database
from relevansi.db.tables.judging import Adjudication, JudgedItem, StoredItem
from relevansi.exporters.agreement.report import agreement_json, document
from relevansi.i18n import gettext, speaking
from relevansi.metrics.agreement.agreement import EXPLANATIONS, NoAgreement
from relevansi.records import EmptyOutcome, Relevance
from relevansi.services.agreement import agreement
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.page import Page
from tests.services.runs.runs import card, click, query, run, store
from tests.stored_studies import open_study
from tests.web.conftest import judge

YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT


@pytest.fixture(name="two_raters")
def _two_raters(web_database: Database, run_id: str) -> None:
    """The owner and Budi <b> judged cards a, b, c: alike, apart, alike; and one empty list."""
    with open_study(web_database) as (session, study):
        study.blind = False
        owner = studies.raters(session, study)[0]
        budi = studies.add_rater(session, study, "Budi <b>", NOW)
        for rater, verdicts in ((owner, (YES, YES, NO)), (budi, (YES, NO, NO))):
            for rank, verdict in enumerate(verdicts, start=1):
                event = click(f"{rater.id}-{rank}")
                judgments.judge(session, rater, run_id, 1, rank, verdict, event)
            rating = AnswerRating(quality=3, notes="", empty_outcome=EmptyOutcome.CORRECT_EMPTY)
            judgments.rate(session, rater, run_id, 3, rating, click(f"{rater.id}-empty"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.575, "0.58"), (0.625, "0.63"), (-0.25, "−0.25"), (-0.001, "0.00"), (None, "-")],
)
def test_a_coefficient_is_rounded_as_every_figure_and_has_a_real_minus(
    value: float | None, expected: str
) -> None:
    with speaking("en"):
        assert notation.figure(value, "coefficient") == expected


def test_before_two_raters_have_judged_the_page_says_what_is_missing(
    client: FlaskClient, run_id: str
) -> None:
    assert "Nothing of this kind has been judged yet." in client.get("/agreement").text
    judge(client, run_id, 1)

    assert "one rater alone has judged here" in client.get("/agreement").text
    ties = Page(client.get("/adjudications/"))
    assert "There is nothing to decide yet" in ties
    assert ties.has("main a[href='/raters/']")


@pytest.mark.usefixtures("two_raters")
def test_the_page_shows_each_coefficient_with_its_meaning(client: FlaskClient) -> None:
    cards, empty, quality = (
        Page(client.get(f"/agreement?of={of}")) for of in ("nonsense", "empty_lists", "quality")
    )

    # a and c of a, b, c alike: 2/3. Pe = 2/3 x 1/3 + 1/3 x 2/3 = 4/9; kappa = 0.4.
    assert {"0.67", "0.40"} <= set(cards.texts(".value"))
    assert "Budi <b>" in cards
    assert "<b>" not in cards.source
    for name in ("raw", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        assert cards.has(f"#about-{name}")
        assert cards.has(f"[popovertarget=about-{name}]")
    # One list, called empty by both: kappa cannot be told from chance.
    with speaking("en"):
        assert gettext(EXPLANATIONS[NoAgreement.ONE_LABEL]) in empty
    assert "1.00" in empty.texts(".value")
    assert "Quality 0-5 is an order" in quality


@pytest.mark.usefixtures("two_raters")
def test_the_json_is_what_the_command_prints(client: FlaskClient, web_database: Database) -> None:
    with open_study(web_database) as (session, study):
        assert client.get("/agreement.json").json == agreement_json(
            agreement.report(session, study)
        )


@pytest.mark.usefixtures("two_raters")
def test_each_table_of_each_kind_is_a_sheet_of_its_own(
    client: FlaskClient, web_database: Database
) -> None:
    with open_study(web_database) as (session, study):
        printed = document(agreement.report(session, study))

    names = [table.name for section in printed.sections for table in section.tables]
    assert len(names) > 3
    sheets = load_workbook(io.BytesIO(client.get("/agreement.xlsx").data)).sheetnames
    assert sheets == ["report", *names]


@pytest.fixture(name="disputed")
def _disputed(web_database: Database, run_id: str) -> int:
    """Card b, which the owner and Budi judge apart; Budi wrote a hostile note."""
    with open_study(web_database) as (session, study):
        owner = studies.raters(session, study)[0]
        budi = studies.add_rater(session, study, "Budi", NOW)
        for rater, verdict in ((owner, Relevance.RELEVANT), (budi, Relevance.NOT_RELEVANT)):
            judgments.judge(session, rater, run_id, 1, 2, verdict, click(f"v{rater.id}"))
        judgments.rate(session, budi, run_id, 1, AnswerRating(notes="<script>x"), click("n"))
        expected = select(JudgedItem.id).join(StoredItem).where(StoredItem.identity == "slug:b")
        return session.scalars(expected).one()


def stored(database: Database) -> list[tuple[str, str]]:
    with database.reading() as session:
        return [(row.verdict, row.reason) for row in session.scalars(select(Adjudication))]


@pytest.mark.usefixtures("disputed")
def test_a_dispute_shows_card_votes_and_notes_and_neither_name_nor_run(
    client: FlaskClient, run_id: str
) -> None:
    page = Page(client.get("/adjudications/"))

    for words in ("Question 1", "Rater 1", "Rater 2", "<script>x"):
        assert words in page.one("main")
    for secret in ("Budi", run_id, "hybrid", "test_results"):
        assert secret not in page.one("main")
    client.post("/adjudications/names", data={"shown": "1"})
    assert "Budi" in Page(client.get("/adjudications/")).one("main")
    client.post("/adjudications/names")
    assert "Budi" not in client.get("/adjudications/").text


def test_a_verdict_settles_and_undo_takes_it_back(
    client: FlaskClient, web_database: Database, disputed: int
) -> None:
    """A first verdict is withdrawn; one that replaced another gives way to that."""
    address = f"/adjudications/{disputed}"
    first = client.post(address, data={"verdict": "0", "reason": "rented out"})
    assert (first.status_code, first.location) == (303, f"/adjudications/?after={disputed}")
    assert stored(web_database) == [("0", "rented out")]
    finished = Page(client.get(first.location))
    assert not finished.has("#dispute")
    assert "rented out" in client.get(f"/adjudications/?item={disputed}").text

    second = client.post(address, data={"verdict": "1", "reason": "rented out"})
    Page(client.get(second.location)).submit(client, ".top form[action$='/withdraw']")
    assert stored(web_database) == [("0", "rented out")]
    back = finished.submit(client, ".top form[action$='/withdraw']")
    assert stored(web_database) == []
    assert Page(client.get(back.location)).has("#dispute")


def test_a_reason_is_asked_for_where_the_study_requires_one(
    client: FlaskClient, web_database: Database, disputed: int
) -> None:
    address, typed = f"/adjudications/{disputed}", {"verdict": "1", "reason": " "}
    with open_study(web_database) as (_, study):
        study.reason_required = True
    refused = client.post(address, data=typed)

    assert refused.status_code == 422
    assert Page(refused).has("[aria-invalid=true]")
    assert stored(web_database) == []
    with open_study(web_database) as (_, study):
        study.reason_required = False
    assert client.post(address, data=typed).status_code == 303


def test_what_cannot_be_settled_is_refused(client: FlaskClient, disputed: int) -> None:
    unfit = client.post(f"/adjudications/{disputed}", data={"verdict": "correct_empty"})
    unknown = client.post("/adjudications/9999", data={"verdict": "1"})
    agreed = client.post(f"/adjudications/{disputed - 1}", data={"verdict": "1"})

    assert (unfit.status_code, unknown.status_code, agreed.status_code) == (400, 404, 409)
    assert "This study shows no such card" in unknown.text
    assert "The raters do not disagree here" in agreed.text


@pytest.mark.usefixtures("run_id")
def test_ties_follow_one_another_and_majorities_are_a_queue_of_their_own(
    client: FlaskClient, web_database: Database
) -> None:
    with open_study(web_database) as (session, study):
        people = [
            studies.raters(session, study)[0],
            *(studies.add_rater(session, study, name, NOW) for name in ("B", "C")),
        ]
        cards = [card(f"c{rank}") for rank in range(1, 5)]
        run_id = store(session, study, run(query(1, *cards), method="many")).id
        for rank, votes in enumerate(((YES, NO), (YES, NO, NO), (NO, YES), (YES, NO)), start=1):
            for rater, verdict in zip(people, votes, strict=False):
                judgments.judge(
                    session, rater, run_id, 1, rank, verdict, click(f"{rater.id}/{rank}")
                )

    def at_work(address: str) -> str | None:
        page = Page(client.get(address))
        return page.one(".waiting [aria-current]").text if page.has("#dispute") else None

    queue = Page(client.get("/adjudications/"))
    addresses = queue.values(".waiting li a", "href")
    names = [at_work(address) for address in addresses]
    assert len(names) == len({*names}) == 3
    assert at_work("/adjudications/") == names[0]
    assert at_work(queue.one("[rel=next]")["href"]) == names[1]
    # The last of them decided, the first open one follows, and after that the other.
    for address, following in ((addresses[2], names[0]), (addresses[0], names[1])):
        response = Page(client.get(address)).submit(client, ".settle", verdict="1")
        assert at_work(response.location) == following
    response = Page(client.get(addresses[1])).submit(client, ".settle", verdict="0")
    assert at_work(response.location) is None
    majorities = Page(client.get("/adjudications/?of=majority"))
    assert majorities.count(".waiting li") == 1
    assert majorities.values(".majority") == ["0"]  # one for, two against
