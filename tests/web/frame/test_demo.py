"""The demo is a finished study in which every page has something to read, the same every time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.demo import study_of
from tests.services.proof_packs.packs import verified
from tests.web.conftest import in_english
from webapp.app import create_app
from webapp.config import Settings, sqlite_url
from webapp.db.tables.evaluations import Evaluation, ItemJudgment
from webapp.db.tables.gold import CardDecision
from webapp.db.tables.machine_judges import MachineCall
from webapp.metrics.comparisons.resampling import Bootstrap, Resampling
from webapp.services.comparisons import chosen_runs
from webapp.services.evaluations import machine_agreement
from webapp.services.evaluations.rows import EvaluationKind
from webapp.services.machine_judges import beside_people, judges
from webapp.services.phase_3 import participants, questionnaires
from webapp.services.phase_3.asking import rater
from webapp.services.planning import machine_help
from webapp.services.proof_packs import packs
from webapp.services.runs import reports, runs
from webapp.web.frame.rooms import menu

EMPTY = re.compile(r"[^.:]*\b(?:yet|needs two|No item waits|Nothing of)\b[^.:]*")
FURTHER = ("/gold/", "/items/", "/study/participants/", "/agreement?of=cards")
"""Pages behind those of the menus."""


@pytest.fixture(name="demo", scope="module")
def _demo(demo_file: Path) -> Iterator[Flask]:
    app = create_app(Settings(sqlite_url(demo_file), demo_file.parent, is_demo=True))
    yield app
    app.extensions["database"].close()


def test_the_wings_have_their_part(demo_session: Session) -> None:
    study = study_of(demo_session)
    kinds = demo_session.scalars(select(Evaluation.kind)).all()
    (judge,) = judges.lines(demo_session, study)
    beside = beside_people.report(demo_session, study, judges.find(demo_session, study, judge.id))

    assert (demo_session.scalar(select(func.count()).select_from(CardDecision)) or 0) > 100
    assert sorted(kinds) == sorted(EvaluationKind)
    assert demo_session.scalar(select(func.count(ItemJudgment.rater_id.distinct()))) == 2
    assert demo_session.scalar(select(func.count()).select_from(MachineCall)) == judge.judged == 522
    assert judge.released_at is not None
    assert beside.may_release
    assert 0.3 < (beside.agreement.cohen.value or 0) < 1


def test_a_machine_helps_on_a_sample_that_was_drawn_before_people_judged(
    demo_session: Session,
) -> None:
    study = study_of(demo_session)
    ids = chosen_runs.of_phase(demo_session, study, 1)
    compared = [runs.find(demo_session, study, one) for one in ids]
    machine, *_ = machine_help.machines(demo_session, study, compared)
    rule = reports.rule_of(demo_session, study)

    found = machine_help.of_runs(demo_session, study, compared, rule, machine)

    assert found.is_valid
    assert (found.machine_open, found.waiting) == (0, 0)
    assert all(one.found.alone for one in found.figures)
    assert sum(one.found.assisted is not None for one in found.figures) > 20


def test_eight_participants_asked_rated_and_answered_the_questionnaire(
    demo_session: Session,
) -> None:
    everybody = participants.everybody(demo_session, study_of(demo_session))
    answers = [questionnaires.of_rater(demo_session, rater(person)) for person in everybody]

    assert len(everybody) == 8
    assert all(person.finished_at for person in everybody)
    assert all(not answer.unanswered for answer in answers)
    assert sum(bool(answer.missing) for answer in answers) == 5


@pytest.mark.thorough
def test_the_proof_pack_of_the_demo_verifies(demo_session: Session) -> None:
    study = study_of(demo_session)
    rule = reports.rule_of(demo_session, study)
    data = packs.of_study(demo_session, study, rule, settings=Resampling(resamples=50)).data

    assert verified(data).equal


def test_no_page_of_the_menus_is_empty_and_each_says_that_it_is_the_demo(
    demo: Flask, app: Flask
) -> None:
    client, fresh = in_english(demo), in_english(app)
    with app.test_request_context():
        urls = app.url_map.bind("")
        paths = [urls.build(entry.endpoint) for name in ("owner", "study") for entry in menu(name)]
    n_empty = 0

    for path in (*paths, *FURTHER):
        page, empty = client.get(path), fresh.get(path)
        unfilled = _sentences(empty)
        n_empty += bool(unfilled)
        assert page.status_code == 200, path
        assert not unfilled & _sentences(page), path
        assert "This is the demo" in page.text, path
        assert "This is the demo" not in empty.text, path
    assert n_empty >= 8


@pytest.mark.parametrize(
    ("language", "heading"), [("en", "Start your own study"), ("id", "Memulai studi Anda sendiri")]
)
def test_the_banner_leads_to_one_s_own_study_in_the_reader_s_language(
    demo: Flask, language: str, heading: str
) -> None:
    client = demo.test_client()
    spoken = {"Accept-Language": language}
    banner = client.get("/", headers=spoken).text.partition('<div class="demo">')[2]
    found = re.search(r'<a href="([^"]+)">[^<]+<code>relevansi serve</code></a>', banner)

    assert found is not None
    guide = client.get(found[1], headers=spoken).text
    assert f"<h1>{heading}</h1>" in guide
    assert "relevansi serve" in guide.partition("<article")[2]


@pytest.mark.parametrize(
    ("path", "says", "leads_to"),
    [
        ("/runs/", "Each run of the chatbot will stand here", 'id="files"'),
        ("/comparisons/", "Here will stand who is ahead on what", "/runs/import"),
        ("/study/standing", "Here will stand how far each rater is", "/runs/import"),
        ("/study/planning", "How many judgments are enough", "/runs/import"),
        ("/study/assignments/", "Here you will name the questions", "/runs/import"),
        ("/study/notes/", "Raters read the note of a question", "/runs/import"),
        ("/agreement", "Here will stand how far the raters agree", ">Invite raters</a>"),
        ("/adjudications/", "Here you will settle what raters disagree on", "/runs/import"),
        ("/gold/", "What every question asks of the cards it gets", "/runs/import"),
        ("/study/participants/", "Here will stand how far each participant is", "/study/users/"),
        ("/study/participants/questions", "Say what each question is about", "/study/users/"),
        ("/study/participants/comments", "Put each comment under the themes", "/study/users/"),
        ("/study/machine-judges/", "can judge the same cards as people do", "RELEVANSI_JUDGE_URL"),
        ("/history/", "Every click will be listed here", ">What needs doing</a>"),
        ("/rate/", "The questions that are yours will stand here", "/"),
        ("/items/", "What the owner takes from an automatic evaluation", "Come back"),
    ],
)
def test_an_empty_page_says_what_will_stand_there_and_how_to_get_it(
    app: Flask, path: str, says: str, leads_to: str
) -> None:
    page = in_english(app).get(path).text.partition("<main")[2].partition("</main>")[0]

    assert says in page
    assert leads_to in page


@pytest.mark.parametrize(
    "path", ["/agreement?of=cards", "/evaluations/{}/people", "/study/planning"]
)
def test_a_table_that_stands_in_blocks_on_a_phone_names_every_figure(
    demo: Flask, demo_session: Session, path: str
) -> None:
    evaluation = demo_session.scalars(select(Evaluation.id)).first()
    page = in_english(demo).get(path.format(evaluation)).text
    bodies = re.findall(r'class="figures [^"]*wide".*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    cells = [cell for body in bodies for cell in re.findall(r"<td[^>]*>", body)]

    assert len(cells) > 10
    assert all(re.search('data-label="[^"]', cell) for cell in cells)


def test_people_and_the_machine_disagree_about_some_parts(demo_session: Session) -> None:
    drawn = Bootstrap(resamples=10)
    for evaluation in demo_session.scalars(select(Evaluation)):
        found = machine_agreement.report(demo_session, evaluation, bootstrap=drawn).overall
        assert found.machine_only + found.people_only > 0, evaluation.kind
        assert found.both + found.neither > found.machine_only + found.people_only


def _sentences(page: object) -> set[str]:
    """Return the sentences of a page, outside its forms, that say that something is missing."""
    main = re.search("<main.*?</main>", page.text, re.DOTALL)  # type: ignore[attr-defined]
    assert main is not None
    bare = re.sub("<form.*?</form>", "", main[0], flags=re.DOTALL)
    text = " ".join(unescape(re.sub("<[^>]+>", " ", bare)).split())
    return {found.strip() for found in EMPTY.findall(text)}
