"""Gold questions and decisions by hand go in and out on the command line as on the pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.relevansi import document, relevansi
from tests.services.gold.gold_files import GOLD, LISTED, gold_bytes, v2_file


@pytest.fixture(name="run_id")
def _run_id(tmp_path: Path) -> str:
    (tmp_path / "results.json").write_bytes(v2_file())
    (tmp_path / "gold.json").write_bytes(gold_bytes())
    done = document(relevansi(tmp_path, "import", "--json", tmp_path / "results.json"))
    found: str = done["runs"][0]["id"]
    return found


def second_set(folder: Path) -> str:
    """Import a run of other questions; return its id."""
    path = folder / "others.json"
    answer = {"query_id": 1, "question": "Ruko di Binjai?", "category": "x", "response": "Tidak."}
    other = {**json.loads(v2_file(LISTED)), "results": [{**answer, "properties": []}]}
    path.write_text(json.dumps(other), "utf-8")
    found: str = document(relevansi(folder, "import", "--json", path))["runs"][0]["id"]
    return found


def test_gold_questions_come_in_as_versions_and_go_out_again(tmp_path: Path, run_id: str) -> None:
    before = document(relevansi(tmp_path, "gold", "list", "--json"))["question_sets"]
    first = relevansi(tmp_path, "gold", "import", tmp_path / "gold.json")
    again = document(relevansi(tmp_path, "gold", "import", "--json", tmp_path / "gold.json"))
    (tmp_path / "gold.json").write_bytes(gold_bytes(threshold_t=0.75))
    changed = document(
        relevansi(tmp_path, "gold", "import", "--run", run_id, "--json", tmp_path / "gold.json")
    )
    out = relevansi(tmp_path, "gold", "export", "-o", tmp_path / "out.json")
    older = document(relevansi(tmp_path, "gold", "export", "--version", "1"))

    assert before[0]["gold"] is None
    assert before[0]["runs"] == [run_id]
    assert first.returncode == 0, first.stderr
    assert "3 gold questions: gold.json, version 1" in first.stdout
    assert (again["is_new"], again["version"]) == (False, 1)
    assert (changed["is_new"], changed["version"], changed["threshold_t"]) == (True, 2, 0.75)
    assert changed["problems"] == []
    assert out.returncode == 0, out.stderr
    assert json.loads((tmp_path / "out.json").read_text("utf-8")) == GOLD | {"threshold_t": 0.75}
    assert older == GOLD
    listed = relevansi(tmp_path, "gold", "list")
    assert "3 questions  gold.json, version 2" in listed.stdout


def test_what_does_not_fit_a_run_is_told_and_the_file_is_kept(tmp_path: Path, run_id: str) -> None:
    """Gold question 4 was never asked; question 3 has no gold: one remark each."""
    questions: list[dict[str, Any]] = [*GOLD["questions"][:2], GOLD["questions"][2] | {"id": 4}]
    (tmp_path / "gold.json").write_bytes(gold_bytes(questions=questions))
    done = relevansi(tmp_path, "gold", "import", tmp_path / "gold.json")

    assert done.returncode == 0
    assert f"{run_id}: gold.json has no question 3" in done.stderr
    assert f"{run_id}: gold.json, question 4: the run was not asked" in done.stderr


def test_a_wrong_gold_file_names_all_that_is_wrong_and_saves_nothing(
    tmp_path: Path, run_id: str
) -> None:
    wrong = [GOLD["questions"][0] | {"expected_result": "maybe"}, {"id": 2}]
    (tmp_path / "gold.json").write_bytes(gold_bytes(questions=wrong))
    done = relevansi(tmp_path, "gold", "import", tmp_path / "gold.json")
    out = relevansi(tmp_path, "gold", "export", "--run", run_id)

    assert done.returncode == out.returncode == 1
    assert "questions[0].expected_result is wrong" in done.stderr
    assert "questions[1].expected_result is missing" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "`relevansi gold import` adds them" in out.stderr


def test_of_several_question_sets_one_has_to_be_named(tmp_path: Path, run_id: str) -> None:
    other = second_set(tmp_path)
    unnamed = relevansi(tmp_path, "gold", "import", tmp_path / "gold.json")
    both = relevansi(tmp_path, "gold", "export", "--set", "1", "--run", other)
    unknown = relevansi(tmp_path, "gold", "export", "--set", "99")
    named = document(relevansi(tmp_path, "gold", "import", "--run", run_id, "--json",
                               tmp_path / "gold.json"))  # fmt: skip
    version = relevansi(tmp_path, "gold", "export", "--run", run_id, "--version", "7")

    assert unnamed.returncode == both.returncode == 2
    assert unknown.returncode == version.returncode == 1
    assert "There is no question set 99" in unknown.stderr
    assert "have no version 7" in version.stderr
    assert named["problems"] == []
    found = {one["runs"][0]: one["gold"] for one in
             document(relevansi(tmp_path, "gold", "list", "--json"))["question_sets"]}  # fmt: skip
    assert found[other] is None
    assert found[run_id]["version"] == 1


def test_without_a_run_there_is_nothing_to_add_gold_questions_to(tmp_path: Path) -> None:
    (tmp_path / "gold.json").write_bytes(gold_bytes())
    done = relevansi(tmp_path, "gold", "import", tmp_path / "gold.json", language="id")

    assert done.returncode == 1
    assert "`relevansi import`" in done.stderr


def test_decisions_by_hand_come_in_and_go_out_again(tmp_path: Path, run_id: str) -> None:
    """Question 1, card 1: the price is passed; question 2 has no card 7."""
    told = {
        "constraint_overrides": {"1": {"1": {"price": "pass"}}},
        "override_reasons": {"1": {"1": {"price": "harga nego"}}},
        "manual_evaluations": {
            "2": {"0": {"result": "pass", "comment": "dekat"}, "7": {"result": "fail"}}
        },
    }
    path = tmp_path / "manual_input.json"
    path.write_text(json.dumps(told), "utf-8")
    done = relevansi(tmp_path, "manual-input", "import", path, "--run", run_id)
    again = document(relevansi(tmp_path, "manual-input", "import", path, "--run", run_id, "--json"))
    out = document(relevansi(tmp_path, "manual-input", "export", "--run", run_id))

    assert done.returncode == 0, done.stderr
    assert "2 new decisions" in done.stdout
    assert "manual_evaluations.2.7" in done.stderr
    assert (again["new"], again["fitting"], len(again["problems"])) == (0, 2, 1)
    assert out["constraint_overrides"] == told["constraint_overrides"]
    assert out["override_reasons"] == told["override_reasons"]
    assert out["manual_evaluations"] == {"2": {"0": {"result": "pass", "comment": "dekat"}}}


def test_decisions_of_which_none_fits_the_run_end_with_1(tmp_path: Path, run_id: str) -> None:
    path = tmp_path / "manual_input.json"
    path.write_text(json.dumps({"manual_evaluations": {"77": {"0": {"result": "pass"}}}}), "utf-8")
    other = relevansi(tmp_path, "manual-input", "import", path, "--run", run_id)
    unknown = relevansi(tmp_path, "manual-input", "import", path, "--run", "nirgendwo")
    path.write_text("[]", "utf-8")
    wrong = relevansi(tmp_path, "manual-input", "import", path, "--run", run_id)
    no_run = relevansi(tmp_path, "manual-input", "import", path)

    assert other.returncode == unknown.returncode == wrong.returncode == 1
    assert "manual_evaluations.77" in other.stderr
    assert f"No decision in manual_input.json fits run {run_id}" in other.stderr
    assert "This study has no run nirgendwo" in unknown.stderr
    assert "constraint_overrides" in wrong.stderr
    assert no_run.returncode == 2
