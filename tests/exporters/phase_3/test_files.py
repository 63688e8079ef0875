"""Every file of phase 3 says the same, runs nothing, and names people by pseudonym alone."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import openpyxl
import pytest

from relevansi.exporters.phase_3 import summary
from relevansi.exporters.phase_3.json_summary import user_study_json
from relevansi.exporters.phase_3.sheets import COLUMNS, data_workbook
from relevansi.exporters.phase_3.summary import FORMATS
from relevansi.i18n import speaking
from relevansi.kinds.property import Card
from relevansi.metrics.judging.figures import QueryRow
from relevansi.metrics.judging.queries import QueryJudgments, summarise
from relevansi.metrics.judging.registry import read_groups
from relevansi.metrics.phase_3.user_study import (
    CLUSTERED_FIGURES,
    Comment,
    OwnAnswer,
    Person,
    UserStudyReport,
    by_category,
    by_theme,
    clustered_figures,
    usability_summary,
)
from relevansi.records import QueryState, Relevance
from tests.conftest import NOW
from tests.exporters.explained import unexplained
from tests.exporters.one_language import foreign, text_of

HOSTILE = '=1+1|<script>alert(1)</script> \\input{x} $&%_ "q"'
VERDICTS = {"R": Relevance.RELEVANT, "N": Relevance.NOT_RELEVANT, "?": Relevance.UNSURE, "-": None}


def answer(
    number: int, judged: str, *, category: str = "", question: str = "", notes: str = ""
) -> OwnAnswer:
    """Return a question whose cards were judged as the letters say; "-" is unjudged."""
    verdicts = tuple(VERDICTS[letter] for letter in judged)
    summary = summarise(
        QueryJudgments(QueryState.RESULTS, verdicts, None, float(4 if judged[0] == "R" else 2)),
        cannot_tell="left_out",
    )
    text = question or f"Question {number}"
    row = QueryRow(number, text, category, notes, summary, verdicts)
    cards = tuple(
        (rank, Card(f"House {rank}", url=f"https://example.org/{rank}"), verdict)
        for rank, verdict in enumerate(verdicts, start=1)
    )
    return OwnAnswer(
        number, text, category, 1, "answered", NOW, NOW + timedelta(seconds=5), "Answer", row, cards
    )


def person(
    number: int,
    pseudonym: str,
    answers: Sequence[OwnAnswer],
    usability: str = "",
    comments: tuple[Comment, ...] = (),
) -> Person:
    """Return somebody who agreed; `usability` has a digit for each item, or none."""
    scores = tuple(int(digit) for digit in usability) or (None,) * 10
    return Person(
        id=number,
        number=number,
        pseudonym=pseudonym,
        consent=1,
        agreed_at=NOW,
        finished_at=NOW if usability else None,
        answers=tuple(answers),
        usability=scores,
        comments=comments,
    )


def user_study_report(people: Sequence[Person] | None = None) -> UserStudyReport:
    """Return a report of three people, or of `people`."""
    result = tuple(three_people() if people is None else people)
    return UserStudyReport(
        study="Rumah",
        search_method="hybrid",
        llm="demo",
        most_questions=10,
        people=result,
        withdrawn=2,
        judged_until=NOW if result else None,
        version="1.0",
        figures=clustered_figures([person.totals for person in result]),
        categories=by_category(result),
        themes=by_theme(result),
        usability=usability_summary(
            [person.usability_score for person in result if person.usability_score is not None]
        ),
        cannot_tell="left_out",
    )


def three_people() -> list[Person]:
    """Return Melati (P@5 1 and 0.5), Kenari (0) and one whose every word is hostile (1)."""
    price = Comment("helped", "Prices", ("price",))
    bad = Comment("note 1", HOSTILE, ("price", HOSTILE[:60]), HOSTILE)
    return [
        person(
            1,
            "Melati",
            [answer(1, "RR", category="area"), answer(2, "RN", category="area")],
            "5151515151",
            (price,),
        ),
        person(2, "Kenari", [answer(1, "NN"), answer(2, "R-")], "3333333333"),
        person(3, HOSTILE, [answer(1, "R?", question=HOSTILE, category=HOSTILE)], comments=(bad,)),
    ]


DAY = date(2026, 3, 1)
TEXTS = ("markdown", "latex", "html")


def rows(name: str) -> list[dict[str, Any]]:
    book = openpyxl.load_workbook(io.BytesIO(data_workbook(user_study_report())))
    columns, *listed = book[name].iter_rows(values_only=True)
    return [dict(zip(map(str, columns), row, strict=True)) for row in listed]


@pytest.mark.parametrize("name", TEXTS)
def test_the_summary_has_figures_and_intervals(name: str) -> None:
    with speaking("en"):
        text = FORMATS[name].render(user_study_report(), DAY).decode()

    # P@5 of the four rated questions: 1, 0.5, 0 and 1 (the open one is in none): 2.5 / 4.
    assert "0.63" in text
    assert "Melati" in text
    # SUS 100 and 50: mean 75; two values: 75 +- 12.706 x 25, cut to the scale.
    assert "SUS: mean 75.00, 95% interval " in text.replace("\\%", "%").replace("~", " ")
    assert "good, grade C" in text


def test_nothing_hostile_survives_in_html_latex_or_a_spreadsheet() -> None:
    report = user_study_report()
    html = FORMATS["html"].render(report, DAY).decode()
    latex = FORMATS["latex"].render(report, DAY).decode()

    assert "<script>alert" not in html
    assert "\\input{x}" not in latex
    book = openpyxl.load_workbook(io.BytesIO(data_workbook(report)))
    assert book.sheetnames == list(COLUMNS)
    assert not any(
        cell.data_type == "f" for sheet in book for row in sheet.iter_rows() for cell in row
    )


def test_the_long_tables_have_a_row_for_each_answer_and_card() -> None:
    answers, cards = rows("answers"), rows("cards")

    assert [(a["participant"], a["question_number"], a["precision_at_5"]) for a in answers[:4]] == [
        ("Melati", 1, 1),
        ("Melati", 2, 0.5),
        ("Kenari", 1, 0),
        ("Kenari", 2, None),  # not yet rated: undefined, not 0
    ]
    assert [a["rated"] for a in answers] == [1, 1, 1, 0, 1]
    relevances = [c["relevance"] for c in cards]
    assert relevances == ["1", "1", "1", "0", "0", "0", "1", None, "1", "unsure"]
    assert len(rows("questionnaire")) == 20
    assert [(c["participant"], c["theme"]) for c in rows("comments")][:2] == [
        ("Melati", "price"),
        (f"'{HOSTILE}", "price"),
    ]
    assert {p["participant"]: p["sus_score"] for p in rows("participants")} == {
        "Melati": 100,
        "Kenari": 50,
        f"'{HOSTILE}": None,
    }


def test_json_is_unrounded_and_null_where_undefined() -> None:
    decoded = json.loads(json.dumps(user_study_json(user_study_report())))

    assert decoded["phase"] == 3
    assert decoded["figures"]["mean_precision_at_5"]["value"] == 0.625
    assert decoded["figures"]["mean_precision_at_5"]["participants"] == 3
    assert decoded["figures"]["mean_precision_at_5"]["questions"] == 4
    assert set(decoded["figures"]) == set(CLUSTERED_FIGURES)
    assert decoded["usability"]["mean"] == 75.0
    counts = {"participants": 3, "questions": 5, "failed": 0, "unreadable": 0}
    assert decoded["counts"] == counts | {"withdrawn": 2}
    melati, kenari, hostile = decoded["participants"]
    assert melati["questions"][0]["results"][0]["relevance"] == 1
    assert kenari["questions"][1]["precision_at_5"] is None
    assert hostile["usability"]["score"] is None
    assert hostile["questions"][0]["results"][1]["relevance"] == "unsure"


def test_one_participant_or_nobody_has_no_interval_and_the_table_says_why() -> None:
    nobody = user_study_report([])
    for name in FORMATS:
        assert FORMATS[name].render(nobody, DAY)
    assert data_workbook(nobody)
    assert nobody.figures["mrr"].value is None
    with speaking("en"):
        table = summary.summary(user_study_report(user_study_report().people[:1]))

    assert table.rows[0][1].text == "0.75"
    assert table.rows[0][2].text == "-"
    assert any("Fewer than two participants" in note for note in table.notes)


def test_a_figure_is_drawn_over_a_point_for_each_participant_who_has_it() -> None:
    plots = summary.plots(user_study_report())

    assert [len(points) for _, _, points, _, _ in plots] == [3] * 6
    _, precision, *_ = plots[0]
    assert precision.value is not None
    assert precision.ci_low is not None
    assert precision.ci_low < precision.value == pytest.approx(0.625)


@pytest.mark.parametrize("language", ["id", "en"])
def test_a_report_is_in_one_language(language: str) -> None:
    with speaking(language):
        report = FORMATS["html"].render(user_study_report(), DAY)

        assert foreign(text_of(report), language) == []


@pytest.mark.parametrize("language", ["id", "en"])
def test_every_measure_is_explained_in_both_languages(language: str) -> None:
    groups = read_groups("phase_3").values()
    measures = [measure for group in groups for measure in group.measures.values()]

    assert measures
    assert unexplained(measures, language) == []
