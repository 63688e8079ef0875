"""``relevansi agreement`` and ``relevansi conflicts``: JSON, tables and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from relevansi.cli.agreement.agreement import judged_runs
from relevansi.records import Relevance
from relevansi.services.judging import judgments
from relevansi.services.study import studies
from tests import demo
from tests.cli.relevansi import document, relevansi
from tests.conftest import NOW
from tests.services.agreement.test_agreement import files
from tests.services.runs.runs import card, click, query, run, store
from tests.stored_studies import study_in

FIGURES = {"raw", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"}
FIGURE = {"value", "n", "lower", "upper", "why_undefined"}


@pytest.fixture(name="instance")
def _instance(tmp_path: Path) -> Path:
    """Three raters on four cards: Ani 1110, Budi 1100, Citra 1?-- (cannot tell, unjudged)."""
    with study_in(tmp_path) as (session, study):
        ani = studies.raters(session, study)[0]
        ani.name = "Ani"
        stored = run(query(1, *map(card, "abcd")))
        run_id = store(session, study, stored).id
        others = [studies.add_rater(session, study, name, NOW) for name in ("Budi", "Citra")]
        for rater, verdicts in zip([ani, *others], ("1110", "1100", "1?"), strict=True):
            for rank, sign in enumerate(verdicts, start=1):
                verdict = Relevance.UNSURE if sign == "?" else Relevance(sign)
                at = click(f"{rater.name}{rank}", minute=rank)
                judgments.judge(session, rater, run_id, 1, rank, verdict, at)
    return tmp_path


def test_json_holds_every_breakdown(instance: Path) -> None:
    printed = document(relevansi(instance, "agreement", "--format", "json"))

    assert list(printed) == ["raters", "interval", "cards", "empty_lists", "quality", "repeats"]
    cards = printed["cards"]
    assert set(cards["overall"]) == FIGURES
    assert set(cards["overall"]["raw"]) == FIGURE
    # a: 3 of 3 pairs alike, b and d 1 of 1, c 0 of 1: (1 + 1 + 0 + 1) / 4.
    assert cards["overall"]["raw"]["value"] == 0.75
    assert cards["overall"]["cohen_kappa"]["why_undefined"] == "not_two_raters"
    # Ani 3/4 relevant, Budi 2/4: Pe = 3/8 + 1/8 = 1/2; kappa = (3/4 - 1/2) / (1/2).
    assert cards["pairs"][0]["raters"] == ["Ani", "Budi"]
    assert cards["pairs"][0]["cohen_kappa"]["value"] == 0.5
    assert cards["cannot_tell"]["raters"]["Citra"] == {"n": 1, "judged": 2, "rate": 0.5}
    assert (cards["n_items"], cards["n_shared"]) == (4, 4)
    assert [category["n_items"] for category in cards["categories"].values()] == [4]
    assert [window["n_items"] for window in cards["over_time"]] == [4]
    assert printed["empty_lists"]["overall"]["raw"] == {
        "value": None,
        "n": 0,
        "lower": None,
        "upper": None,
        "why_undefined": "no_shared_item",
    }
    assert printed["quality"]["cannot_tell"] is None
    assert printed["repeats"] == []


def test_the_tables_say_why_a_figure_is_missing(instance: Path, tmp_path: Path) -> None:
    process = relevansi(instance, "agreement", "-o", tmp_path / "agreement.txt")
    text = " ".join((tmp_path / "agreement.txt").read_text("utf-8").split())

    assert (process.returncode, process.stdout) == (0, "")
    assert "Ani – Budi" in text
    assert "0.75" in text
    assert "This figure is for exactly two raters." in text
    assert "1 of 2" in text  # Citra could not tell


def test_every_format_is_of_the_same_tables(instance: Path, tmp_path: Path) -> None:
    page = relevansi(instance, "agreement", "--format", "markdown").stdout
    book = tmp_path / "agreement.xlsx"
    relevansi(instance, "agreement", "--format", "xlsx", "-o", book)

    assert "Ani – Budi" in page
    values = [cell for sheet in load_workbook(book) for row in sheet.values for cell in row]
    assert "Ani – Budi" in values
    assert 0.75 in values  # unrounded, as a number


QUESTIONS = Path(__file__).parents[3] / "seeds/questions.json"


def judged(folder: Path, *words: str, titles: str = "ab") -> Path:
    """A folder with one question's answer and a verdict by hand on each of its cards."""
    folder.mkdir(parents=True)
    run_file, manual_file = files(folder.name, *words, titles=titles)
    (folder / "results.json").write_bytes(run_file)
    (folder / "manual_input.json").write_bytes(manual_file)
    return folder


def as_json(tmp_path: Path, *folders: Path) -> Any:
    return document(relevansi(tmp_path, "conflicts", *folders, "--format", "json"))


def test_json_has_exactly_the_agreed_shape(tmp_path: Path) -> None:
    hybrid = judged(tmp_path / "hybrid", "pass", "pass")
    api = judged(tmp_path / "api_only", "fail", "pass")

    assert as_json(tmp_path, hybrid, api) == {
        "pairs_judged_more_than_once": 2,
        "contradictions": [
            {
                "query_id": 1,
                "property": "slug:a",
                "verdicts": {"hybrid": "pass", "api_only": "fail"},
            }
        ],
        "favours": {"hybrid": 1, "api_only": 0},
        "sign_tests": [{"runs": ["hybrid", "api_only"], "favours_a": 1, "favours_b": 0, "p": 1.0}],
    }


def test_the_folder_one_stands_in_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(tmp_path / "hybrid", "pass")
    monkeypatch.chdir(tmp_path / "hybrid")

    assert [run.name for run in judged_runs([Path()])] == ["hybrid"]


def test_a_table_is_printed_for_people(tmp_path: Path) -> None:
    folders = judged(tmp_path / "hybrid", "pass"), judged(tmp_path / "[b]api", "fail")
    process = relevansi(tmp_path, "conflicts", *folders)

    assert (process.returncode, process.stderr) == (0, "")
    assert [word for word in ("slug:a", "[b]api") if word not in process.stdout] == []


def test_runs_of_the_study_are_compared_where_no_folder_is_named(tmp_path: Path) -> None:
    demo.restored(tmp_path).rename(tmp_path / "relevansi.sqlite")
    process = relevansi(tmp_path, "conflicts", "--format", "json")

    assert document(process)["favours"] == {
        "Hybrid · openai": 5,
        "Vector Only · openai": 3,
        "API Only · openai": 0,
    }


def test_a_study_without_decisions_asks_for_folders(tmp_path: Path) -> None:
    relevansi(tmp_path, "import", QUESTIONS)
    process = relevansi(tmp_path, "conflicts")

    assert process.returncode == 1
    assert "Name folders" in process.stderr


def test_a_run_that_says_both_is_named_beside_the_document(tmp_path: Path) -> None:
    both = judged(tmp_path / "both", "pass", "fail", titles="aa")
    failing = judged(tmp_path / "other", "fail")
    process = relevansi(tmp_path, "conflicts", both, failing, "--format", "json")

    assert document(process)["pairs_judged_more_than_once"] == 0
    assert "both passes and fails" in process.stderr
    assert "slug:a" in process.stderr


@pytest.mark.parametrize(
    ("file", "holds", "words"),
    [
        ("manual_input.json", None, "manual_input.json"),
        ("results.json", None, "results.json"),
        ("manual_input.json", '{"manual_evaluations": ', "bad/manual_input.json is not complete"),
        ("results.json", QUESTIONS.read_text("utf-8"), "bad/results.json looks like"),
    ],
)
def test_a_bad_folder_takes_one_clear_line(
    tmp_path: Path, file: str, holds: str | None, words: str
) -> None:
    good, bad = judged(tmp_path / "good", "pass"), judged(tmp_path / "bad", "pass")
    if holds is None:
        (bad / file).unlink()
    else:
        (bad / file).write_text(holds, "utf-8")
    process = relevansi(tmp_path, "conflicts", good, bad, "--format", "json")

    assert (process.returncode, process.stdout) == (1, "")
    assert len(process.stderr.splitlines()) == 1
    assert words in process.stderr
    assert "bad" in process.stderr
