"""Tables as spreadsheets, pandas and R write them: read as they say it, named or refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest
from openpyxl import Workbook

from relevansi.importers.results.formats import Group, read
from relevansi.importers.runs.problems import ImportRefused

RUN = "q1 Q0 d7 1 12.5 bm25\nq1 Q0 d2 2 11.0 bm25\n"
Lists = dict[str, list[tuple[int, str]]]


def read_text(text: str, name: str = "a.csv", *others: tuple[str, str]) -> Group:
    return read([(name, text.encode()), *((file, data.encode()) for file, data in others)])


def book(**sheets: Sequence[Sequence[object]]) -> bytes:
    workbook = Workbook(write_only=True)
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def lists_of(group: Group) -> dict[str, Lists]:
    return {
        run.search_method or "": {
            query.external_id or query.question: [
                (card.position + 1, card.doc_id or card.text) for card in query.cards
            ]
            for query in run.queries
        }
        for run in group.runs
    }


def codes(group: Group) -> set[str]:
    return {problem.code for problem in group.problems}


HEADER = ("Query", "Doc 1", "Doc 2")


def test_each_sheet_of_a_wide_workbook_is_a_system() -> None:
    data = book(bm25=[HEADER, ["red", "d-1", "d-2"]], dense=[HEADER, ["red", "d-2", "d-3"]])

    assert lists_of(read([("a.xlsx", data)])) == {
        "bm25": {"red": [(1, "d-1"), (2, "d-2")]},
        "dense": {"red": [(1, "d-2"), (2, "d-3")]},
    }


def test_sheets_of_questions_results_and_documents_join() -> None:
    data = book(
        Summary=[["System", "Score", "Rank"], ["bm25", 0.5, 1]],
        Queries=[["query_id", "query"], ["q1", "red dress"]],
        Results=[["query_id", "doc_id", "rank"], ["q1", "d-7", 1]],
        Corpus=[["doc_id", "title", "text"], ["d-7", "Dress", "Long red dress"]],
    )

    group = read([("a.xlsx", data)])

    (query,) = group.runs[0].queries
    assert (query.question, query.cards[0].text) == ("red dress", "Long red dress")
    assert "workbook_sheets_left" in codes(group)


@pytest.mark.parametrize("column", ["Rank", "Text", "Score"])
def test_a_formula_without_its_value_is_named_in_every_column(column: str) -> None:
    header = ["Query", "Doc ID", "Rank", "Text", "Score"]
    row = dict(zip(header, ["red", "d7", 1, "Dress", 0.5], strict=True)) | {column: "=1+1"}
    data = book(a=[header, [*row.values()]])

    assert "workbook_formulas" in codes(read([("a.xlsx", data)]))


def test_a_header_within_the_rows_is_no_result() -> None:
    text = "query,doc_id,text\nred,d7,Dress\nquery,doc_id,text\nred,d2,Gown\n"

    assert lists_of(read_text(text)) == {"a": {"red": [(1, "d7"), (2, "d2")]}}


def test_a_header_within_a_sheet_is_no_question_of_the_row_below() -> None:
    header = ("query", "rank", "doc_id", "text ")
    rows = (header, ("red", 1, "d7", "Dress"), header, (None, 2, "d2", "Gown"))

    group = read([("a.xlsx", book(a=rows))])
    assert lists_of(group) == {"a": {"red": [(1, "d7"), (2, "d2")]}}


def test_a_header_may_have_line_breaks_units_and_invisible_signs() -> None:
    text = '\u200bQuery,"Doc\nID","Rank\n(1 = best)"\nred,d7,1\nred,d2,3\n'

    assert lists_of(read_text(text)) == {"a": {"red": [(1, "d7"), (3, "d2")]}}


def test_rows_that_r_numbers_are_read() -> None:
    text = '"query"\t"doc_id"\t"rank"\n"1"\t"red"\t"d7"\t1\n"2"\t"red"\t"d2"\t2\n'

    assert lists_of(read_text(text, "a.txt")) == {"a": {"red": [(1, "d7"), (2, "d2")]}}


@pytest.mark.parametrize("name", ["a.txt", "a.csv"])
def test_a_table_of_r_has_blanks_between_names_in_quotation_marks(name: str) -> None:
    text = '"query" "doc_id" "rank"\n"1" "red dress" "d7" 1\n"2" "red dress" "d2" 2\n'

    group = read_text(text, name)
    assert lists_of(group) == {"a": {"red dress": [(1, "d7"), (2, "d2")]}}
    assert "results_cells_unnamed" not in codes(group)  # the numbers of the rows are none


def test_prose_whose_words_are_names_of_columns_is_no_table_of_r() -> None:
    group = read_text(RUN, "a.run", ("docs/d7.txt", "query document text\nred dress long\n"))

    assert group.runs[0].queries[0].cards[0].text == "query document text\nred dress long\n"


@pytest.mark.parametrize("sign", [" ", ","])
def test_words_of_a_run_may_stand_in_quotation_marks(sign: str) -> None:
    lines = (word.split() for word in RUN.splitlines())
    text = "".join(sign.join(f'"{word}"' for word in words) + "\n" for words in lines)

    assert lists_of(read_text(text, "a.run")) == lists_of(read_text(RUN, "a.run"))


def test_grades_may_have_blanks_between_three_words_and_prose_is_no_run() -> None:
    graded = read_text(RUN, "a.run", ("qrels.txt", "q1 d7 2\nq1 d2 0\n"))
    written = read_text(RUN, "a.run", ("docs/d7.txt", "Room one 1\nRoom two 2\n"))

    assert len(graded.judged) == 2
    assert [card.text for card in written.runs[0].queries[0].cards] == [
        "Room one 1\nRoom two 2\n",
        "",
    ]


def test_the_second_of_two_results_in_a_row_is_not_lost() -> None:
    with pytest.raises(ImportRefused) as refused:
        read_text("query,doc_id,score,doc_id.1,score.1\nred,d7,2.5,d2,0.9\n")

    assert refused.value.problem.details["columns"] == "doc_id, score"


@pytest.mark.parametrize("columns", ["relevance_kim,relevance_ana", "Rater 1,Rater 2"])
def test_columns_that_may_be_grades_are_named(columns: str) -> None:
    group = read_text(f"query,doc_id,rank,text,{columns}\nred,d7,1,Dress,2,1\n")

    (problem,) = [each for each in group.problems if each.code == "results_columns_left"]
    assert problem.details["columns"] == columns.replace(",", ", ")


def test_scores_of_a_file_called_qrels_are_grades_if_they_are_small_and_whole() -> None:
    text = "q_id,doc_id,score\nq1,d7,2\nq1,d2,0\n"

    assert len(read_text(text, "qrels.csv", ("a.run", RUN)).judged) == 2
    assert codes(read_text(text, "bm25.csv")) >= {"results_grades_perhaps"}


def test_a_wrong_grade_makes_no_run_of_grades_by_rater() -> None:
    text = "query,docid,Kim,Ana\nred,d7,2,1\nred,d2,100%,0\n"

    group = read_text(text)

    assert "100%" in group.unfit_grades
    assert not group.runs


def test_what_says_that_nothing_is_there_is_no_document() -> None:
    wide = read_text("query,doc_1,doc_2,doc_3\nred,d-7,NA,d-2\nblue,d-3,NA,NA\n")
    long = read_text("query,rank,doc_id,text\nred,1,NA,NA\nred,2,d-2,Gown\n")

    assert lists_of(wide) == {"a": {"red": [(1, "d-7"), (3, "d-2")], "blue": [(1, "d-3")]}}
    assert lists_of(long) == {"a": {"red": [(2, "d-2")]}}


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("red,1.23E+12,Dress", "results_ids_changed"),
        ("red,3-Mar,Dress", "results_ids_changed"),
        ("Exported by Kim,,", "results_rows_blank"),
        ('red,"d7, d2",', "results_one_each"),
    ],
)
def test_rows_that_are_hardly_meant_are_named(row: str, code: str) -> None:
    assert code in codes(read_text(f'query,doc_id,text\nblue,"d3; d4",Sea\n{row}\n'))


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv"])
def test_cells_beside_the_columns_are_counted(name: str) -> None:
    text = "query,doc_id,\nred,d7,Kim\nred,d2,\n"
    sheet = [("query", "doc_id"), ("red", "d7", None, "Kim"), ("red", "d2")]
    data = book(a=sheet) if name == "a.xlsx" else text.encode()

    group = read([(name, data)])

    (problem,) = [each for each in group.problems if each.code == "results_cells_unnamed"]
    assert problem.details["count"] == 1
    assert lists_of(group) == {"a": {"red": [(1, "d7"), (2, "d2")]}}


def test_equal_grades_of_two_files_without_raters_are_named() -> None:
    text = "query_id,doc_id,grade\nq1,d7,1\nq1,d2,0\n"

    sheets = {name: [line.split(",") for line in text.splitlines()] for name in ("kim", "ana")}
    for group in (
        read_text(text, "kim.csv", ("ana.csv", text)),
        read([("grades.xlsx", book(**sheets))]),
    ):
        (problem,) = [each for each in group.problems if each.code == "results_grades_twice"]
        assert problem.details["count"] == len(group.judged) == 2


def test_a_grade_beside_the_results_of_two_systems_is_no_second_one() -> None:
    rows = "".join(f"q1,{system},1,d7,2\n" for system in ("bm25", "dense"))

    group = read_text(f"query_id,system,rank,doc_id,grade\n{rows}")
    assert len(group.judged) == 1
    assert "results_grades_twice" not in codes(group)


@pytest.mark.parametrize("name", ["qrels.txt", "b.run"])
def test_ids_that_differ_in_zeros_are_named_though_others_fit(name: str) -> None:
    run = "q1 Q0 007 1 2.5 a\nq1 Q0 12 2 1.5 a\n"
    beside = "q1 0 7 1\nq1 0 12 2\n" if name == "qrels.txt" else run.replace("007", "7")

    (problem,) = [
        each
        for each in read_text(run, "a.run", (name, beside)).problems
        if each.code == "results_zeros_lost"
    ]
    assert problem.details == {"count": 1, "ids": "007"}


def with_later_row(header: str, row: str, later: str) -> str:
    """A table whose later rows are behind all that tell how its columns are written."""
    lists = ((number // 10, number, number % 10 + 1) for number in range(250))
    rows = (row.format(q=query, d=doc_id, n=place) for query, doc_id, place in lists)
    return "\n".join((header, *rows, later, ""))


@pytest.mark.parametrize(
    ("header", "row", "later", "code"),
    [
        ("query;doc_id;score", "q{q};d{d};{n}.000", "z;d1;0,5", "results_number_wrong"),
        ("query;doc_id;score", "q{q};d{d};{n},5", "z;d1;0.55", "results_number_wrong"),
        ("query;doc_id;score", "q{q};d{d};{n}%", "z;d1;0.55", "results_number_wrong"),
        ("query,doc_id,n", "q{q},d{d},{n}", "z,d1,many", "results_number_wrong"),
        ("query,document,rank", "q{q},d{d},{n}", "z,Long dress,1", "results_id_or_text"),
        ("query,text,rank", "q{q},Dress {d},{n}", "z,TextNode(id_=1),1", "results_printed"),
    ],
)
def test_a_later_row_that_contradicts_the_first_ones_is_refused_by_line(
    header: str, row: str, later: str, code: str
) -> None:
    with pytest.raises(ImportRefused) as refused:
        read_text(with_later_row(header, row, later))

    assert (refused.value.problem.code, refused.value.problem.line) == (code, 252)


def test_a_later_number_that_no_earlier_one_contradicts_is_read() -> None:
    text = with_later_row("query;doc_id;score", "q{q};d{d};{n}", "z;d1;0,5\nz;d2;1,5")

    assert lists_of(read_text(text))["a"]["z"] == [(1, "d2"), (2, "d1")]


def test_a_later_gap_in_what_numbers_the_results_is_a_hole_and_told() -> None:
    group = read_text(with_later_row("query,doc_id,n", "q{q},d{d},{n}", "z,d1,1\nz,d2,3"))

    assert lists_of(group)["a"]["z"] == [(1, "d1"), (3, "d2")]
    assert codes(group) >= {"results_rank_chosen", "results_holes"}


def test_lists_in_cells_are_read_though_the_first_ones_are_blank() -> None:
    rows = "".join(f"q{number},red {number},\n" for number in range(40))

    lists = lists_of(read_text(f'query_id,query,results\n{rows}q,boots,"[""d7"", ""d2""]"\n'))
    assert lists["a"]["q"] == [(1, "d7"), (2, "d2")]


def test_parquet_values_are_read_as_json_has_them() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    columns = {"qid": [b"q1"] * 2, "docid": [date(2026, 1, 2), date(2026, 1, 3)]}
    scores = [Decimal("0.5"), Decimal("0.9")]
    parquet.write_table(pyarrow.table({**columns, "score": scores}), file)

    lists = lists_of(read([("a.parquet", file.getvalue())]))
    assert lists == {"a": {"q1": [(1, "2026-01-03"), (2, "2026-01-02")]}}


@pytest.mark.parametrize("part", ["content.xml", "Index/Document.iwa", "word/document.xml"])
def test_a_document_of_an_office_program_is_called_so(part: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr(part, "<x/>")

    with pytest.raises(ImportRefused) as refused:
        read([("a.ods", file.getvalue())])
    assert refused.value.problem.details["found"] == "office"
