from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.relevansi import document, relevansi
from tests.services.gold.gold_files import GOLD, gold_bytes, v2_file


@pytest.fixture(name="run_id")
def _run_id(tmp_path: Path) -> str:
    (tmp_path / "results.json").write_bytes(v2_file())
    (tmp_path / "gold.json").write_bytes(gold_bytes())
    printed = document(relevansi(tmp_path, "import", "--json", tmp_path / "results.json"))
    result: str = printed["runs"][0]["id"]
    return result


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


def test_what_cannot_be_done_is_told_in_one_line(tmp_path: Path, run_id: str) -> None:
    def call(*arguments: object) -> tuple[int, str]:
        process = relevansi(tmp_path, *map(str, arguments))
        return process.returncode, process.stderr

    gold, manual = tmp_path / "gold.json", tmp_path / "manual_input.json"
    manual.write_text(
        json.dumps({"manual_evaluations": {"77": {"0": {"result": "pass"}}}}), "utf-8"
    )
    none_yet = call("gold", "export", "--run", run_id)
    unfit = call("manual-input", "import", manual, "--run", run_id)
    first, second, third = GOLD["questions"]
    gold.write_bytes(gold_bytes(questions=[first, second, third | {"id": 4}]))
    partial = call("gold", "import", gold)
    gold.write_bytes(gold_bytes(questions=[first | {"expected_result": "x"}]))
    wrong = call("gold", "import", gold)
    decoded = json.loads(v2_file())
    decoded["results"] = [decoded["results"][0] | {"question": "Ruko di Binjai?"}]
    (tmp_path / "others.json").write_text(json.dumps(decoded), "utf-8")
    relevansi(tmp_path, "import", tmp_path / "others.json")

    assert none_yet[0] == unfit[0] == wrong[0] == 1
    assert "`relevansi gold import` adds them" in none_yet[1]
    assert f"No decision in manual_input.json fits run {run_id}" in unfit[1]
    assert partial[0] == 0  # the file is kept; question 4 was never asked, question 3 has no gold
    assert f"{run_id}: gold.json has no question 3" in partial[1]
    assert f"{run_id}: gold.json, question 4: the run was not asked" in partial[1]
    assert "questions[0].expected_result is wrong" in wrong[1]
    assert call("gold", "import", gold)[0] == 2  # of two sets
    assert call("gold", "export", "--set", "1", "--run", run_id)[0] == 2
    assert call("gold", "export", "--set", "99")[0] == 1
    assert call("gold", "export", "--run", run_id, "--version", "7")[0] == 1
    empty = tmp_path / "empty"
    assert relevansi(empty, "gold", "import", gold, language="id").returncode == 1


def test_decisions_by_hand_come_in_and_go_out_again(tmp_path: Path, run_id: str) -> None:
    """Question 1, card 1: the price is passed; question 2 has no card 7."""
    decisions = {
        "constraint_overrides": {"1": {"1": {"price": "pass"}}},
        "override_reasons": {"1": {"1": {"price": "harga nego"}}},
        "manual_evaluations": {
            "2": {"0": {"result": "pass", "comment": "dekat"}, "7": {"result": "fail"}}
        },
    }
    path = tmp_path / "manual_input.json"
    path.write_text(json.dumps(decisions), "utf-8")
    process = relevansi(tmp_path, "manual-input", "import", path, "--run", run_id)
    again = document(relevansi(tmp_path, "manual-input", "import", path, "--run", run_id, "--json"))
    out = document(relevansi(tmp_path, "manual-input", "export", "--run", run_id))

    assert process.returncode == 0, process.stderr
    assert "2 new decisions" in process.stdout
    assert "manual_evaluations.2.7" in process.stderr
    assert (again["new"], again["fitting"], len(again["problems"])) == (0, 2, 1)
    assert out["constraint_overrides"] == decisions["constraint_overrides"]
    assert out["override_reasons"] == decisions["override_reasons"]
    assert out["manual_evaluations"] == {"2": {"0": {"result": "pass", "comment": "dekat"}}}
