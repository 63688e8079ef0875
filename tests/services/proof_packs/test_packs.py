"""A proof pack holds everything its figures rest on, and says the same as the product."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.judging.rated_studies import rated_study
from tests.services.proof_packs.packs import members, verified
from webapp.db.tables.study import Study
from webapp.exporters.exports.metrics_tables import metrics_json
from webapp.i18n import speaking
from webapp.metrics.judging.registry import MEASURES
from webapp.services.exports import exports
from webapp.services.proof_packs import packs as proof_packs
from webapp.services.runs import reports, runs
from webapp.services.runs.reports import Rule
from webapp.services.study import studies

MAJORITY = Rule("majority")


@pytest.fixture(name="run_ids")
def _run_ids(session: Session, study: Study) -> tuple[str, str]:
    return rated_study(session, study)


@pytest.mark.parametrize("rule", ["majority", "adjudicated", "rater Budi, =B", None])
def test_a_pack_of_the_study_is_equal_to_what_its_verdicts_make_it(
    session: Session, study: Study, run_ids: tuple[str, str], rule: str | None
) -> None:
    chosen = reports.rule_of(session, study, rule)
    data = proof_packs.pack(session, study, None, chosen).data
    with speaking("id"):
        assert data == proof_packs.pack(session, study, None, chosen).data
    found = verified(data)

    assert found.equal
    assert set(found.runs) == set(run_ids)
    assert found.rule == chosen.name
    assert found.figures > 500


def test_the_pack_of_one_run(session: Session, study: Study, run_ids: tuple[str, str]) -> None:
    first, second = run_ids
    data = proof_packs.pack(session, study, second, MAJORITY).data
    files = members(data)

    assert verified(data).equal
    assert [name for name in files if first in name or "comparisons" in name] == []
    things = {
        row["property"] for row in csv.DictReader(io.StringIO(files["verdicts.csv"].decode()))
    }
    assert things == {"slug:b", "slug:h", "slug:d", "slug:f"}  # a, c, e were not shown there
    clicked = [event["event_id"] for event in json.loads(files["study/events.json"])]
    assert "e0-1" not in clicked  # on a
    assert {"slip", "undo"} <= set(clicked)  # on b, clicked in the other run


def test_the_manifest_and_exports(session: Session, study: Study, run_ids: tuple[str, str]) -> None:
    files = members(proof_packs.pack(session, study, None, MAJORITY).data)
    manifest = json.loads(files["manifest.json"])

    last_click = NOW + timedelta(minutes=24)
    assert manifest["created_at"] == last_click.isoformat()
    assert manifest["raters"][1] == "Budi, =B"
    assert {run["run"] for run in manifest["runs"]} == set(run_ids)
    source = runs.find(session, study, run_ids[0]).files[0]
    stated = next(run for run in manifest["runs"] if run["run"] == run_ids[0])
    assert stated["input_files"][0]["sha256"] == source.sha256
    assert {one["name"] for one in manifest["definitions"]} == set(MEASURES)
    for run_id in run_ids:
        for member, file_format in (("judgments.csv", "long-csv"), ("run.json", "json")):
            exported = exports.export(session, study, run_id, MAJORITY, file_format)
            assert files[f"runs/{run_id}/{member}"] == exported.data
        figures = json.loads(files[f"runs/{run_id}/figures.json"])
        owner = studies.raters(session, study)[0].name
        rules = [f"rater {owner}", "rater Budi, =B", "majority", "adjudicated"]
        assert list(figures) == rules
        report = reports.report(session, study, run_id, MAJORITY)
        assert figures["majority"] == json.loads(json.dumps(metrics_json(report)))


def test_the_secret_is_not_packed(session: Session, study: Study, run_ids: tuple[str, str]) -> None:
    """With the secret, or a seed that can be guessed, every blind answer would name its run."""
    assert run_ids
    study.order_seed = 1_234_567_891
    study.guidelines, study.starter_guidelines = "Relevan bila dekat.", False
    packed = members(proof_packs.pack(session, study, None, MAJORITY).data)
    manifest = json.loads(packed["manifest.json"])

    (stated,) = manifest["commitments"]
    assert stated["sha256"] == sha256(study.order_secret.encode()).hexdigest()
    assert stated["what"] == "what blind raters see, in which order"
    for data in packed.values():
        assert study.order_secret.encode() not in data
        assert b"1234567891" not in data
    assert packed["guidelines.md"] == b"Relevan bila dekat."
    assert '"Budi, =B"' in packed["README.md"].decode()


def test_a_deleted_run_is_logged(session: Session, study: Study, run_ids: tuple[str, str]) -> None:
    runs.delete_run(session, study, run_ids[0], NOW)
    data = proof_packs.pack(session, study, None, MAJORITY).data
    events = json.loads(members(data)["study/events.json"])

    assert verified(data).equal
    assert any(event["query_key"] is None for event in events)
