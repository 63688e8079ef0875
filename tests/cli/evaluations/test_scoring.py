from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from relevansi.exporters.evaluations.score_documents import COLUMNS
from relevansi.metrics.evaluations import json_answers
from relevansi.metrics.evaluations.json_answers import FIELDS, LISTS
from tests.cli.relevansi import document, relevansi
from tests.services.evaluations.scored_files import PROVENANCE

EXAMPLE = {name: ["a"] if name in LISTS else "a" for name in FIELDS}
GOOD = json.dumps({**EXAMPLE, "source_map": []})
"""No evidence of 40 characters and no reference: 30 + 30 + 0 + 10 + 0 = 70."""
GOLD = {
    "threshold_t": 0.5,
    "questions": [
        {
            "id": 1,
            "question": "Rumah",
            "category": "location_simple",
            "expected_result": "has_data",
            "constraints": {"property_type": "house", "bedrooms": {"min": 3}},
        }
    ],
}
CARDS = [
    {"property_type": "rumah", "bedrooms": 3},
    {"property_type": "rumah"},
    {"property_type": "ruko", "bedrooms": 2},
]
ANSWERS: list[dict[str, Any]] = [
    {
        "id": "q1",
        "answer": "Tiga kamar tidur [CIT:a].",
        "gold": "Tiga kamar tidur",
        "contexts": [{"id": "a", "text": "Rumah di Cemara dengan tiga kamar tidur"}],
        "usage": [{"prompt_tokens": 90, "completion_tokens": 10}],
        "latency_ms": 1000,
    },
    {"id": "=1+1", "answer": "Tidak tahu.", "gold": None},
]


def lines(folder: Path, *rows: object) -> Path:
    """A JSON Lines file; a row that is text stands as it is."""
    path = folder / "rows.jsonl"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows), "utf-8")
    return path


def file(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(content), "utf-8")
    return path


def json_file(folder: Path, *outputs: str, **provenance: object) -> Path:
    """Questions q1, q2, ... whose outputs are these."""
    items = [
        {"id": f"q{n}", "expected": {"answer_example": EXAMPLE}, "output": output}
        for n, output in enumerate(outputs, 1)
    ]
    return file(folder, "a.json", {**PROVENANCE, **provenance, "items": items})


def constraints(folder: Path, *options: str | Path, gold: object = GOLD) -> Any:
    results = file(folder, "r.json", {"results": [{"query_id": 1, "properties": CARDS}]})
    files = ("--results", results, "--gold", file(folder, "g.json", gold))
    return relevansi(folder, "score", "constraints", *files, *options)


def test_constraints_are_one_flat_object(tmp_path: Path) -> None:
    """Cards 1, 1/2, 0: mean 1/2, which meets the gold file's 0.5 and not 0.6."""
    printed = document(constraints(tmp_path, "--format", "json"))

    assert (printed["mean_cpr"], printed["threshold_t"]) == (0.5, 0.5)
    assert printed["confusion_matrix"]["tp"] == 1
    strict = document(constraints(tmp_path, "--format", "json", "--threshold", "0.6"))
    assert strict["confusion_matrix"]["fn"] == 1
    left_out = document(constraints(tmp_path, "--format", "json", "--missing", "left-out"))
    assert (left_out["missing"], left_out["mean_cpr"]) == ("left-out", 0.6667)


def test_decisions_by_hand_move_the_figures_and_unknown_ones_are_told(tmp_path: Path) -> None:
    overrides = {"1": {"1": {"bedrooms": "pass"}, "9": {"price": "na"}}}
    manual = file(tmp_path, "m.json", {"constraint_overrides": overrides})
    process = constraints(tmp_path, "--manual-input", manual)

    assert process.returncode == 0
    assert "0.6667" in process.stdout
    assert "m.json: constraint_overrides.1.9 is wrong" in process.stderr


@pytest.mark.parametrize("threshold", ["1.1", "-0.1", "x", "nan"])
def test_a_threshold_is_a_number_from_0_to_1(tmp_path: Path, threshold: str) -> None:
    assert constraints(tmp_path, f"--threshold={threshold}").returncode == 2


def test_answers_have_a_summary_and_items_and_bad_rows_are_told(tmp_path: Path) -> None:
    path = lines(tmp_path, ANSWERS[0], "{", {"id": 1}, ANSWERS[1])
    command: list[str | Path] = ["score", "answers", path, "--format", "json"]
    process = relevansi(tmp_path, *command, "--embedder", "lexical")
    printed = document(process)

    assert [tuple(item) for item in printed["items"]] == [COLUMNS["answers"]] * 2
    assert (printed["embedder"], printed["tau_sim"]) == ("lexical (TF-IDF)", 0.3)
    summary = printed["summary"]
    assert (summary["avg_overlap"], summary["avg_total_tokens"], summary["avg_em"]) == (0.5, 100, 1)
    assert printed["left_out"] == 2
    assert "rows.jsonl, line 2 " in process.stderr
    assert "rows.jsonl: line 3, answer is missing" in process.stderr
    cited = document(relevansi(tmp_path, *command, "--keep-citations", "--n", "1"))
    assert (cited["summary"]["avg_em"], cited["keep_citations"], cited["first_n"]) == (0, True, 1)
    assert cited["why_undefined"]["avg_overlap"] == "no_embedder"


def test_items_as_csv_are_safe_to_open_and_written_where_it_is_said(tmp_path: Path) -> None:
    target = tmp_path / "scores.csv"
    command = ("score", "answers", lines(tmp_path, *ANSWERS), "--format", "csv", "-o", target)
    process = relevansi(tmp_path, *command)
    rows = list(csv.DictReader(io.StringIO(target.read_text("utf-8"))))

    assert (process.returncode, process.stdout) == (0, "")
    assert (rows[0]["overlap"], rows[1]["id"]) == ("", "'=1+1")


@pytest.mark.parametrize("kind", ["answers", "chunks"])
def test_a_file_without_one_row_that_can_be_scored_fails(tmp_path: Path, kind: str) -> None:
    process = relevansi(tmp_path, "score", kind, lines(tmp_path, "no json"), "--format", "json")

    assert (process.returncode, process.stdout) == (1, "")
    assert "Not one row of rows.jsonl could be scored." in process.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--embedder", "best"],
        ["--embedder", "http://127.0.0.1:9/v1"],
        ["--tau-sim", "1.5"],
        ["--n", "0"],
        ["--format", "xml"],
    ],
)
def test_wrong_usage_is_exit_code_2(tmp_path: Path, options: list[str]) -> None:
    process = relevansi(tmp_path, "score", "answers", lines(tmp_path, *ANSWERS), *options)

    assert (process.returncode, process.stdout) == (2, "")


def test_an_endpoint_that_does_not_answer_ends_the_scoring_in_one_line(tmp_path: Path) -> None:
    process = relevansi(
        tmp_path, "score", "answers", lines(tmp_path, *ANSWERS), "--format", "json",
        "--embedder", "http://127.0.0.1:9/v1", "--embedder-model", "tiny",
    )  # fmt: skip

    assert (process.returncode, process.stdout) == (1, "")
    assert "http://127.0.0.1:9/v1/embeddings cannot be used" in process.stderr
    assert len(process.stderr.splitlines()) == 1


def test_a_report_of_chunks_has_the_figures_by_their_names(tmp_path: Path) -> None:
    """One of two words: 1 common of 1 retrieved and 2 expected; omega 1 x (1/2 + 1/2) / 2."""
    row = {"id": 1, "expected_answer": "a b", "retrieved_chunks": ["a"], "strategy": "kecil"}
    path = lines(tmp_path, row, {**row, "retrieved_chunks": ["c"], "strategy": "besar"}, "{bad")
    command: list[str | Path] = ["score", "chunks", path, "--format"]
    markdown = relevansi(tmp_path, *command, "markdown").stdout
    latex = relevansi(tmp_path, *command, "latex", language="id").stdout

    assert "| Strategy | n | IoU | Recall | Precision | Precision Omega | F1-score |" in markdown
    assert "| All | 2 | 0.2500 | 0.2500 | 0.5000 | 0.2500 | 0.3333 |" in markdown
    assert "| kecil | 1 | 0.5000 | 0.5000 | 1.0000 | 0.5000 | 0.6667 |" in markdown
    assert "| besar | 1 | 0.0000 | 0.0000 | 0.0000 | 0.0000 | 0.0000 |" in markdown
    assert r"kecil & 1 & 0,5000 & 0,5000 & 1,0000 & 0,5000 & 0,6667 \\" in latex


def test_json_answers_carry_their_provenance(tmp_path: Path) -> None:
    printed = document(
        relevansi(tmp_path, "score", "json-v2", json_file(tmp_path, GOOD, "no"), "--format", "json")
    )

    assert list(printed["provenance"]) == list(PROVENANCE)
    # "a" is not a keyword of three characters: no evidence; the score is 70 and 0.
    assert printed["summary"] == {
        "count": 2,
        "eval_score_avg": 35.0,
        "schema_pass_rate": 0.5,
        "gate_passed": False,
    }
    assert printed["reasons"] == {"not_json": 1}
    assert tuple(printed["items"][0]) == COLUMNS["json-v2"]
    process = relevansi(tmp_path, "score", "json-v2", json_file(tmp_path, GOOD, model_id=""))
    assert (process.returncode, process.stdout) == (1, "")
    assert "missing: model_id." in process.stderr


def test_a_report_of_json_answers_has_gate_fields_and_provenance(tmp_path: Path) -> None:
    """70 and 0; the dev set q1 has 70 of at least 60 and decides; q1 has too many points."""
    path = json_file(tmp_path, json.dumps({**EXAMPLE, "detailed_description": ["a"] * 9}), "no")
    dev = file(tmp_path, "dev.json", ["q1", "q7"])
    command = ("score", "json-v2", path, "--subset", dev, "--min-average", "40", "--gate")
    markdown = relevansi(tmp_path, *command, "--format", "markdown")

    assert markdown.returncode == 0
    for row in (
        "- Gate passed",
        "| Figure | Dev set | All |",
        "| Schema pass rate | 1.0000 | 0.5000 |",
        "| grounding | 10 | 0.0000 | 0.0000 |",
        "not_json: 1",
        *(f"- {name}: {value}" for name, value in PROVENANCE.items()),
    ):
        assert row in markdown.stdout
    assert "dev.json names questions that are not in the set: q7." in markdown.stderr
    assert "detailed_description has more items than it may" in markdown.stderr


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--gate", "--min-average", "35", "--min-pass-rate", "0.5"], 0),
        (["--gate", "--min-average", "35", "--min-pass-rate", "0.51"], 1),
    ],
)
def test_the_gate_ends_with_1_when_it_is_asked_for(
    tmp_path: Path, options: list[str], code: int
) -> None:
    path = json_file(tmp_path, GOOD, "no")
    process = relevansi(tmp_path, "score", "json-v2", path, "--format", "json", *options)

    assert process.returncode == code
    assert json.loads(process.stdout)["summary"]["eval_score_avg"] == 35
    assert ("The gate is not passed" in process.stderr) == bool(code)


def test_questions_and_outputs_are_joined(tmp_path: Path) -> None:
    questions = [{"id": n, "expected": {"answer_example": EXAMPLE}} for n in (1, 2)]
    version = json_answers.eval_set_version("q", questions)
    process = relevansi(
        tmp_path, "score", "json-v2", "--questions", file(tmp_path, "q.json", questions),
        "--outputs", lines(tmp_path, {"id": 1, "output": GOOD}), "--format", "csv",
        "--provenance", file(tmp_path, "p.json", PROVENANCE | {"eval_set_version": version}),
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(process.stdout)))

    assert [(row["id"], row["reason"], row["score"]) for row in rows] == [
        ("1", "", "70"),
        ("2", "not_json", "0"),
    ]
    assert "rows.jsonl has no output for this many questions: 1 (2)." in process.stderr


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
    arguments = [path if option == "a.json" else option for option in options]

    assert relevansi(tmp_path, "score", "json-v2", *arguments).returncode == 2
