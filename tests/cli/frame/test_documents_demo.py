"""The demo of documents is imported from its files, works on every page, and counts right."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest import mock

import ir_measures
import pytest
from flask import Flask, url_for
from ir_measures import RR, P, Success, nDCG
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.app import create_app
from relevansi.cli.frame import demo
from relevansi.cli.frame.demo import prepared_demo
from relevansi.config import Settings, resource
from relevansi.db.engine import Database
from relevansi.db.tables.machine_judges import MachineCall
from relevansi.db.tables.runs import Run
from relevansi.i18n import LANGUAGES, speaking
from relevansi.metrics.agreement.report import ItemKind
from relevansi.metrics.judging.figures import Totals, figures
from relevansi.services.agreement import adjudications, agreement
from relevansi.services.comparisons import comparisons
from relevansi.services.runs import reports
from relevansi.services.study import studies
from relevansi.web.features import MENUS
from tests.cli.relevansi import environment, relevansi
from tests.demo import study_of
from tests.page import Page

DOCUMENTS = resource("seeds") / "documents"
reads: Any = ir_measures
QRELS = list(reads.read_trec_qrels(str(DOCUMENTS / "qrels.txt")))
ROUNDED = {"bm25": (0.35, 0.73), "char_ngrams": (0.40, 0.78), "lsa": (0.42, 0.82)}
"""P@5 and nDCG@5 of each run, as another program counts them from the qrels of the sample."""


@pytest.fixture(name="settings", scope="module")
def _settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    given = environment(tmp_path_factory.mktemp("documents"), "en")
    with mock.patch.dict(os.environ, given), speaking("en"):
        return prepared_demo(documents=True)


@pytest.fixture(name="app", scope="module")
def _app(settings: Settings) -> Iterator[Flask]:
    app = create_app(settings)
    yield app
    app.extensions["database"].close()


@pytest.fixture(name="demo_session")
def _demo_session(settings: Settings) -> Iterator[Session]:
    database = Database(settings.database_url)
    with speaking("en"), database.reading() as session:
        yield session
    database.close()


@pytest.mark.parametrize("run", ROUNDED)
def test_figures_are_those_of_ir_measures(demo_session: Session, run: str) -> None:
    listed = list(reads.read_trec_run(str(DOCUMENTS / "runs" / f"{run}.run")))
    study = study_of(demo_session)
    run_id = demo_session.scalars(select(Run.id).where(Run.search_method == run)).one()
    report = reports.report(demo_session, study, run_id, reports.rule_of(demo_session, study))
    ours = {row.external_id: row.summary.figures for row in report.rows}
    lengths = {row.external_id: row.summary.results_count for row in report.rows}

    measures: dict[str, Any] = {
        "nDCG@5": nDCG @ 5,
        "P@5": P(rel=2) @ 5,
        "RR@5": RR(rel=2) @ 5,
        "success@5": Success(rel=2) @ 5,
    }
    n_compared = 0
    for name, measure in measures.items():
        for theirs in ir_measures.iter_calc([measure], QRELS, listed):
            own = ours[theirs.query_id][name].value
            is_full = lengths[theirs.query_id] >= 5  # a short list is divided by its length
            if own is not None and (is_full or name != "P@5"):
                assert own == pytest.approx(theirs.value), (name, theirs.query_id)
                n_compared += 1
    assert n_compared > 60
    assert report.headline == (*measures, "Judged@5")
    found = figures(Totals.of(row.summary for row in report.rows), report.headline)
    assert tuple(round(found[name].value or 0, 2) for name in ("P@5", "nDCG@5")) == ROUNDED[run]
    with_value = [values["nDCG@5"].value for values in ours.values()]
    assert found["nDCG@5"].value == pytest.approx(fmean(v for v in with_value if v is not None))


def test_two_raters_agree_by_weighted_kappa_and_leave_disputes(demo_session: Session) -> None:
    study = study_of(demo_session)

    assert [rater.name for rater in studies.raters(demo_session, study)][1:] == ["dewi", "rafi"]
    assert (study.kind, study.blind, study.asks_quality) == ("document", True, False)
    docket = adjudications.docket(demo_session, study)
    assert 10 < len(docket.ties) + len(docket.majorities) < 60
    cards = agreement.report(demo_session, study, kinds=[ItemKind.CARDS]).kinds[0].overall
    assert cards.linear is not None
    assert cards.quadratic is not None
    values = [found.value or 0 for found in (cards.cohen, cards.linear, cards.quadratic)]
    assert 0.6 < values[0] < values[1] < values[2] < 1


def test_it_is_finished_and_rated_blind(app: Flask, demo_session: Session) -> None:
    study = study_of(demo_session)
    rule = reports.rule_of(demo_session, study)
    state = reports.state(demo_session, study, reports.in_study(study), rule)
    blindness = reports.blindness(demo_session, study, reports.in_study(study), rule)

    assert (state.is_complete, state.complete, state.behind) == (True, 20, {})
    assert blindness.verdicts.blind == blindness.verdicts.n == 302  # 151 passages, two raters
    client = app.test_client()
    client.post("/language", data={"to": "en"})
    for address in ("/runs/", "/comparisons/"):
        page = Page(client.get(address))
        assert {*page.texts("[id^=left-]")} <= {"Complete"}, address
        assert "Complete" in page, address
        assert not page.has(".value.open"), address
        assert "provisional" not in page.text, address
    for run_id in demo_session.scalars(select(Run.id)):
        page = Page(client.get(f"/runs/{run_id}"))
        assert "Complete" in page
        assert not page.has(".value.open")


def test_runs_without_a_complete_question_are_compared(demo_session: Session) -> None:
    study = study_of(demo_session)
    run_ids = demo_session.scalars(select(Run.id).order_by(Run.search_method)).all()
    rule = reports.rule_of(demo_session, study)
    found = comparisons.report(demo_session, study, run_ids, rule).comparison

    assert 0 in [one.totals.n_complete for one in found.contenders]
    assert all(one.rated for one in found.contenders)
    assert found.order("nDCG@5")[0] == (run_ids[-1],)


def test_a_machine_judged_all_that_is_pooled_and_each_answer_says_that_no_model_was_asked(
    app: Flask, demo_session: Session
) -> None:
    calls = demo_session.scalars(select(MachineCall)).all()

    assert len(calls) == 151
    assert all("no model was asked" in (call.reason or "") for call in calls)
    assert {call.verdict for call in calls} == {"0", "1", "2", "3", "unsure"}
    client = app.test_client()
    page = Page(client.get(f"/study/machine-judges/{calls[0].rater_id}/agreement"))
    assert "no model was asked" in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_its_pages_open_and_name_the_other_demo(app: Flask, language: str) -> None:
    client = app.test_client()
    client.post("/language", data={"to": language})

    with app.test_request_context():
        entries = [entry for name in ("owner", "study", "more") for entry in MENUS[name]]
        paths = [url_for(entry.endpoint) for entry in entries] + ["/rate/", "/measures/"]
    for path in paths:
        page = client.get(path, follow_redirects=True)
        assert page.status_code == 200, path
        assert "relevansi demo" in Page(page).texts("code"), path


def test_the_command_opens_it_in_the_words_of_its_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Flask] = []
    monkeypatch.setattr(demo, "serve", lambda app, *_, **__: served.append(app))

    for _ in range(2):  # made, then found
        done = relevansi(tmp_path, "demo", "--documents", "--no-browser", language="id")
        assert (done.returncode, done.stderr) == (0, "")

    assert {path.name for path in tmp_path.glob("*.sqlite")} == {"demo-documents.sqlite"}
    page = served[-1].test_client().get("/rate/", follow_redirects=True)
    assert "menjawab sebagian" in page.text
    assert "Yang dinilai" in page.text
