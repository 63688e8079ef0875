"""``relevansi score``: documents on the standard output, all else on the other."""

from __future__ import annotations

import csv
import io
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cli.evaluations.score_files import EXAMPLE, GOOD, file, json_file, lines
from tests.cli.relevansi import document, process, relevansi
from tests.services.evaluations.scored_files import PROVENANCE
from webapp.metrics.evaluations import json_answers

SUMMARY = {
    "count",
    "avg_faithfulness",
    "avg_overlap",
    "avg_em",
    "avg_f1",
    "abstain_rate",
    "avg_total_tokens",
    "avg_prompt_tokens",
    "avg_completion_tokens",
    "p50_latency_ms",
    "p95_latency_ms",
    "idk_with_citation_count",
}
ITEM = {
    "id",
    "sentences",
    "claim_sentences",
    "supported",
    "overlap",
    "faithfulness",
    "em",
    "f1",
    "abstain",
    "total_tokens",
    "latency_ms",
    "idk_with_citation",
}
FLAT = {
    "total_queries",
    "total_properties",
    "threshold_t",
    "pca",
    "mean_cpr",
    "strict_success_ratio",
    "query_success_rate",
    "confusion_matrix",
    "category_metrics",
    "evaluations",
}
GOLD = {
    "threshold_t": 0.5,
    "questions": [
        {
            "id": 1,
            "question": "Rumah",
            "category": "a",
            "expected_result": "has_data",
            "constraints": {"property_type": "house", "bedrooms": {"min": 3}},
        }
    ],
}
RESULTS = {
    "results": [
        {
            "query_id": 1,
            "properties": [
                {"property_type": "rumah", "bedrooms": 3},
                {"property_type": "rumah"},
                {"property_type": "ruko", "bedrooms": 2},
            ],
        }
    ]
}
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


# --- constraints -----------------------------------------------------------------------


def test_constraints_are_one_flat_object(tmp_path: Path) -> None:
    """Cards 1, 1/2, 0: mean 1/2, which meets the gold file's 0.5 and not 0.6."""
    names: list[str | Path] = [
        "--results",
        file(tmp_path, "r.json", RESULTS),
        "--gold",
        file(tmp_path, "g.json", GOLD),
    ]
    command: list[str | Path] = ["score", "constraints", *names, "--format", "json"]
    found = document(relevansi(tmp_path, *command))

    assert set(found) == FLAT
    assert (found["mean_cpr"], found["threshold_t"]) == (0.5, 0.5)
    assert found["confusion_matrix"]["tp"] == 1
    strict = document(relevansi(tmp_path, *command, "--threshold", "0.6"))
    assert strict["confusion_matrix"]["fn"] == 1
    left_out = document(relevansi(tmp_path, *command, "--missing", "left-out"))
    assert (left_out["missing"], left_out["mean_cpr"]) == ("left-out", 0.6667)


def test_decisions_by_hand_move_the_figures_and_unknown_ones_are_told(tmp_path: Path) -> None:
    manual = {
        "constraint_overrides": {"1": {"1": {"bedrooms": "pass"}, "9": {"price": "na"}}},
        "manual_evaluations": {},
    }
    done = relevansi(
        tmp_path, "score", "constraints",
        "--results", file(tmp_path, "r.json", RESULTS),
        "--gold", file(tmp_path, "g.json", GOLD),
        "--manual-input", file(tmp_path, "m.json", manual),
    )  # fmt: skip

    assert done.returncode == 0
    assert "0.6667" in done.stdout
    assert "--missing left-out" in done.stdout
    assert "m.json: constraint_overrides.1.9 is wrong" in done.stderr


def test_a_gold_file_that_is_wrong_is_told_whole(tmp_path: Path) -> None:
    wrong = {"questions": [{"id": 1}, {"id": "x", "question": "ada?", "expected_result": "?"}]}
    done = relevansi(
        tmp_path, "score", "constraints",
        "--results", file(tmp_path, "r.json", RESULTS),
        "--gold", file(tmp_path, "g.json", wrong),
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 4


@pytest.mark.parametrize("threshold", ["1.1", "-0.1", "x", "nan", "1/0", "0" * 50, "1e999999999"])
def test_a_threshold_is_a_number_from_0_to_1(tmp_path: Path, threshold: str) -> None:
    done = relevansi(
        tmp_path, "score", "constraints",
        "--results", file(tmp_path, "r.json", RESULTS),
        "--gold", file(tmp_path, "g.json", GOLD),
        f"--threshold={threshold}",
    )  # fmt: skip

    assert done.returncode == 2
    assert "is not a number from 0 to 1." in done.stderr


# --- answers ---------------------------------------------------------------------------


def test_answers_have_a_summary_and_items(tmp_path: Path) -> None:
    path = lines(tmp_path, *ANSWERS)
    command: list[str | Path] = ["score", "answers", path, "--format", "json"]
    found = document(relevansi(tmp_path, *command, "--embedder", "lexical"))

    assert set(found["summary"]) == SUMMARY
    assert [set(item) for item in found["items"]] == [ITEM, ITEM]
    assert (found["embedder"], found["tau_sim"]) == ("lexical (TF-IDF)", 0.3)
    assert found["summary"]["avg_overlap"] == 0.5
    assert found["summary"]["avg_total_tokens"] == 100


def test_without_an_embedder_overlap_is_null_and_the_reason_stands_beside(tmp_path: Path) -> None:
    path = lines(tmp_path, *ANSWERS)
    found = document(relevansi(tmp_path, "score", "answers", path, "--format", "json"))

    assert found["summary"]["avg_overlap"] is None
    assert found["why_undefined"]["avg_faithfulness"] == "no_embedder"
    assert found["embedder"] is None
    table = relevansi(tmp_path, "score", "answers", path).stdout
    assert "give claim_similarities in the file or choose an --embedder" in table
    assert "perhaps only in phrase or format" in " ".join(table.split())


def test_a_threshold_of_0_is_taken_as_it_is(tmp_path: Path) -> None:
    path = lines(tmp_path, {**ANSWERS[0], "claim_similarities": [0.0]})
    command: list[str | Path] = ["score", "answers", path, "--format", "json"]

    assert document(relevansi(tmp_path, *command, "--tau-sim", "0"))["summary"]["avg_overlap"] == 1
    assert document(relevansi(tmp_path, *command))["summary"]["avg_overlap"] == 0


def test_bad_rows_are_told_by_line_and_the_rest_scored(tmp_path: Path) -> None:
    path = lines(tmp_path, ANSWERS[0], "{", {"id": 1}, ANSWERS[1])
    done = relevansi(tmp_path, "score", "answers", path, "--format", "json")

    assert document(done)["summary"]["count"] == 2
    assert document(done)["left_out"] == 2
    assert "rows.jsonl, line 2 " in done.stderr
    assert "rows.jsonl, line 3: answer is missing" in done.stderr


def test_the_first_rows_alone_are_scored_and_it_is_said(tmp_path: Path) -> None:
    path = lines(tmp_path, *ANSWERS)

    assert (
        document(relevansi(tmp_path, "score", "answers", path, "--n", "1", "--format", "json"))[
            "first_n"
        ]
        == 1
    )
    done = relevansi(tmp_path, "score", "answers", path, "--n", "1")
    assert "Only the first 1 rows were scored" in done.stdout


def test_items_as_csv_are_safe_to_open(tmp_path: Path) -> None:
    done = relevansi(tmp_path, "score", "answers", lines(tmp_path, *ANSWERS), "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))

    assert set(rows[0]) == ITEM
    assert rows[0]["overlap"] == ""  # undefined
    assert rows[1]["id"] == "'=1+1"


def test_a_file_is_written_where_it_is_said(tmp_path: Path) -> None:
    target = tmp_path / "scores.json"
    done = relevansi(
        tmp_path, "score", "answers", lines(tmp_path, *ANSWERS), "--format", "json", "-o", target
    )

    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads(target.read_text("utf-8"))["summary"]["count"] == 2


@pytest.mark.parametrize("content", ["", "no json", "{}"])
def test_a_file_without_one_row_that_can_be_scored_fails(tmp_path: Path, content: str) -> None:
    path = lines(tmp_path, content)
    for kind in ("answers", "chunks"):
        done = relevansi(tmp_path, "score", kind, path, "--format", "json")
        assert (done.returncode, done.stdout) == (1, "")
        assert "Not one row of rows.jsonl could be scored." in done.stderr


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
    done = relevansi(tmp_path, "score", "answers", lines(tmp_path, *ANSWERS), *options)

    assert (done.returncode, done.stdout) == (2, "")


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    assert relevansi(tmp_path, "score", "answers", tmp_path / "none.jsonl").returncode == 2


def test_an_endpoint_that_does_not_answer_ends_the_scoring_in_one_line(tmp_path: Path) -> None:
    done = relevansi(
        tmp_path, "score", "answers", lines(tmp_path, *ANSWERS), "--format", "json",
        "--embedder", "http://127.0.0.1:9/v1", "--embedder-model", "tiny",
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (1, "")
    assert "http://127.0.0.1:9/v1/embeddings cannot be used" in done.stderr
    assert len(done.stderr.splitlines()) == 1


MAIN = [
    "Count (N)", "Avg Faithfulness", "Avg Overlap", "Avg F1", "Avg Total Tokens",
    "P50 Latency (ms)", "Abstain Rate", "IDK+Cit Count",
]  # fmt: skip
APPENDIX = ["Avg EM", "Avg Prompt Tokens", "Avg Completion Tokens", "P95 Latency (ms)"]


@pytest.mark.parametrize("file_format", ["table", "markdown", "latex"])
def test_the_appendix_stands_apart_from_the_main_table(tmp_path: Path, file_format: str) -> None:
    stated = {"temperature": 0, "token_target": 1000}
    path = lines(tmp_path, stated, ANSWERS[0], {**ANSWERS[1], "temperature": 0.5})
    done = relevansi(tmp_path, "score", "answers", path, "--format", file_format)
    found = " ".join(done.stdout.replace("\\allowbreak{}", "").replace("\\", "").split())

    main = found.index(MAIN[-1])
    assert [name for name in MAIN if name in found] == MAIN
    assert [name for name in APPENDIX if name in found[main:]] == APPENDIX
    assert "Appendix" in found[main:]
    assert "The file states temperature 0 - 0.5 (2 answers)." in found
    assert "The file states token_target 1,000 (2 answers)." in found
    assert "max_output_tokens from 128 to 256, temperature 0 and top_p 0" in found
    assert "Citations are left out of exact match and F1." in found


def test_a_report_in_indonesian_has_its_decimals(tmp_path: Path) -> None:
    path = lines(tmp_path, *ANSWERS)
    done = relevansi(tmp_path, "score", "answers", path, "--format", "markdown", language="id")

    assert "| Abstain Rate | 0,5000 | 2 |" in done.stdout
    assert "| P50 Latency (ms) | 1.000 | 1 |" in done.stdout


def test_citations_are_words_only_where_they_are_kept(tmp_path: Path) -> None:
    """Tiga kamar tidur [CIT:a] against the same without: 1, kept 2 x 3 / (4 + 3)."""
    command: list[str | Path] = ["score", "answers", lines(tmp_path, *ANSWERS), "--format", "json"]

    assert document(relevansi(tmp_path, *command))["summary"]["avg_em"] == 1
    kept = document(relevansi(tmp_path, *command, "--keep-citations"))
    assert (kept["summary"]["avg_em"], kept["keep_citations"]) == (0, True)
    assert kept["summary"]["avg_f1"] == pytest.approx(6 / 7)


# --- chunks ----------------------------------------------------------------------------


def test_chunks_of_two_strategies_stand_side_by_side(tmp_path: Path) -> None:
    row = {"id": 1, "expected_answer": "a b", "retrieved_chunks": ["a"], "strategy": "kecil"}
    path = lines(tmp_path, row, {**row, "retrieved_chunks": ["a b"], "strategy": "[besar]"})
    found = document(relevansi(tmp_path, "score", "chunks", path, "--format", "json"))

    assert set(found["items"][0]) == {
        "id", "strategy", "iou", "recall", "precision", "precision_omega", "f1",
    }  # fmt: skip
    assert found["summary"]["recall"] == 0.75
    assert {name: part["recall"] for name, part in found["strategies"].items()} == {
        "kecil": 0.5,
        "[besar]": 1.0,
    }
    table = relevansi(tmp_path, "score", "chunks", path).stdout
    assert "[besar]" in table
    assert "chunks too large or too many" in " ".join(table.split())


def test_a_report_of_chunks_has_the_figures_by_their_names(tmp_path: Path) -> None:
    """One of two words: 1 common of 1 retrieved and 2 expected; omega 1 x (1/2 + 1/2) / 2."""
    row = {"id": 1, "expected_answer": "a b", "retrieved_chunks": ["a"], "strategy": "kecil"}
    path = lines(tmp_path, row, {**row, "retrieved_chunks": ["c"], "strategy": "besar"}, "{bad")
    command: list[str | Path] = ["score", "chunks", path, "--format"]
    markdown = relevansi(tmp_path, *command, "markdown").stdout
    latex = relevansi(tmp_path, *command, "latex").stdout

    assert "| Strategy | n | IoU | Recall | Precision | Precision Omega | F1-score |" in markdown
    assert "| All | 2 | 0.2500 | 0.2500 | 0.5000 | 0.2500 | 0.3333 |" in markdown
    assert "| kecil | 1 | 0.5000 | 0.5000 | 1.0000 | 0.5000 | 0.6667 |" in markdown
    assert "| besar | 1 | 0.0000 | 0.0000 | 0.0000 | 0.0000 | 0.0000 |" in markdown
    assert "- Lines left out: 1." in markdown
    assert r"kecil & 1 & 0.5000 & 0.5000 & 1.0000 & 0.5000 & 0.6667 \\" in latex


def test_without_strategies_there_is_one_mean(tmp_path: Path) -> None:
    path = lines(tmp_path, {"id": 1, "expected_answer": "a", "retrieved_chunks": ["a"]})
    found = document(relevansi(tmp_path, "score", "chunks", path, "--format", "json"))

    assert (found["strategies"], found["summary"]["count"]) == ({}, 1)


# --- json-v2 ---------------------------------------------------------------------------


# --- all -------------------------------------------------------------------------------


def test_the_commands_are_listed_with_what_they_do(tmp_path: Path) -> None:
    done = relevansi(tmp_path, "score", "--help")

    assert all(name in done.stdout for name in ("constraints", "answers", "chunks", "json-v2"))


def test_a_process_prints_one_document_and_no_warning(tmp_path: Path) -> None:
    path = lines(tmp_path, *ANSWERS)
    done = process(tmp_path, "score", "answers", path, "--format", "json", language="id")

    assert document(done)["summary"]["count"] == 2
    assert done.stderr == ""


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
