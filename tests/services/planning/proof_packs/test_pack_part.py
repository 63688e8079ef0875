"""A proof pack holds the rules, the sample and a machine's verdicts, and recomputes the rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW, copied
from tests.services.planning.helped import (
    BY_MACHINE,
    BY_PEOPLE,
    SAMPLE,
    SEED,
    drawn,
    judge,
    machine,
    study_of_two_runs,
)
from tests.services.proof_packs.packs import changed, members, verified
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.db.tables.people import Rater
from webapp.db.tables.study import QuestionSet, Study
from webapp.exporters.planning.machine_help import part_json
from webapp.metrics.comparisons.significance import Resampling
from webapp.services.planning import machine_help, pack_part, samples, settled
from webapp.services.proof_packs import packs
from webapp.services.proof_packs.verification import DifferenceKind
from webapp.services.runs.reports import Rule
from webapp.services.study import studies

FEW = Resampling(resamples=50)
ROWS = "study/planning_rules.json"
RULE = Rule("majority")


@pytest.fixture(name="packed", scope="module")
def _packed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> bytes:
    """The pack of a study in which a machine helps on a sample drawn beforehand."""
    database = Database(sqlite_url(tmp_path_factory.mktemp("packed") / "study.sqlite"))
    copied(sqlite_template, database)
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        rater = studies.raters(session, study)[0]
        runs = study_of_two_runs(session, study)
        drawn(session, rater, runs[0]).chosen_at = NOW - timedelta(hours=1)
        mesin = machine(session, study)
        for run in runs:
            judge(session, mesin, run, {**BY_MACHINE, 8: "?1"})
            judge(session, rater, run, BY_PEOPLE)
        data = packs.pack(session, study, None, RULE, settings=FEW).data
        ordered = settled.runs_of(session, study, runs[0].question_set_id)
        found = machine_help.of_runs(session, study, ordered, RULE, mesin)
        stated = json.loads(members(data)[pack_part.FIGURES])[str(runs[0].question_set_id)]
        assert stated["machine_help"] == [json.loads(json.dumps(part_json(found)))]
    database.close()
    return data


def edited(change: Callable[[Any], None]) -> Callable[[bytes], bytes]:
    """Return what changes a JSON member in place."""

    def made(data: bytes) -> bytes:
        document = json.loads(data)
        change(document)
        return json.dumps(document).encode()

    return made


def test_the_pack_is_equal_and_every_figure_names_its_rule(packed: bytes) -> None:
    found = verified(packed)

    assert found.equal, found.differences
    (of_set,) = json.loads(members(packed)[pack_part.FIGURES]).values()
    (help_,) = of_set["machine_help"]
    assert (help_["valid"], help_["rule"]["kind"]) == (True, "machine_help")
    assert (help_["rule"]["seed"], help_["rule"]["sample"]) == (SEED, [*SAMPLE])
    assert (help_["rule"]["n"], help_["rule"]["of"]) == (4, 8)
    assert help_["rule"]["chosen_at"] == (NOW - timedelta(hours=1)).isoformat()


def test_a_changed_figure_is_reported_with_both_values(packed: bytes) -> None:
    def change(document: Any) -> None:
        (of_set,) = document.values()
        of_set["machine_help"][0]["figures"][0]["value"] += 0.01

    found = verified(changed(packed, pack_part.FIGURES, edited(change)))

    assert [one.file for one in found.differences] == [pack_part.FIGURES]
    (one,) = found.differences
    assert one.place[1:] == ("machine_help", "1", "figures", "1", "value")
    assert isinstance(one.computed, float)
    assert one.stated == pytest.approx(one.computed + 0.01)


def test_an_order_said_to_be_settled_or_not_is_found_out(packed: bytes) -> None:
    def change(document: Any) -> None:
        (of_set,) = document.values()
        of_set["settled"][0]["settled"] ^= True

    found = verified(changed(packed, pack_part.FIGURES, edited(change)))

    (one,) = found.differences
    assert (one.place[1], one.place[-1]) == ("settled", "settled")
    assert one.stated is not one.computed


def test_a_question_that_the_seed_did_not_draw_is_found_out(packed: bytes) -> None:
    def change(document: Any) -> None:
        (listed,) = document.values()
        listed[0]["sample"][0] = 8

    (found,) = verified(changed(packed, pack_part.RULES, edited(change))).differences

    assert (found.kind, found.file) == (DifferenceKind.CELL, pack_part.RULES)
    assert found.place[2:] == ("sample", "1")
    assert (found.stated, found.computed) == (8, SAMPLE[0])


@pytest.mark.parametrize(
    "change",
    [
        lambda rule: rule.update(seed=SEED + 1),
        lambda rule: rule["settings"]["draws"][0].update(n=5),
        lambda rule: rule["settings"]["draws"].append({"n": 1}),
        lambda rule: rule["settings"]["draws"].clear(),
    ],
)
def test_a_sample_is_drawn_again_from_what_its_rule_states(
    packed: bytes, change: Callable[[dict[str, Any]], None]
) -> None:
    found = verified(changed(packed, ROWS, edited(lambda rows: change(rows[0])))).differences

    assert pack_part.RULES in {one.file for one in found}


def test_a_sample_drawn_in_steps_and_by_category_is_drawn_again(
    session: Session, study: Study, rater: Rater
) -> None:
    runs = study_of_two_runs(session, study)
    drawn(session, rater, runs[0], 3)
    question_set = session.get_one(QuestionSet, runs[0].question_set_id)
    samples.extend(session, question_set, 1, "location")
    samples.extend(session, question_set, 2)
    for run in runs:
        judge(session, rater, run, dict.fromkeys(range(1, 9), "10"))

    data = packs.pack(session, study, None, RULE, settings=FEW).data

    ((rule,),) = json.loads(members(data)[pack_part.RULES]).values()
    assert [one["n"] for one in rule["settings"]["draws"]] == [3, 1, 2]
    assert len(rule["sample"]) == 6
    assert verified(data).equal


def test_a_changed_verdict_of_the_machine_changes_the_figures(packed: bytes) -> None:
    raters = json.loads(members(packed)["study/raters.json"])
    (machine_id,) = [one["id"] for one in raters if one["is_machine"]]

    def change(rows: Any) -> None:
        (*_, last) = [one for one in rows if one["rater_id"] == machine_id]
        last["verdict"] = "1" if last["verdict"] == "0" else "0"

    found = verified(changed(packed, "study/judgments.json", edited(change)))

    assert {one.file for one in found.differences} == {pack_part.FIGURES}


def test_a_rule_said_to_be_older_than_the_verdicts_is_found_out(packed: bytes) -> None:
    late = (NOW + timedelta(days=400)).isoformat()
    found = verified(changed(packed, ROWS, edited(lambda rows: rows[0].update(chosen_at=late))))

    places = {(one.file, one.place[-1]): one for one in found.differences}
    before = places[pack_part.RULES, "verdicts_before"]
    assert (before.stated, before.computed) == (0, 16)


@pytest.mark.parametrize(
    "change", [{"settings": {"draws": [{}]}}, {"settings": {"draws": 4}}, {"kind": 1}]
)
def test_a_rule_that_cannot_be_used_is_told(packed: bytes, change: dict[str, Any]) -> None:
    found = verified(changed(packed, ROWS, edited(lambda rows: rows[0].update(change))))

    assert DifferenceKind.UNREADABLE in {one.kind for one in found.differences}


def test_without_a_rule_no_machine_is_in_the_pack(
    session: Session, study: Study, rater: Rater
) -> None:
    runs = study_of_two_runs(session, study)
    judge(session, machine(session, study), runs[0], BY_MACHINE)
    judge(session, rater, runs[0], BY_PEOPLE)

    found = members(packs.pack(session, study, None, RULE, settings=FEW).data)

    (of_set,) = json.loads(found[pack_part.FIGURES]).values()
    assert of_set["machine_help"] == []
    assert of_set["settled"]
    assert not any(b"Mesin" in data for data in found.values())
