"""`relevansi score json-v2`: provenance, gate, dev set, and questions joined with outputs."""

from __future__ import annotations

import csv
import io
import json
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cli.evaluations.score_files import EXAMPLE, GOOD, file, json_file, lines
from tests.cli.relevansi import document, relevansi
from tests.services.evaluations.scored_files import PROVENANCE
from webapp.metrics.evaluations import json_answers


def test_json_answers_carry_their_provenance(tmp_path: Path) -> None:
    found = document(
        relevansi(tmp_path, "score", "json-v2", json_file(tmp_path, GOOD, "no"), "--format", "json")
    )

    assert list(found["provenance"]) == list(PROVENANCE)
    # "a" is not a keyword of three characters: no evidence; the score is 70 and 0.
    assert found["summary"] == {
        "count": 2,
        "eval_score_avg": 35.0,
        "schema_pass_rate": 0.5,
        "gate_passed": False,
    }
    assert found["reasons"] == {"not_json": 1}
    assert set(found["items"][0]) == {
        "id", "schema_ok", "reason", "score", "target_audience", "main_topic", "sub_topic",
        "detailed_description", "original_evidence", "predicted_questions", "grounding",
    }  # fmt: skip


def test_a_report_of_json_answers_has_gate_fields_and_provenance(tmp_path: Path) -> None:
    """70 and 0; the dev set q1 has 70 of at least 60 and decides."""
    path = json_file(tmp_path, GOOD, "no")
    dev = file(tmp_path, "dev.json", ["q1"])
    command = ("score", "json-v2", path, "--subset", dev, "--min-average", "60")
    reports = [
        relevansi(tmp_path, *command, "--format", file_format, language=language)
        for file_format, language in (("markdown", "en"), ("latex", "en"), ("markdown", "id"))
    ]
    markdown, latex, indonesian = (" ".join(one.stdout.split()) for one in reports)

    assert "- Gate passed - It asks for a mean score of at least 60" in markdown
    assert "| Figure | Dev set | All |" in markdown
    assert "| Mean score | 70.0000 | 35.0000 |" in markdown
    assert "| Schema pass rate | 1.0000 | 0.5000 |" in markdown
    assert "| detailed_description | 30 | 1.0000 | 0.5000 |" in markdown
    assert "| grounding | 10 | 0.0000 | 0.0000 |" in markdown
    assert "- not_json: 1" in markdown
    for name, value in PROVENANCE.items():
        assert f"- {name}: {value}" in markdown
    assert r"Mean score & 70.0000 & 35.0000 \\" in latex
    assert " 70,0000 | 35,0000 |" in indonesian


def test_a_missing_field_of_the_provenance_is_an_error_that_names_it(tmp_path: Path) -> None:
    done = relevansi(tmp_path, "score", "json-v2", json_file(tmp_path, GOOD, model_id=""))

    assert (done.returncode, done.stdout) == (1, "")
    assert "missing: model_id." in done.stderr


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--gate"], 1),
        (["--gate", "--min-average", "35", "--min-pass-rate", "0.5"], 0),
        (["--gate", "--min-average", "35.01", "--min-pass-rate", "0.5"], 1),
        (["--gate", "--min-average", "35", "--min-pass-rate", "0.51"], 1),
    ],
)
def test_the_gate_ends_with_1_when_it_is_asked_for(
    tmp_path: Path, options: list[str], code: int
) -> None:
    path = json_file(tmp_path, GOOD, "no")
    done = relevansi(tmp_path, "score", "json-v2", path, "--format", "json", *options)

    assert done.returncode == code
    assert json.loads(done.stdout)["summary"]["eval_score_avg"] == 35
    assert ("The gate is not passed" in done.stderr) == bool(code)


def test_the_dev_set_is_scored_first_and_has_the_gate(tmp_path: Path) -> None:
    path = json_file(tmp_path, GOOD, "no")
    subset = file(tmp_path, "dev.json", ["q1", "q7"])
    command: list[str | Path] = [
        "score",
        "json-v2",
        path,
        "--subset",
        subset,
        "--min-average",
        "70",
    ]
    done = relevansi(tmp_path, *command, "--gate", "--format", "json")
    found = document(done)

    assert (found["subset"]["count"], found["subset"]["gate_passed"]) == (1, True)
    assert (found["summary"]["count"], found["summary"]["gate_passed"]) == (2, False)
    assert "dev.json names questions that are not in the set: q7." in done.stderr
    assert "Dev set" in relevansi(tmp_path, *command).stdout


def test_questions_and_outputs_are_joined(tmp_path: Path) -> None:
    questions = [{"id": n, "expected": {"answer_example": EXAMPLE}} for n in (1, 2)]
    outputs = lines(tmp_path, {"id": 1, "output": GOOD})
    stated = file(
        tmp_path,
        "p.json",
        PROVENANCE | {"eval_set_version": json_answers.eval_set_version("q", questions)},
    )
    done = relevansi(
        tmp_path, "score", "json-v2", "--questions", file(tmp_path, "q.json", questions),
        "--outputs", outputs, "--provenance", stated, "--format", "csv",
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(done.stdout)))

    assert [(row["id"], row["reason"], row["score"]) for row in rows] == [
        ("1", "", "70"),
        ("2", "not_json", "0"),
    ]
    assert "rows.jsonl has no output for this many questions: 1 (2)." in done.stderr


def test_the_prompt_that_is_given_must_be_the_one_that_is_stated(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.md"
    prompt.write_bytes(b"Answer in JSON.")
    stated = sha256(b"Answer in JSON.").hexdigest()
    command: list[str | Path] = [
        "score",
        "json-v2",
        json_file(tmp_path, GOOD, prompt_sha256=stated),
    ]

    assert relevansi(tmp_path, *command, "--prompt", prompt).returncode == 0
    prompt.write_bytes(b"Answer.")
    done = relevansi(tmp_path, *command, "--prompt", prompt)
    assert (done.returncode, done.stdout) == (1, "")
    assert "prompt.md is not the prompt of these answers" in done.stderr


def test_lists_that_are_too_long_are_a_warning(tmp_path: Path) -> None:
    long = json.dumps({**EXAMPLE, "detailed_description": ["a"] * 9})
    done = relevansi(tmp_path, "score", "json-v2", json_file(tmp_path, long))

    assert done.returncode == 0
    assert "detailed_description has more items than it may in this many answers: 1." in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--questions", "a.json"],
        ["a.json", "--outputs", "a.json"],
        ["a.json", "--provenance", "a.json"],
    ],
)
def test_a_file_or_questions_with_outputs_are_asked_for(tmp_path: Path, options: list[str]) -> None:
    path = json_file(tmp_path, GOOD)
    named = [path if option == "a.json" else option for option in options]

    assert relevansi(tmp_path, "score", "json-v2", *named).returncode == 2
