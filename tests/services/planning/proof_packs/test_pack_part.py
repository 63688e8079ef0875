"""A machine's help in a proof pack: computed anew from its rows, and what was changed is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.exporters.planning.machine_help import part_json
from relevansi.services.planning import machine_help, samples
from relevansi.services.proof_packs import packs
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies
from tests.conftest import NOW, copied
from tests.services.planning.helped import (
    BY_MACHINE,
    BY_PEOPLE,
    SEED,
    drawn,
    judge,
    machine,
    study_of_two_runs,
)
from tests.services.proof_packs.packs import changed, members, verified

ROWS = "study/planning_rules.json"
RULE = Rule("majority")


@pytest.fixture(name="packed", scope="module")
def _packed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> bytes:
    database = Database(sqlite_url(tmp_path_factory.mktemp("packed") / "study.sqlite"))
    copied(sqlite_template, database)
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        rater = studies.raters(session, study)[0]
        runs = study_of_two_runs(session, study)
        drawn(session, rater, runs[0]).chosen_at = NOW - timedelta(hours=1)
        mesin = machine(session, study)
        for run in runs:
            judge(session, mesin, run, BY_MACHINE)
            judge(session, rater, run, BY_PEOPLE)
        data = packs.pack(session, study, None, RULE).data
        ordered = samples.runs_of(session, study, runs[0].question_set_id)
        result = machine_help.of_runs(session, study, ordered, RULE, mesin)
        planned = json.loads(members(data)[packs.PLANNED])[str(runs[0].question_set_id)]
        assert planned["machine_help"] == [json.loads(json.dumps(part_json(result)))]
    database.close()
    return data


def edited(change: Callable[[Any], None]) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        document = json.loads(data)
        change(document)
        return json.dumps(document).encode()

    return edit


def test_the_pack_is_equal_and_every_figure_names_its_rule(packed: bytes) -> None:
    assert verified(packed).equal
    (of_set,) = json.loads(members(packed)[packs.PLANNED]).values()
    (help_,) = of_set["machine_help"]
    assert help_["rule"]["kind"] == "machine_help"
    assert help_["rule"]["seed"] == SEED
    assert (help_["rule"]["n"], help_["rule"]["of"]) == (4, 8)
    assert help_["rule"]["sample"] == [3, 1, 4, 2]
    assert help_["rule"]["chosen_at"] == (NOW - timedelta(hours=1)).isoformat()
    assert help_["valid"]
    assert b"planning/figures.json" in members(packed)["README.md"]


def change_figure(document: Any) -> None:
    (of_set,) = document.values()
    of_set["machine_help"][0]["figures"][0]["value"] += 0.01


def change_order(document: Any) -> None:
    (of_set,) = document.values()
    of_set["settled"][0]["settled"] ^= True


def change_sample(document: Any) -> None:
    (rules,) = document.values()
    rules[0]["sample"][0] = 8


def ask_a_question_more(run: Any) -> None:
    run["not_asked"].pop()


def test_every_changed_member_is_found_out(packed: bytes) -> None:
    run_file = next(name for name in members(packed) if name.endswith("run.json"))
    data = changed(packed, packs.PLANNED, edited(change_figure))
    data = changed(data, packs.PLANNED, edited(change_order))
    data = changed(data, packs.RULES, edited(change_sample))
    data = changed(data, run_file, edited(ask_a_question_more))

    differences = verified(data).differences

    assert {difference.file for difference in differences} == {packs.PLANNED, packs.RULES, run_file}
    planned = [difference for difference in differences if difference.file != run_file]
    assert {difference.place[1:] for difference in planned} == {
        ("machine_help", "1", "figures", "1", "value"),
        ("settled", "1", "settled"),
        ("1", "sample", "1"),
    }
    assert all(difference.packed != difference.computed for difference in planned)


@pytest.mark.parametrize(
    ("change", "files"),
    [
        # What is not drawn is not asked, so the comparison is another one too.
        (lambda rule: rule.update(seed=7), {packs.RULES, "comparisons/1.json"}),
        (lambda rule: rule.update(settings={"size": "4"}), {"study/*.json"}),
        (lambda rule: rule.update(kind=1), {ROWS}),
    ],
)
def test_a_changed_rule_is_found_out(
    packed: bytes, change: Callable[[dict[str, Any]], None], files: set[str]
) -> None:
    differences = verified(changed(packed, ROWS, edited(lambda rows: change(rows[0])))).differences

    assert files <= {difference.file for difference in differences}


def test_a_changed_verdict_of_the_machine_changes_the_figures(packed: bytes) -> None:
    raters = json.loads(members(packed)["study/raters.json"])
    (machine_id,) = [rater["id"] for rater in raters if rater["is_machine"]]

    def change(rows: Any) -> None:
        (*_, last) = [row for row in rows if row["rater_id"] == machine_id]
        last["verdict"] = "1" if last["verdict"] == "0" else "0"

    verification = verified(changed(packed, "study/judgments.json", edited(change)))

    assert {difference.file for difference in verification.differences} == {packs.PLANNED}


def test_no_machine_without_a_rule(session: Session, study: Study, rater: Rater) -> None:
    runs = study_of_two_runs(session, study)
    judge(session, machine(session, study), runs[0], BY_MACHINE)
    judge(session, rater, runs[0], BY_PEOPLE)

    result = members(packs.pack(session, study, None, RULE).data)

    (of_set,) = json.loads(result[packs.PLANNED]).values()
    assert of_set["machine_help"] == []
    assert of_set["settled"]
    assert not any(b"Mesin" in data for data in result.values())
