"""Results of any system: recognised by content, assembled into runs, grades and problems."""

from __future__ import annotations

import gzip
import io
import json
import os
import tracemalloc
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import to_builtins
from openpyxl import Workbook

from relevansi.i18n import speaking
from relevansi.importers.results import files as opening
from relevansi.importers.results import recognition, shapes
from relevansi.importers.results.formats import Choices, Group, examples, recognised
from relevansi.importers.results.formats import read as read_files
from relevansi.importers.runs.json_documents import storable_text
from relevansi.importers.runs.problems import ImportRefused, message, remarks
from relevansi.records import QueryState, ReadRun

SEEDS = Path(__file__).parents[3] / "seeds"
OF_GRADES = ("qrels.txt", "ratings.csv", "judgments.json", "beir/qrels/test.tsv")
OF_QUESTIONS = ("topics.tsv", "topics.xml", "beir/queries.jsonl")
OF_DOCUMENTS = ("corpus.jsonl", "documents.sgml", "d7.md")
RUN = "q1 Q0 d7 1 12.5 bm25\nq1 Q0 d2 2 11.0 bm25\n"
CORPUS = '{"_id": "d7", "text": "Long red dress"}\n{"_id": "d2", "text": "Red gown"}\n'


def read(files: Mapping[str, str | bytes], **options: Any) -> Group:
    contents = [(n, d.encode() if isinstance(d, str) else d) for n, d in files.items()]
    group = read_files(contents, Choices(**options))
    for language in ("en", "id"):
        with speaking(language):
            assert all(remark.text for remark in remarks(group.problems))
    return group


def lists_of(run: ReadRun) -> dict[str, list[str]]:
    return {
        query.external_id or query.question: [card.doc_id or card.text for card in query.cards]
        for query in run.queries
    }


def codes(group: Group) -> dict[str, int]:
    return {problem.code: int(problem.details.get("count", 1)) for problem in group.problems}


# Every format's example.


@pytest.mark.parametrize("shape", shapes.SHAPES, ids=lambda shape: shape.name)
def test_each_shape_is_recognised_by_the_structure_of_its_example(shape: shapes.Shape) -> None:
    path, words = examples()[shape.example]

    assert recognised(f"another name{path.suffix}", path.read_bytes()) == shape.name == words


def test_an_example_is_there_for_every_format() -> None:
    assert {path.name for path, _ in examples().values()} == {
        path.name for path in examples()["run.txt"][0].parent.rglob("*.*")
    }


WITH_LISTS = [n for n in examples() if n not in (*OF_GRADES, *OF_QUESTIONS, *OF_DOCUMENTS)]


@pytest.mark.parametrize("name", WITH_LISTS)
def test_each_example_with_results_gives_the_same_list(name: str) -> None:
    of_ids = ("run.txt", "ranks.tsv", "scores.json", "rank_eval.json", "trec_rag.jsonl")
    beside = ["topics.tsv", "corpus.jsonl"] if name in of_ids else []
    group = read_files([examples()[example][0] for example in (name, *beside)])

    query = group.runs[0].queries[0]
    assert query.question == "red dress"
    assert query.cards[0].text == "Long red dress"
    assert query.state is QueryState.RESULTS
    assert query.context_dependent is False
    assert query.cards[0].doc_id in ("d7", None)
    assert query.holes == ()
    assert not any(problem.severity == "error" for problem in group.problems)
    assert group.sample


@pytest.mark.parametrize("name", OF_GRADES)
def test_each_example_with_grades_gives_them(name: str) -> None:
    group = read_files([examples()[name][0]])

    judged = group.judged[0]
    assert (judged.external_id or judged.question, judged.identity) in (
        ("q1", "doc:d7"),
        ("red dress", "doc:d7"),
    )
    assert str(group.highest_grade) == judged.verdict
    assert not group.runs


@pytest.mark.parametrize("name", OF_QUESTIONS)
@pytest.mark.parametrize("collection", OF_DOCUMENTS)
def test_each_example_of_questions_and_documents_joins_a_run(name: str, collection: str) -> None:
    (run,) = read_files([examples()[example][0] for example in (collection, "run.txt", name)]).runs

    assert run.queries[0].question == "red dress"
    assert "Long red dress" in run.queries[0].cards[0].text


OWN_FILES = [
    *SEEDS.glob("runs/hybrid/*.json"),
    *(SEEDS / "demo" / f"{name}.json" for name in ("gold", "machine_answers")),
]


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_files_of_other_kinds_are_not_taken(path: Path) -> None:
    assert recognised(path.name, path.read_bytes()) is None


def test_files_of_other_kinds_are_nothing_here() -> None:
    assert recognised("x.json", b'{"format": "relevansi offline ratings", "changes": []}') is None
    assert recognised("x.csv", b"\xff\xfea\x00") is None
    assert recognised("x.json", b"") is None


def test_the_scored_seeds_can_be_judged_too() -> None:
    group = read_files([SEEDS / "demo" / "answers.jsonl", SEEDS / "demo" / "chunks.jsonl"])

    assert {"answers"} < {run.search_method for run in group.runs}
    assert any(query.response for query in group.runs[0].queries)


# Traps.


def test_two_runs_without_answers_have_different_keys_and_one_order() -> None:
    first_run = "q2 Q0 d1 1 2.0 bm25\nq1 Q0 d7 1 1.5 bm25\n"
    second_run = "q1 Q0 d2 1 2.0 bm25\nq2 Q0 d1 1 1.5 bm25\n"
    topics = "q1\tred\nq2\tblue\nq3\tgreen\n"

    group = read({"a.run": first_run, "b.run": second_run, "topics.tsv": topics})

    first, second = group.runs
    assert (first.search_method, second.search_method) == ("bm25 (a.run)", "bm25 (b.run)")
    assert first.key != second.key
    assert first.sha256 != second.sha256
    assert lists_of(first) == {"q1": ["d7"], "q2": ["d1"], "q3": []}
    assert list(lists_of(second)) == ["q1", "q2", "q3"]
    assert codes(group)["results_lists_missing"] == 1
    assert first.queries[2].state is QueryState.EMPTY
    assert first.key == read({"c.run": first_run, "topics.tsv": topics}).runs[0].key


def test_several_systems_in_one_file_are_several_runs() -> None:
    rows = "query,system,score,text\nq,a,1,X\nq,b,2,Y\nq,a,3,Z\nr,a,1,Z\n"

    first, second = read({"t.csv": rows}).runs

    assert (first.search_method, second.search_method) == ("a", "b")
    assert lists_of(first) == {"q": ["Z", "X"], "r": ["Z"]}
    assert lists_of(second) == {"q": ["Y"], "r": []}


def test_a_system_that_encloses_its_questions_has_a_run_of_its_own() -> None:
    systems = [
        {"system": name, "results": [{"query": "q", "docs": [{"id": doc_id, "text": "A"}]}]}
        for name, doc_id in (("bm25", "d1"), ("dense", "d2"))
    ]

    runs = read({"r.json": json.dumps(systems)}).runs

    assert {run.search_method: lists_of(run) for run in runs} == {
        "bm25": {"q": ["d1"]},
        "dense": {"q": ["d2"]},
    }


def test_remarks_between_the_lines_of_trec_are_passed_over() -> None:
    run = f"# run of May\n{RUN}#end\n"

    group = read({"a.run": run, "qrels.txt": "# topic, iteration, document, grade\nq1 0 d7 1\n"})

    assert lists_of(group.runs[0]) == {"q1": ["d7", "d2"]}
    assert len(group.judged) == 1


def test_the_context_beside_what_was_retrieved_is_no_result() -> None:
    table = "input,retrieval_context,context\nred dress,A|B,What should be found\n"

    assert not read({"t.csv": table}).runs


def test_ids_in_one_cell_are_a_list() -> None:
    (run,) = read({"t.csv": 'query,doc_ids\nred dress,"d7,d2"\nboots,d9\n'}).runs

    assert lists_of(run) == {"red dress": ["d7", "d2"], "boots": ["d9"]}


def test_lists_whose_scores_rise_are_named() -> None:
    rows = "query,doc_id,score\nred dress,d7,0.1\nred dress,d2,0.2\nboots,d9,1\nboots,d8,0.5\n"

    group = read({"t.csv": rows})

    assert lists_of(group.runs[0])["red dress"] == ["d2", "d7"]
    assert codes(group)["results_scores_rising"] == 1


def test_an_object_in_a_cell_may_have_the_list() -> None:
    table = "inputs\toutputs\nred dress\t" + json.dumps({"contexts": ["Long dress", "Red gown"]})

    assert lists_of(read({"t.tsv": table}).runs[0]) == {"red dress": ["Long dress", "Red gown"]}


def test_topics_with_a_byte_order_mark_are_topics() -> None:
    topics = "\ufeff<top>\n<num> Number: q1\n<title> long dress\n</top>\n"

    (run,) = read({"a.run": RUN, "topics.txt": topics}).runs

    assert [query.question for query in run.queries] == ["long dress"]


def test_files_of_one_name_are_not_confused() -> None:
    files = [("run.txt", RUN.encode()), ("run.txt", RUN.replace("d7", "d9").encode())]

    first, second = read_files(files).runs

    assert (lists_of(first), lists_of(second)) == ({"q1": ["d7", "d2"]}, {"q1": ["d9", "d2"]})
    assert first.sha256 != second.sha256


def test_a_response_without_its_question_is_refused() -> None:
    hits = {"hits": {"hits": [{"_id": "7", "_source": {"body": "Y"}}]}}

    with pytest.raises(ImportRefused) as refused:
        read({"red dress.json": json.dumps(hits)})

    assert refused.value.problem.code == "results_json_unknown"
    assert "hits" in str(refused.value.problem.details["keys"])


def test_one_system_in_several_files_is_one_run() -> None:
    lists = {f"{n}.run": f"q{n} Q0 d7 1 1.0 bm25\n" for n in (1, 2)}

    (run,) = read(lists).runs

    assert lists_of(run) == {"q1": ["d7"], "q2": ["d7"]}


def test_numbers_of_questions_stay_and_other_ids_are_counted() -> None:
    topics = "30\tred\n007\tblue\n"
    (run,) = read({"a.run": "30 Q0 d 1 1 a\n007 Q0 d 1 1 a\n", "topics.tsv": topics}).runs
    assert [(q.query_id, q.external_id) for q in run.queries] == [(30, "30"), (7, "007")]

    (run,) = read({"a.run": "q9 Q0 d 1 1 a\n7 Q0 d 1 1 a\n"}).runs
    assert [(q.query_id, q.external_id) for q in run.queries] == [(1, "q9"), (2, "7")]


def test_a_deep_run_keeps_cards_to_the_depth_and_a_tail_of_ids() -> None:
    lines = "".join(f"1 Q0 d{n} {n} {2000 - n} deep\n" for n in range(1, 1201))

    (run,) = read({"deep.run": lines}, depth=20).runs

    (query,) = run.queries
    assert [card.doc_id for card in query.cards] == [f"d{n}" for n in range(1, 21)]
    assert query.tail[:2] == ("doc:d21", "doc:d22")
    assert len(query.tail) == 1000


def test_ranks_win_over_scores_and_start_at_one() -> None:
    group = read({"a.run": "1 Q0 a 0 1.0 s\n1 Q0 b 1 2.0 s\n1 Q0 c 4 1.0 s\n"})

    (query,) = group.runs[0].queries
    assert [(card.doc_id, card.score) for card in query.cards] == [("a", 1), ("b", 2), ("c", 1)]
    assert query.holes == (3, 4)
    assert {"results_rank_against_score", "results_ranks_from_0"} <= codes(group).keys()


def test_equal_scores_without_ranks_are_in_falling_order_of_ids() -> None:
    group = read({"t.csv": "query,doc_id,score\nq,a,1\nq,c,1\nq,b,2\n"})

    assert lists_of(group.runs[0]) == {"q": ["b", "c", "a"]}
    assert codes(group)["results_ties"] == 1


def test_an_item_listed_twice_is_kept_and_an_empty_list_is_one() -> None:
    rows = [{"query": "q", "results": ["A", "A"]}, {"query": "r", "results": []}]

    group = read({"a.json": json.dumps(rows)})

    assert lists_of(group.runs[0]) == {"q": ["A", "A"], "r": []}
    assert codes(group)["results_items_twice"] == 1
    assert "results_lists_missing" not in codes(group)


def test_a_question_asked_twice_is_two_questions() -> None:
    span = {
        "span_kind": "RETRIEVER",
        "name": "r",
        "attributes": {"input": {"value": "q"}, "retrieval": {"documents": []}},
    }
    spans = [{**span, "context": {"span_id": name}} for name in ("s1", "s2")]

    (run,) = read({"s.jsonl": "\n".join(map(json.dumps, spans))}).runs

    assert [query.question for query in run.queries] == ["q", "q"]
    assert [query.extra["span_id"] for query in run.queries] == ["s1", "s2"]


def test_ids_with_several_texts_name_passages() -> None:
    rows = "query,system,rank,doc_id,text\n" + "".join(
        f"q,{system},{rank},a.pdf,{text}\n"
        for system, rank, text in [
            ("x", 1, "The first passage"),
            ("x", 2, "Another passage"),
            ("y", 1, "The first"),
        ]
    )

    group = read({"t.csv": rows})

    first, second = (run.queries[0].cards for run in group.runs)
    assert group.has_passages
    assert first[0].identity == second[0].identity != first[1].identity
    assert first[0].identity.startswith("doc:a.pdf#")
    assert codes(group)["results_passages"] == 1
    assert "results_items_twice" not in codes(group)
    assert read({"t.csv": rows}, depth=1).runs[0].queries[0].tail == (first[1].identity,)


def test_grades_are_whole_numbers_of_a_scale_else_a_table_is_asked_for() -> None:
    lines = "q1 0 d7 4\nq1 0 d2 -1\nq1 0 d7 2\nq9 0 d1 1\n"

    group = read({"a.run": RUN, "qrels.txt": lines})

    assert [(grade.external_id, grade.identity, grade.verdict) for grade in group.judged] == [
        ("q1", "doc:d7", "4")
    ]
    assert group.highest_grade == 4
    percent = {"a.run": RUN, "q.txt": "q1 0 d7 100\nq1 0 d2 0\n"}
    assert read(percent).unfit_grades == ("0", "100")
    table = {"0": "0", "100": "2"}
    assert [grade.verdict for grade in read(percent, grades=table).judged] == ["2", "0"]
    problem_codes = codes(group)
    assert problem_codes["results_grades_below"] == problem_codes["results_grades_differ"] == 1
    assert problem_codes["results_grades_unknown"] == 1


def test_texts_and_numbers_are_grades_as_judges_write_them() -> None:
    ratings = [{"docId": "d7", "rating": "3.000"}, {"docId": "d2", "rating": 0}]
    judgments = {"judgmentRatings": [{"query": "RED  dress", "ratings": ratings}]}

    group = read({"a.csv": "query,doc_id,rank\nred dress,d7,1\n", "j.json": json.dumps(judgments)})

    assert [(grade.question, grade.verdict) for grade in group.judged] == [
        ("red dress", "3"),
        ("red dress", "0"),
    ]


def test_each_rater_may_have_a_grade() -> None:
    rows = "query,docid,rating,rater\nq,d,1,ana\nq,d,2,budi\n"

    judged = read({"r.csv": rows}).judged

    assert [(grade.rater, grade.verdict) for grade in judged] == [("ana", "1"), ("budi", "2")]


def test_documents_that_rank_eval_calls_unrated_have_no_grade() -> None:
    group = read_files([examples()["rank_eval.json"][0]])

    assert [(grade.identity, grade.verdict) for grade in group.judged] == [("doc:d7", "1")]
    assert group.raters == {"": 1}


@pytest.mark.parametrize("rows", ["q,d,,\nq,d,2,\n", "q,d,2,\nq,d,,\n"])
def test_a_grade_wins_over_an_unrated_row_of_the_same_document(rows: str) -> None:
    group = read({"r.csv": f"query,docid,rating,rater\n{rows}"})

    assert [(grade.identity, grade.verdict) for grade in group.judged] == [("doc:d", "2")]
    assert "results_grades_differ" not in codes(group)


def test_a_beir_folder_is_read_with_the_split_that_was_chosen(tmp_path: Path) -> None:
    queries = "".join(f'{{"_id": "q{n}", "text": "question {n}"}}\n' for n in range(1, 5))
    header = "query-id\tcorpus-id\tscore\n"
    texts = {
        "corpus.jsonl": CORPUS,
        "queries.jsonl": queries,
        "qrels/test.tsv": f"{header}q1\td7\t1\nq2\td2\t2\n",
        "qrels/train.tsv": f"{header}q3\td7\t1\n",
        "README.md": "Read me",
    }
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in texts.items():
            (folder / name).write_text(text)
            archive.writestr(f"scifact/{name}", text)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "b.zip").write_bytes(packed.getvalue())
    zipped: list[Path | tuple[str, bytes]] = [("s.zip", packed.getvalue()), tmp_path / "a.run"]

    for files in ([folder, tmp_path / "a.run"], zipped, [tmp_path / "b.zip", tmp_path / "a.run"]):
        group = read_files(files, Choices(split="test"))

        assert lists_of(group.runs[0]) == {"q1": ["d7", "d2"], "q2": []}
        assert {grade.external_id for grade in group.judged} == {"q1", "q2"}
        assert group.runs[0].queries[0].cards[1].text == "Red gown"
        assert group.splits == ("test", "train")

        for split in (None, "dev"):
            unsure = read_files(files, Choices(split=split))
            assert not unsure.judged
            assert unsure.problems[0].code == "results_splits"


def test_documents_that_are_not_there_are_counted() -> None:
    group = read({"a.run": RUN, "corpus.jsonl": CORPUS.splitlines()[0]})

    (problem,) = [problem for problem in group.problems if problem.code == "results_without_text"]
    assert problem.details == {"count": 1, "of": 2, "ids": "d2"}


def test_the_first_of_doubled_documents_and_questions_counts() -> None:
    corpus = CORPUS + '{"_id": "d7", "text": "Other"}\n'
    group = read({"a.run": RUN, "corpus.jsonl": corpus, "topics.tsv": "q1\tred\nq1\tblue\n"})

    query = group.runs[0].queries[0]
    assert (query.question, query.cards[0].text) == ("red", "Long red dress")
    twice = {
        problem.file: problem.details
        for problem in group.problems
        if problem.code == "results_twice"
    }
    assert twice == {"corpus.jsonl": {"count": 1}, "topics.tsv": {"count": 1}}
    with pytest.raises(ImportRefused) as refused:
        read({"a.run": RUN, "corpus.jsonl": corpus * 50 + '{"_id": "d9"\n'})
    assert (refused.value.problem.code, refused.value.problem.line) == ("results_without_id", 151)


@pytest.mark.parametrize(
    ("name", "text", "code", "line"),
    [
        ("a.run", RUN + "q1 Q0 d9 3 bm25\n", "results_word_count", 3),
        ("a.run", RUN + "q1 Q0 a name 3 9.0 bm25\n", "results_word_count", 3),
        ("a.run", RUN + "q1 Q0 d9 third 1.0 bm25\n", "results_number_wrong", 3),
        ("a.run", RUN + "q1 Q0 d9 2 1.0 bm25\n", "results_rank_twice", 3),
        ("a.run", RUN + "q2 Q0 d9 0 1.0 bm25\n", "results_rank_0", 3),
        ("t.csv", "query,doc_id,rank\nq,d,1\nq,e,two\n", "results_number_wrong", 3),
        ("t.csv", "query,doc_id,rank\nq,d,1\nq,e,\n", "results_rank_missing", 3),
        ("t.csv", "query,doc_id,score\nq,d,1\nq,e,N/A\n", "results_number_wrong", 3),
        ("t.csv", "query,doc_id,score\nq,d,1\nq,e,\n", "results_score_missing", 3),
        ("t.csv", "query,doc_id,rank\nq,d,1\n,e,2\n", "csv_cell_blank", 3),
        ("t.csv", "query,system,doc_id\nq,a,d\nq,,e\n", "csv_cell_blank", 3),
        ("t.csv", 'query,doc_id,rank\nq,d,1\n"q,e,2\n', "csv_quote_open", 3),
        ("t.csv", "query,doc_id,rank\nq,d,1\nq,e\n", "csv_cells_differ", 3),
        ("t.csv", "query,doc_id,text\nq,d,Salt, water\n", "csv_cells_differ", 2),
        ("t.csv", "query,text,text\nq,a,b\n", "results_columns_twice", 1),
        ("a.jsonl", '{"query": "q", "results": ["A"]}\n{"query": ', "json_broken", 2),
        ("a.jsonl", '{"query": "q", "results": ["Document(id=1)"]}\n', "results_printed", 1),
        (
            "a.jsonl",
            """{"query": "q", "results": ["Hit(id='d7', text='A', score=1)"]}\n""",
            "results_printed",
            1,
        ),
        ("a.jsonl", '{"query": "q", "results": ["<Hit object at 0x7f>"]}', "results_printed", 1),
        ("a.jsonl", '{"query": "q", "results": ["[object Object]"]}', "results_printed", 1),
        ("q.qrels", "q1 0 d7 1\nq1 0 d2\nq1 0 d3 0\n", "results_word_count", 2),
        ("a.tsv", "Frage\tDok\tWert\nq1\td7\t1.5\nq1\td2\t1.0\n", "results_number_wrong", 1),
        ("a.csv", "query,doc_id\nq,d\0\0\0\0\0\0\0\0", "not_text", None),
        ("a.db", "SQLite format 3" + "\0" * 99, "not_text", None),
        ("a.zst", "q\1\2\3\4\5,d" * 9, "not_text", None),
        ("a.json", '- query: why\n  results: ["A"]\n', "unknown_format", None),
        ("a.json", '{"q1": {"d7": 1.5, "d2": null}}', "results_json_unknown", None),
        (
            "a.json",
            '{"query": "q", "context": {"hits": {"a": 1}}}',
            "results_json_unknown",
            None,
        ),
        (
            "a.jsonl",
            '{"query": "q", "text": "A"}\n{"query": "q", "text": {"hits": [1]}}',
            "results_value_nested",
            2,
        ),
    ],
)
def test_what_leaves_a_place_open_refuses_the_file_by_name_and_line(
    name: str, text: str, code: str, line: int | None
) -> None:
    with pytest.raises(ImportRefused) as refused:
        read({name: text})

    problem = refused.value.problem
    assert (problem.code, problem.line, problem.file) == (code, line, name)


@pytest.mark.parametrize(
    ("name", "text", "code", "line", "holes"),
    [
        ("t.csv", "query,doc_id,rank\nq,d,1\nq,,2\nq,e,3\n", "results_without_item", 3, (2,)),
        ("t.csv", "query,doc_id,rank\nq,,1\nq,d,2\nq,e,3\n", "results_without_item", 2, (1,)),
        ("t.csv", "query,doc_id,score\nq,d,9\nq,,8\nq,e,7\n", "results_without_item", 3, (2,)),
        ("a.jsonl", '{"query": "q", "results": ["d", 3, "e"]}', "results_item_unreadable", 1, (2,)),
        (
            "a.jsonl",
            '{"query": "q", "contexts": [null, "d", "e"]}',
            "results_item_unreadable",
            1,
            (1,),
        ),
    ],
)
def test_a_result_that_cannot_be_read_keeps_its_rank(
    name: str, text: str, code: str, line: int, holes: tuple[int, ...]
) -> None:
    group = read({name: text})

    (query,) = group.runs[0].queries
    assert [card.doc_id or card.text for card in query.cards] == ["d", "e"]
    assert query.holes == holes
    (wrong,) = [problem for problem in group.problems if problem.severity == "error"]
    assert (wrong.code, wrong.line, wrong.file) == (code, line, name)


def test_a_rank_that_nothing_has_is_a_hole_to_the_depth() -> None:
    lines = "q1 Q0 a 1 9 s\nq1 Q0 b 4 8 s\nq1 Q0 c 900 7 s\n"

    (query,) = read({"a.run": lines}).runs[0].queries

    assert [card.position for card in query.cards] == [0, 3]
    assert query.holes == (2, 3)
    assert query.tail == ("doc:c",)


@pytest.mark.parametrize("value", ["error: timeout", {"code": 500}, 3, True])
def test_what_is_no_list_is_never_an_empty_list(value: object) -> None:
    lists = [{"query": "q", "results": ["A"]}, {"query": "r", "results": value}]

    group = read({"a.jsonl": "\n".join(map(json.dumps, lists))})

    answered, lost = group.runs[0].queries
    assert answered.state is QueryState.RESULTS
    assert (lost.question, lost.state) == ("r", QueryState.UNREADABLE)
    (problem,) = [problem for problem in group.problems if problem.severity == "error"]
    assert (problem.code, problem.line) == ("results_no_list", 2)
    with pytest.raises(ImportRefused):
        read({"a.jsonl": json.dumps(lists[1])})


def test_an_error_beside_an_empty_list_is_a_failed_call() -> None:
    lists = [
        {"query": "q", "results": [], "error": "timeout after 30 s"},
        {"query": "r", "results": None},
        {"query": "s", "results": ["A"]},
    ]

    failed, empty, _ = read({"a.jsonl": "\n".join(map(json.dumps, lists))}).runs[0].queries

    assert (failed.state, failed.error) == (QueryState.FAILED, "timeout after 30 s")
    assert empty.state is QueryState.EMPTY


@pytest.mark.parametrize(
    ("name", "text", "scores"),
    [
        ("a.run", "q Q0 a 1 inf s\nq Q0 b 2 nan s\nq Q0 c 3 -2.5 s\n", [None, None, -2.5]),
        ("t.csv", "query,rank,doc_id,score\nq,1,a,N/A\nq,2,b,-inf\nq,3,c,0.5\n", [None, None, 0.5]),
        ("t.csv", "query;rank;doc_id;score\nq;1;a;0,91\nq;2;b;0,85\nq;3;c;x\n", [0.91, 0.85, None]),
        (
            "a.jsonl",
            """{"query": "q", "results": [
                {"id": "a", "score": NaN}, {"id": "b", "score": 1e400}, {"id": "c", "score": 2}
            ]}""",
            [None, None, 2],
        ),
    ],
)
def test_a_score_that_is_none_costs_the_score_and_not_the_row(
    name: str, text: str, scores: list[float | None]
) -> None:
    (query,) = read({name: text}).runs[0].queries

    assert [(card.doc_id, card.score) for card in query.cards] == [*zip("abc", scores, strict=True)]


def test_a_decimal_comma_orders_where_commas_do_not_part_cells() -> None:
    (run,) = read({"t.csv": "query;doc_id;score\nq;a;0,85\nq;b;0,91\nq;c;-inf\n"}).runs

    assert lists_of(run) == {"q": ["b", "a", "c"]}


@pytest.mark.parametrize(
    ("text", "encoding", "code"),
    [
        ("query,doc_id,text\nq,d,Größe\n", "utf-8", None),
        ("query,doc_id,text\nq,d,Größe\n", "utf-8-sig", None),
        ("query\tdoc_id\ttext\nq\td\tGröße\n", "utf-16", None),
        ("query\tdoc_id\ttext\nq\td\tGröße\n", "utf-16-le", None),
        ("query;doc_id;text\nq;d;Größe\n", "cp1252", "encoding_assumed"),
        ("query,doc_id,text\rq,d,Größe\r", "utf-8", None),
        ("sep=;\nquery;doc_id;text\nq;d;Größe\n", "utf-8", None),
        ("query|doc_id|text\nq|d|Größe\n", "utf-8", None),
        ("query,doc_id,text\nq,d,Grö\0ße\n", "utf-8", None),
        ("A title\n\nquery,doc_id,text\nq,d,Größe\n", "utf-8", None),
    ],
)
def test_tables_are_read_in_the_encodings_of_spreadsheets(
    text: str, encoding: str, code: str | None
) -> None:
    group = read({"t.csv": text.encode(encoding)})

    assert group.runs[0].queries[0].cards[0].text == "Größe"
    assert codes(group).keys() == ({code} if code else set())


@pytest.mark.parametrize("start", ["", "\n\n", "\ufeff"])
def test_json_is_read_as_people_write_it(start: str) -> None:
    lists = [{"query": name, "results": [{"id": "d", "text": "x" * 70_000}]} for name in "qr"]
    pretty = "\n".join(json.dumps(value, indent=2) for value in lists)

    for text in ("\n".join(map(json.dumps, lists)), json.dumps(lists), pretty):
        (run,) = read({"a.json": start + text}).runs
        assert lists_of(run) == {"q": ["d"], "r": ["d"]}


def test_a_cell_may_be_long_and_a_quotation_mark_in_a_tab_file_is_a_character() -> None:
    long = read({"t.csv": f"query,rank,text\nq,1,{'word ' * 40_000}\nq,2,B\n"})
    assert len(long.runs[0].queries[0].cards[0].text) == 200_000

    rows = 'query\trank\tdoc_id\ttext\nq\t1\ta\t"Start of it\nq\t2\tb\tends"\nq\t3\tc\t"whole"\n'
    (query,) = read({"t.tsv": rows}).runs[0].queries
    assert [card.text for card in query.cards] == ['"Start of it', 'ends"', "whole"]


def test_the_id_is_in_the_column_that_a_collection_knows() -> None:
    rows = "qid,query,docid,docno,rank\nq1,red,75,d7,0\nq1,red,70,d2,1\n"
    by_document = "query_id,document_id,chunk_id,rank\nq1,f0,d7,1\nq1,f1,d2,2\n"

    for text, remaining in ((rows, "docid"), (by_document, "document_id")):
        group = read({"r.csv": text, "corpus.jsonl": CORPUS})
        assert lists_of(group.runs[0]) == {"q1": ["d7", "d2"]}
        (chosen,) = [problem for problem in group.problems if problem.code == "results_ids_chosen"]
        assert chosen.details["others"] == remaining


@pytest.mark.parametrize(
    "header",
    [
        "Pertanyaan;Sistem;Peringkat;ID Dokumen;Judul;Isi;Skor",
        "Pregunta;Método;Puesto;Id Documento;Título;Contenido;Puntuación",
        "Pergunta;Sistema;Posição;Id Documento;Título;Texto;Pontuação",
        "Requête;Système;Rang;Identifiant;Titre;Contenu;Score",
        "Frage;Verfahren;Platz;Dokument-ID;Titel;Inhalt;Punktzahl",
        "问题;系统;排名;文档ID;标题;内容;得分",
        "質問;システム;順位;文書ID;タイトル;本文;スコア",
        "Query;Method;Rank;docID;Title;pageContent;Score",
    ],
)
def test_headers_are_known_in_several_languages(header: str) -> None:
    (run,) = read({"t.csv": f"{header}\nred dress;bm25;1;d7;Dresses;Long red dress;0,5\n"}).runs

    (query,) = run.queries
    assert (run.search_method, query.question) == ("bm25", "red dress")
    (card,) = query.cards
    assert (card.doc_id, card.title, card.text, card.score) == (
        *("d7", "Dresses", "Long red dress"),
        0.5,
    )


def test_errors_of_a_workbook_are_named() -> None:
    book = Workbook()
    for row in (["query", "rank", "doc_id", "text"], ["q", 1, "#N/A", "A"], ["q", 2, "d2", "B"]):
        book.worksheets[0].append(row)
    stored = io.BytesIO()
    book.save(stored)

    assert codes(read({"t.xlsx": stored.getvalue()}))["workbook_errors"] == 1


def test_ids_under_an_unknown_name_are_asked_for_and_not_lost() -> None:
    rows = "Query;Number;Text;Year\nq;bk-1;A;2024\nq;bk-2;B;2024\nr;bk-1;A;2024\n"

    group = read({"t.csv": rows})

    assert not group.runs
    assert (group.columns["doc_id"], group.columns["text"]) == ("Number", "Text")
    assert codes(group).keys() == {"results_id_unnamed"}
    (run,) = read({"t.csv": rows}, columns={"doc_id": "Number"}).runs
    assert lists_of(run) == {"q": ["bk-1", "bk-2"], "r": ["bk-1"]}
    assert read({"t.csv": rows}, columns={"text": "Text"}).runs


def test_columns_with_the_numbers_of_ranks_are_a_list() -> None:
    rows = "Pertanyaan;Metode;Hasil 1;Hasil 2;Hasil 3\nq;bm25;A b;;C d\nr;bm25;E f;;\n"

    group = read({"t.csv": rows})

    (run,) = group.runs
    assert run.search_method == "bm25"
    assert lists_of(run) == {"q": ["A b", "C d"], "r": ["E f"]}
    assert [query.holes for query in run.queries] == [(2,), ()]
    rows = "query,doc_id_1,text_1,doc_id_2,text_2\nq,d1,A,d2,B\n"
    (run,) = read({"t.csv": rows}).runs
    assert [(card.doc_id, card.text) for card in run.queries[0].cards] == [("d1", "A"), ("d2", "B")]


def test_columns_without_a_name_are_nothing() -> None:
    (run,) = read({"t.csv": ",query,doc_id\n0,q,a\n1,q,b\n"}).runs

    assert lists_of(run) == {"q": ["a", "b"]}
    assert run.queries[0].response == ""


def test_questions_that_differ_in_case_are_two_in_one_file_and_one_beside_another() -> None:
    group = read({"t.csv": "query,rank,doc_id\nUS visa,1,a\nus visa,1,b\n"})
    assert lists_of(group.runs[0]) == {"US visa": ["a"], "us visa": ["b"]}
    assert codes(group)["results_case"] == 1

    runs = read({n: f"query,doc_id\n{q},a\n" for n, q in (("x.csv", "C"), ("y.csv", "c"))}).runs
    assert [[query.question for query in run.queries] for run in runs] == [["C"], ["C"]]


def test_grades_are_mapped_by_a_table_or_refused_as_a_whole() -> None:
    files = {"a.run": RUN, "q.qrels": "q1 0 d7 1.0\nq1 0 d2 0.5\n"}

    judged = read(files, grades={"0.5": "1", "1": "2"}).judged
    assert [(grade.identity, grade.verdict) for grade in judged] == [
        ("doc:d7", "2"),
        ("doc:d2", "1"),
    ]
    truths = {"a.run": RUN, "g.csv": "query_id,doc_id,grade\nq1,d7,TRUE\nq1,d2,false\n"}
    assert [grade.verdict for grade in read(truths).judged] == ["1", "0"]
    unfit = read(files)
    assert (unfit.runs, unfit.judged) == ((), ())
    assert unfit.unfit_grades == ("0.5", "1")
    assert unfit.problems[0].details["table"] == "0.5=...,1=..."


def test_grades_of_other_documents_are_an_error() -> None:
    with pytest.raises(ImportRefused) as refused:
        read({"a.run": RUN, "q.qrels": "q1 0 doc-1 1\n"})

    assert refused.value.problem.code == "results_grades_apply_to_none"
    with pytest.raises(ImportRefused):
        read({"a.run": RUN, "q.qrels": "q9 0 d7 1\n"})
    files = {"a.run": RUN, "q.qrels": "q1 0 d9 1\n", "corpus.jsonl": '{"_id": "d9", "text": "x"}\n'}
    with pytest.raises(ImportRefused):
        read(files)  # no result needs d9, so nobody looked for it


def test_grades_by_the_words_of_a_question_are_those_of_its_id() -> None:
    qrels = json.dumps({"winter boots": {"d7": 2}})
    group = read({"a.run": RUN, "topics.tsv": "q1\twinter boots\n", "qrels.json": qrels})

    assert [(grade.external_id, grade.identity) for grade in group.judged] == [("q1", "doc:d7")]


def test_a_table_of_grades_with_texts_beside_a_run_is_no_run() -> None:
    table = "query_id,doc_id,text,rating\nq1,d2,Red evening gown,0\nq1,d7,Long red dress,2\n"

    group = read({"a.run": RUN, "g.csv": table})

    assert [run.search_method for run in group.runs] == ["bm25"]
    assert group.runs[0].queries[0].cards[0].text == "Long red dress"
    assert len(group.judged) == 2
    assert "results_grades_only" in [problem.code for problem in group.problems]
    assert len(read({"g.csv": table}).runs) == 1
    assert len(read({"a.csv": table, "b.csv": table}).runs) == 2


def test_a_text_that_no_result_names_is_reported() -> None:
    group = read({"a.run": RUN, "train.txt": "2 qid:1 1:0.5 # d7\n"})

    assert "results_documents_unread" in [problem.code for problem in group.problems]


def test_a_label_names_the_run_of_a_file_that_names_none() -> None:
    lists = json.dumps({"query": "q", "results": ["A"]})

    (run,) = read({"night.jsonl": lists}, method="hybrid", llm="gpt").runs
    assert (run.search_method, run.llm) == ("hybrid", "gpt")
    assert read({"night.jsonl": lists}).runs[0].search_method == "night"
    for files in ({"a.run": RUN}, {"a.jsonl": lists, "b.jsonl": lists}):
        with pytest.raises(ImportRefused) as refused:
            read(files, method="hybrid")
        assert refused.value.problem.code == "results_method_stated"


def test_answers_of_engines_are_read_beside_their_question_under_any_usual_key() -> None:
    hits = [{"id": "d7", "payload": {"text": "Long red dress"}}]
    lists = [
        {"query": "q", "response": {"points": hits}},
        {"question": "q", "result": {"matches": hits}},
        {"q": "q", "body": {"value": hits}},
        {"searchQuery": "q", "searchResults": hits},
    ]

    for value in lists:
        (run,) = read({"a.json": json.dumps(value)}).runs
        assert lists_of(run) == {"q": ["d7"]}


@pytest.mark.parametrize(
    "results",
    [
        [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}],
        [{"corpus_id": 1, "score": 0.9}, {"corpus_id": 0, "score": 0.2}],
    ],
)
def test_results_that_point_at_texts_are_never_read_in_the_order_of_these(results: object) -> None:
    value = {"query": "q", "documents": ["blue", "red"], "results": results}

    assert lists_of(read({"a.json": json.dumps(value)}).runs[0]) == {"q": ["red", "blue"]}
    out_of_range = {**value, "documents": ["blue"]}
    with pytest.raises(ImportRefused):
        read({"a.json": json.dumps([{**out_of_range, "results": [{"index": 1}]}])})


@pytest.mark.parametrize(
    "table",
    [
        {"query": {"0": "q", "1": "q"}, "doc_id": {"0": "a", "1": "b"}},
        {"0": {"query": "q", "doc_id": "a"}, "1": {"query": "q", "doc_id": "b"}},
        {"columns": ["query", "doc_id"], "index": [0, 1], "data": [["q", "a"], ["q", "b"]]},
        {"schema": {"fields": []}, "data": [{"query": "q", "doc_id": d} for d in "ab"]},
        {"query": ["q", "q"], "doc_id": ["a", "b"]},
    ],
)
def test_tables_as_json_come_in_every_orientation_of_pandas(table: object) -> None:
    assert lists_of(read({"t.json": json.dumps(table)}).runs[0]) == {"q": ["a", "b"]}


def test_files_of_a_folder_that_name_no_system_are_one_run_unless_they_answer_alike() -> None:
    lists = {n: json.dumps({"query": n, "results": [n.upper()]}) for n in "ab"}

    (run,) = read({f"out/{n}.json": text for n, text in lists.items()}).runs
    assert (run.search_method, lists_of(run)) == ("out", {"a": ["A"], "b": ["B"]})
    two = read({"out/x.json": lists["a"], "out/y.json": lists["a"]}).runs
    assert [run.search_method for run in two] == ["x", "y"]


def test_three_columns_are_grades_if_the_name_says_so_and_else_a_run() -> None:
    rows = "q1\td7\t1\nq1\td2\t2\n"

    assert lists_of(read({"dev.tsv": rows}).runs[0]) == {"q1": ["d7", "d2"]}
    assert [grade.verdict for grade in read({"qrels.tsv": rows}).judged] == ["1", "2"]


UNKNOWN = {
    "req": {"term": "red dress", "nr": "q1"},
    "out": {"ranked": [{"ref": {"key": "d7"}, "para": "Long red dress", "cap": "Dresses"}]},
}


def test_json_of_an_unknown_shape_is_guessed_and_asked() -> None:
    group = read({"log.jsonl": json.dumps(UNKNOWN)})

    assert not group.runs
    assert group.columns == {
        "query": "req.term",
        "items": "out.ranked",
        "text": "para",
        "doc_id": "ref.key",
    }
    assert {"query": "red dress", "doc_id": "d7", "text": "Long red dress"}.items() <= group.sample[
        0
    ].items()
    assert group.names["cap"] == "Dresses"
    (problem,) = group.problems
    assert problem.details["map"] == "query=req.term,items=out.ranked,doc_id=ref.key,text=para"

    (run,) = read({"log.jsonl": json.dumps(UNKNOWN)}, columns=group.columns).runs
    assert lists_of(run) == {"red dress": ["d7"]}


def test_a_path_that_leads_nowhere_is_refused_by_name() -> None:
    for columns in (
        {"query": "req.term", "items": "out.docs"},
        {"query": "req.term", "items": "out.ranked", "text": "body"},
    ):
        with pytest.raises(ImportRefused) as refused:
            read({"log.jsonl": json.dumps(UNKNOWN)}, columns=columns)
        assert refused.value.problem.details["paths"] in ("out.docs", "body")


def test_responses_to_several_searches_are_read_with_their_requests() -> None:
    hits = [{"hits": {"hits": [{"_id": name, "_source": {"body": name}}]}} for name in "ab"]
    responses = json.dumps({"responses": [*hits, {"error": {"reason": "timeout"}, "status": 503}]})
    bodies = [{"query": {"match": {"body": text}}} for text in ("red", "blue", "green")]
    requests = "".join(f"{{}}\n{json.dumps(body)}\n" for body in bodies)

    (run,) = read({"m.json": responses, "m.ndjson": requests}).runs

    assert lists_of(run) == {"red": ["a"], "blue": ["b"], "green": []}
    assert run.queries[2].state is QueryState.FAILED
    with pytest.raises(ImportRefused) as refused:
        read({"m.json": responses})
    assert refused.value.problem.code == "results_responses_alone"


def test_numbers_by_document_are_grades_only_if_the_name_says_so() -> None:
    run, grades = '{"q1": {"d7": 2, "d2": 1}}', '{"q1": {"d2": 2, "d7": 0}}'

    group = read({"bm25.json": run, "qrels.json": grades})

    assert lists_of(group.runs[0]) == {"q1": ["d7", "d2"]}
    assert [(grade.identity, grade.verdict) for grade in group.judged] == [
        ("doc:d2", "2"),
        ("doc:d7", "0"),
    ]


def test_our_own_long_csv_is_grades_and_brings_no_system() -> None:
    rows = (
        "run,rater,query_id,rank,document,content,title,relevance,provenance,grade_word,seconds\n"
        "027b,Kim,q1,1,d7,1,,2,,2,\n027b,Kim,q1,2,d2,1,,,,,\n"
    )

    group = read({"a.run": RUN, "ratings.csv": rows})

    assert [run.search_method for run in group.runs] == ["bm25"]
    assert [(grade.identity, grade.verdict, grade.rater) for grade in group.judged] == [
        ("doc:d7", "2", "Kim")
    ]


def test_outcomes_of_empty_lists_in_our_own_long_csv_are_left_out_with_a_remark() -> None:
    rows = (
        "run,rater,query_id,rank,document,content,title,relevance,provenance,evidence\n"
        "027b,Kim,q1,1,d7,1,,2,,\n027b,Kim,q2,,,,,false_negative,,d8; d9\n027b,Kim,q3,,,,,,,\n"
    )

    group = read({"a.run": RUN, "ratings.csv": rows})

    assert [judged.identity for judged in group.judged] == ["doc:d7"]
    left_out = {problem.code: problem.details for problem in group.problems}
    assert left_out["results_outcomes"] == {"count": 1}


def test_the_ratings_of_a_book_are_those_of_its_raters() -> None:
    judged = read({"book.csv": "query,docid,ana,budi\nred,d7,2,\nred,d2,0,1\n"}).judged

    assert [(grade.rater, grade.identity, grade.verdict) for grade in judged] == [
        ("ana", "doc:d7", "2"),
        ("ana", "doc:d2", "0"),
        ("budi", "doc:d2", "1"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffquery,doc_id,text\nq,007,NA\n",
        "query;doc_id;text\r\nq;007;NA\r\n",
        "query\tdoc_id\ttext\nq\t007\tNA\n",
        "Query,Doc-ID,Text\nq,007,NA\n",
        "Pertanyaan,No. Dokumen,Isi\nq,007,NA\n",
        "Kueri;ID Properti;Deskripsi\nq;007;NA\n",
        "| query | doc_id | text |\n|:---|:---:|---|\n| q | 007 | NA |\n",
    ],
)
def test_tables_are_read_as_they_are_written(text: str) -> None:
    (run,) = read({"t.csv": text}).runs

    assert [(card.doc_id, card.text) for card in run.queries[0].cards] == [("007", "NA")]


@pytest.mark.parametrize(
    ("rows", "doc_ids"),
    [
        ("q,d1,A\nq,d2,B\nr,d1,A\n", ["d1", "d2"]),
        ("q,7,A\nq,7,B\nr,8,A\n", [None, None]),
        ("q,1,A\nq,2,B\nr,3,A\n", [None, None]),
    ],
    ids=["of the results", "of the question", "of the row"],
)
def test_a_column_called_id_is_what_its_values_make_it(
    rows: str, doc_ids: list[str | None]
) -> None:
    (run,) = read({"t.csv": f"query,id,text\n{rows}"}).runs

    assert [card.doc_id for card in run.queries[0].cards] == doc_ids


def test_a_table_of_grades_under_the_names_of_trec_is_no_run() -> None:
    group = read({"t.csv": "topic,iter,docno,rel\n1,0,d1,2\n", "r.run": "1 Q0 d1 1 9.5 bm25\n"})

    assert [run.search_method for run in group.runs] == ["bm25"]
    assert [(grade.identity, grade.verdict) for grade in group.judged] == [("doc:d1", "2")]


def test_documents_without_a_question_say_what_is_missing() -> None:
    with pytest.raises(ImportRefused) as refused:
        read({"a.json": json.dumps([{"page_content": "A", "metadata": {}}])})

    assert refused.value.problem.code == "results_json_unknown"
    assert refused.value.problem.details["keys"] == "page_content: text, metadata: {}"


def test_documents_or_questions_alone_name_what_they_have() -> None:
    for table in ("suche;doc_id;text\nboots;d7;A\n", "id,frage\n1,boots\n"):
        (problem,) = read({"t.csv": table}).problems
        assert problem.code == "results_columns_missing"
    with pytest.raises(ImportRefused) as refused:
        read({"a.json": json.dumps([{"node": {"id_": "d7", "text": "A"}, "score": 0.5}])})
    assert refused.value.problem.details["keys"] == "node: {id_: text, text: text}, score: 0"


def test_a_topic_is_asked_by_its_title() -> None:
    topics = json.dumps([{"id": "q1", "title": "boots", "description": "Which boots are warm?"}])

    assert read({"a.run": RUN, "topics.json": topics}).runs[0].queries[0].question == "boots"


@pytest.mark.parametrize(
    "rows",
    [
        [{"query": q, "place": n, "doc_id": f"d{n}"} for q in "ab" for n in (3, 1, 2)],
        [{"query": q, "no": n - 1, "doc_id": f"d{n}"} for q in "ab" for n in (2, 1, 3)],
    ],
)
def test_a_column_that_numbers_the_results_of_each_list_is_their_rank(
    rows: list[dict[str, str | int]],
) -> None:
    lines = [",".join(map(str, row)) for row in ([*rows[0]], *(row.values() for row in rows))]
    for files in ({"t.csv": "\n".join(lines)}, {"t.json": json.dumps(rows)}):
        group = read(files)
        assert lists_of(group.runs[0]) == {query: ["d1", "d2", "d3"] for query in "ab"}
        assert "results_rank_chosen" in [problem.code for problem in group.problems]


def test_numbers_that_count_no_list_are_no_ranks() -> None:
    rows = "".join(f"{q},{n + 2 * (q == 'b')},d{n},A\n" for q in "ab" for n in (2, 1, 3))
    (run,) = read({"t.csv": f"query,row,doc_id,text\n{rows}"}).runs

    assert lists_of(run)["a"] == ["d2", "d1", "d3"]


@pytest.mark.parametrize(
    "line", ["{q},Q0,{d},{n},{s},bm25", "{q}, 0, {d}, {n}, {s}, bm25", "{q},{d},{n},{s},bm25"]
)
def test_a_run_may_have_commas_between_its_words(line: str) -> None:
    lines = [line.format(q="q1", d=f"d{n}", n=n, s=9.5 - n) for n in (1, 2)]
    (run,) = read({"a.csv": "\n".join(lines)}).runs

    assert (run.search_method, lists_of(run)) == ("bm25", {"q1": ["d1", "d2"]})


@pytest.mark.parametrize(
    "beside", ["error,timeout", "status,failed", "success,False", "timed_out,True"]
)
def test_a_row_without_a_result_that_says_it_failed_is_no_empty_list(beside: str) -> None:
    name, value = beside.split(",")
    table = f"query,doc_id,rank,{name}\na,d1,1,\nb,,,{value}\nc,,,\n"
    _, failed, empty = read({"t.csv": table}).runs[0].queries

    assert (failed.state, empty.state) == (QueryState.FAILED, QueryState.EMPTY)


@pytest.mark.parametrize("text", ["None", "nan", "False", "-", "0", "[]"])
def test_a_row_without_a_result_whose_error_is_none_is_an_empty_list(text: str) -> None:
    _, empty = (
        read({"t.csv": f"query,doc_id,rank,error\na,d1,1,{text}\nb,,,{text}\n"}).runs[0].queries
    )

    assert (empty.state, empty.error) == (QueryState.EMPTY, None)


def test_a_row_without_a_result_below_others_is_named_with_its_line() -> None:
    group = read({"t.csv": "query,doc_id\na,d1\na,\na,d3\n"})

    assert group.runs[0].queries[0].holes == (2,)
    assert [p.line for p in group.problems if p.code == "results_without_item"] == [3]


def test_words_alone_are_texts_in_each_list() -> None:
    names = [["Sandal", "Boot"], ["Winter boot", "Clog"]]
    lines = [{"query": f"q {n}", "results": results} for n, results in enumerate(names)]
    (run,) = read({"a.json": json.dumps(lines)}).runs

    assert [[card.text for card in query.cards] for query in run.queries] == names


def test_rows_in_one_list_of_json_are_a_table() -> None:
    rows = [{"query": "q", "doc_id": "d1", "rank": 2}, {"query": "q", "doc_id": "d2", "rank": 1}]

    assert lists_of(read({"t.json": json.dumps(rows, indent=1)}).runs[0]) == {"q": ["d2", "d1"]}


def test_a_table_without_known_columns_names_those_it_has() -> None:
    group = read({"t.csv": "Frage,Treffer\nq,A\n"})

    (problem,) = group.problems
    assert problem.code == "results_columns_missing"
    assert problem.details["columns"] == "Frage, Treffer"
    assert group.names == {"Frage": "q", "Treffer": "A"}
    assert not group.runs


def test_rows_of_json_have_the_id_that_a_collection_knows() -> None:
    rows = [{"query": "q", "rank": n, "docno": str(n), "doc_id": f"d{n}"} for n in (7, 2)]
    group = read({"t.json": json.dumps(rows), "corpus.jsonl": CORPUS})

    assert [card.doc_id for card in group.runs[0].queries[0].cards] == ["d2", "d7"]
    assert "results_ids_chosen" in [problem.code for problem in group.problems]


def test_lists_of_questions_that_differ_in_case_keep_their_words() -> None:
    lines = [{"query": query, "results": ["d7"]} for query in ("Boots", "boots", "BOOTS")]
    group = read({"a.json": json.dumps(lines)})

    assert [query.question for query in group.runs[0].queries] == ["Boots", "boots", "BOOTS"]
    assert "results_case" in [problem.code for problem in group.problems]


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x1e", "\x85", "\u2028"])
def test_a_sign_that_ends_no_line_of_a_file_ends_none(sign: str) -> None:
    group = read({"topics.tsv": f"q1\twarm{sign}boots\n", "a.run": RUN})

    assert group.runs[0].queries[0].question == f"warm{sign}boots"


def test_questions_that_end_in_a_number_are_questions() -> None:
    (query,) = read({"topics.tsv": "q1\twindows update 11\n", "a.run": RUN}).runs[0].queries

    assert query.question == "windows update 11"


def test_a_collection_about_retrieval_is_a_collection() -> None:
    line = '{"_id": "1", "title": "", "text": "A span of input in \\"retrieval\\" and hits"}\n'

    assert recognised("corpus.jsonl", line.encode() * 999) == recognition.COLLECTION


def test_questions_keep_their_category() -> None:
    questions = [
        {"_id": "q1", "text": "A", "metadata": {"category": "how to"}},
        {"_id": "q2", "text": "B", "category": "facts"},
        {"_id": "q3", "text": "C"},
    ]
    lines = "".join(f"{json.dumps(question)}\n" for question in questions)
    (run,) = read({"queries.jsonl": lines, "a.run": RUN}).runs

    assert [query.category for query in run.queries] == ["how to", "facts", ""]


def test_topics_set_the_order_and_grades_leave_out_questions_of_other_splits() -> None:
    files = {"a.run": RUN, "topics.tsv": "q3\tC\nq2\tB\nq1\tA\n", "qrels.txt": "q2 0 d7 1\n"}

    group = read(files)

    assert lists_of(group.runs[0]) == {"q2": [], "q1": ["d7", "d2"]}
    assert list(lists_of(group.runs[0])) == ["q2", "q1"]


def test_later_imports_know_that_ids_name_passages() -> None:
    table = {"t.csv": "query,doc_id,text\nq,a.pdf,First\n"}

    (card,) = read(table, passages=True).runs[0].queries[0].cards

    assert card.identity.startswith("doc:a.pdf#")
    assert read(table).runs[0].queries[0].cards[0].identity == "doc:a.pdf"


def test_apostrophes_of_others_stay() -> None:
    (run,) = read({"t.csv": "query,doc_id,text\nq,'-x,'=1+1\n"}).runs

    assert [(card.doc_id, card.text) for card in run.queries[0].cards] == [("'-x", "'=1+1")]


def test_a_workbook_is_a_table() -> None:
    book = Workbook()
    for row in (["query", "doc_id", "rank", "text"], ["q", 7, 1, "A"], ["q", 8.0, 2, "B"]):
        book.active.append(row)  # type: ignore[union-attr]
    saved = io.BytesIO()
    book.save(saved)

    group = read({"t.xlsx": saved.getvalue()})

    assert lists_of(group.runs[0]) == {"q": ["7", "8"]}
    assert group.columns == {"query": "query", "doc_id": "doc_id", "rank": "rank", "text": "text"}


def test_a_mapping_overrides_the_guess_and_belongs_to_the_header() -> None:
    text = "Frage,Treffer,Rang\nq,A,2\nq,B,1\n"
    assert not read({"t.csv": text}).runs
    columns = {"query": "Frage", "doc_id": "Treffer", "rank": "Rang"}
    assert lists_of(read({"t.csv": text}, columns=columns).runs[0]) == {"q": ["B", "A"]}

    rows = "query,text,passage,place\nq,id-1,A,2\nq,id-2,B,1\n"
    columns = {"doc_id": "text", "text": "passage", "rank": "place"}
    group = read({"t.csv": rows}, columns=columns)

    (query,) = group.runs[0].queries
    assert [(card.doc_id, card.text) for card in query.cards] == [("id-2", "B"), ("id-1", "A")]
    assert group.columns == {"query": "query", **columns}
    turned = "place,passage,text,query\n1,B,id-2,q\n"
    assert (
        read({"t.csv": turned}).header
        == group.header
        != read({"a.csv": "query,doc_id\nq,1\n"}).header
    )


def test_an_address_is_kept_only_if_a_browser_opens_it() -> None:
    rows = [
        {"text": "A", "url": "https://a.example/1"},
        {"text": "B", "url": "javascript:alert(1)"},
        {"text": "C", "source": "b.pdf", "author": "Liu"},
    ]

    cards = read({"a.json": json.dumps([{"query": "q", "results": rows}])}).runs[0].queries[0].cards

    assert [card.url for card in cards] == ["https://a.example/1", None, None]
    assert cards[2].meta == {"source": "b.pdf", "author": "Liu"}


def test_a_conversation_asks_its_last_question() -> None:
    turns = [
        {"content": "Houses?", "type": "human"},
        {"content": "Where?", "type": "ai"},
        {"content": "In Bali", "type": "human"},
    ]
    row = {"user_input": turns, "retrieved_contexts": None, "response": "None."}

    (query,) = (
        read(
            {
                "a.jsonl": json.dumps(row)
                + "\n"
                + json.dumps(
                    {
                        **row,
                        "user_input": "x",
                        "retrieved_contexts": ["A"],
                        "retrieved_context_ids": ["c1"],
                    }
                )
            }
        )
        .runs[0]
        .queries[:1]
    )

    assert (query.question, query.response) == ("In Bali", "None.")
    assert query.extra["turns"] == turns[:2]
    assert query.state is QueryState.EMPTY


def test_spans_come_in_every_shape() -> None:
    documents = [{"document.content": "A", "document.score": 0.5, "document.id": "d1"}]
    attributes = [
        {"key": "openinference.span.kind", "value": {"stringValue": "RETRIEVER"}},
        {"key": "input.value", "value": {"stringValue": "q"}},
        {"key": "retrieval.documents.0.document.content", "value": {"stringValue": "A"}},
        {"key": "retrieval.documents.0.document.id", "value": {"stringValue": "d1"}},
        {"key": "retrieval.documents.0.document.score", "value": {"doubleValue": 0.5}},
    ]
    span = {"name": "r", "spanId": "s1", "attributes": attributes}
    otlp = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    cell = str(documents).replace('"', '""')
    table = (
        "context.span_id,name,span_kind,attributes.input.value,attributes.retrieval.documents\n"
        f's1,r,RETRIEVER,q,"{cell}"\ns2,chat,LLM,q,\n'
    )

    for name, text in {"otlp.json": otlp, "phoenix.csv": table}.items():
        (run,) = read({name: text}).runs
        (query,) = run.queries
        assert run.search_method == "r"
        assert query.extra == {"span_id": "s1"}
        assert [(c.doc_id, c.text, c.score, c.position) for c in query.cards] == [
            ("d1", "A", 0.5, 0)
        ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")
def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for name, code in {"pipe": "not_a_file", "gone.csv": "unreadable_file"}.items():
        with pytest.raises(ImportRefused) as refused:
            read_files([tmp_path / name])
        assert refused.value.problem.code == code


def test_parquet_is_a_table_where_its_reader_is_installed() -> None:
    """Numbers, texts and blank cells are those of the CSV with the same columns."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "query_id": ["q1", "q1"],
        "query": ["red", "red"],
        "doc_id": ["d1", "d2"],
        "rank": [1, 2],
        "score": [0.5, None],
        "text": ["Dress", "Gown"],
    }
    file = io.BytesIO()
    parquet.write_table(arrow.table(columns), file)
    rows = "".join(
        ",".join("" if cell is None else str(cell) for cell in row) + "\n"
        for row in zip(*columns.values(), strict=True)
    )
    as_csv = f"{','.join(columns)}\n{rows}".encode()

    [of_parquet] = read_files([("r.parquet", file.getvalue())]).runs
    [of_csv] = read_files([("r.csv", as_csv)]).runs
    assert of_parquet.queries == of_csv.queries


def test_packed_files_are_read_unpacked(tmp_path: Path) -> None:
    packed = {
        f"{name}.gz": gzip.compress(text.encode())
        for name, text in {"a.run": RUN, "corpus.jsonl": CORPUS}.items()
    }

    assert read(packed).runs[0].queries[0].cards[0].text == "Long red dress"
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
    (run,) = read_files([tmp_path / name for name in packed]).runs
    assert run.queries[0].cards[0].text == "Long red dress"
    half = gzip.compress(CORPUS.encode() * 999)[:60]
    cut: dict[str, str | bytes] = {"a.run": RUN, "corpus.jsonl.gz": half}
    with pytest.raises(ImportRefused) as refused:
        read(cut)
    assert refused.value.problem.code == "results_cut_off"


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.txt": "Hello"},
        {"a.json": "{}"},
        {"a.zip": b"PK\x03\x04junk"},
        {"a.xlsx": b"PK\x03\x04junk"},
        {"a.gz": b"\x1f\x8bjunk"},
        {"corpus.jsonl": CORPUS},
        {"a.csv": "query,query,doc_id\na,b,c\n"},
    ],
)
def test_files_of_which_nothing_can_be_used_are_refused(files: dict[str, str | bytes]) -> None:
    with pytest.raises(ImportRefused) as refused:
        read(files)

    assert all(map(message, refused.value.problems))


# Any bytes.

STARTS = [path.read_bytes() for path, _ in examples().values()]
NAMES = [*examples(), "a.xlsx", "a.zip", "a.gz", "a.csv", "queries.tsv", "corpus.tsv"]
PARTS = st.sampled_from(
    [
        b"{",
        b"[",
        b'"',
        b"\n",
        b"\t",
        b",",
        b"\x00",
        b"\xff",
        b"null",
        b"1e999",
        b'"hits":',
        b"\\ud800",
        b"<DOC>",
        b"PK\x03\x04",
        b"\x1f\x8b",
        b"NaN",
        b"\\u0000",
    ]
)


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from(STARTS))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        new = draw(PARTS | st.binary(max_size=8))
        data = data[:at] + new + data[at + draw(st.integers(0, 12)) :]
    return data


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for inner in pair for text in texts_in(inner))
    elif isinstance(value, list | tuple):
        yield from (text for inner in value for text in texts_in(inner))


def test_names_of_metadata_are_counted_while_rows_are_read() -> None:
    """Those of results too deep to be cards as well: a file may have a new one in each line."""
    rows = [
        {"query_id": 1, "question": "q", "doc_id": f"d{n}", "rank": n + 1, f"a{n}": 1}
        for n in range(1_002)
    ]
    lines = [json.dumps(row) for row in rows]

    assert len(read({"r.jsonl": "\n".join(lines[:1_000])}).runs) == 1
    with pytest.raises(ImportRefused) as refused:
        read({"r.jsonl": "\n".join([*lines, "{"])})  # what follows is not read
    assert [problem.code for problem in refused.value.problems] == ["results_many_metadata"]


@pytest.mark.parametrize(("n_lines", "n_cut"), [(10, 0), (11_000, 1)])
def test_a_document_of_trec_that_is_cut_is_counted(n_lines: int, n_cut: int) -> None:
    line = "long red dress " * 6 + "\n"
    block = f"<DOC>\n<DOCNO> d7 </DOCNO>\n<TEXT>\n{line * n_lines}</TEXT>\n</DOC>\n"
    group = read({"run.txt": RUN, "documents.sgml": block})

    (query,) = group.runs[0].queries
    is_whole = query.cards[0].text.count("dress") == n_lines * 6
    assert (is_whole, codes(group).get("results_texts_cut", 0)) == (not n_cut, n_cut)


@settings(max_examples=settings().max_examples * 4)
@given(st.dictionaries(st.sampled_from(NAMES), spoilt() | st.binary(max_size=80), max_size=3))
@example({"a.json": b"[" * 200_000})
@example({"topics.xml": b"<top><num>" * 50_000})
@example(
    {"run.txt": RUN.encode(), "documents.sgml": b"<doc><docno>d7</docno>" + b"<text>" * 50_000}
)
@example({"a.json": b'{"query": "q", "results": ' + b"[" * 200_000})
def test_no_bytes_raise_anything_but_the_refusal(files: dict[str, bytes]) -> None:
    with speaking("en"):
        try:
            group = read_files(files.items())
        except ImportRefused as refused:
            outcome = refused.advice()
        else:
            outcome = "read"
            assert all(remark.text for remark in remarks(group.problems))
            queries = [query for run in group.runs for query in run.queries]
            stored = to_builtins(queries)
            assert json.dumps(stored, allow_nan=False)
            assert all(text == storable_text(text) for text in texts_in(stored))
    assert outcome


# Large collections.


def _lines(count: int) -> Iterator[bytes]:
    for number in range(count):
        text = f"passage {number} " * 20
        yield json.dumps({"_id": f"d{number}", "title": "", "text": text}).encode() + b"\n"


def test_a_large_collection_is_read_as_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    with path.open("wb") as file:
        file.writelines(_lines(28_000))
    run = "".join(f"1 Q0 d{n * 997} {n} {100 - n} a\n" for n in range(1, 21))
    heard: list[tuple[int, int]] = []

    tracemalloc.start()
    group = read_files(
        [("a.run", run.encode()), path], on_progress=lambda *progress: heard.append(progress)
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert all(card.text for card in group.runs[0].queries[0].cards)
    assert peak < 8 * 2**20 < path.stat().st_size
    assert heard == sorted(heard)
    assert heard[-1] == (path.stat().st_size,) * 2


@pytest.mark.parametrize("name", ["a.zip", "a.run.gz"])
def test_no_more_is_unpacked_than_a_text_may_be(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(opening, "MOST_UNPACKED", 2**16)
    run = RUN.encode() * 2**14
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.run", run)
    data = packed.getvalue() if name == "a.zip" else gzip.compress(run)

    try:
        problems = read({name: data}).problems  # of what came before
    except ImportRefused as refused:
        problems = tuple(refused.problems)
    assert "results_cut_off" in {problem.code for problem in problems}


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (("91,2%", "88,0 %"), [0.912, 0.88]),
        (("1.234,5", "999"), [1234.5, 999]),
        (("1,234.5", "999"), [1234.5, 999]),
        (("1.234", "0,5"), [1234, 0.5]),
        (("1,5e-3", "1e-3"), [0.0015, 0.001]),
    ],
)
def test_the_numbers_of_a_column_say_how_they_are_written(
    scores: tuple[str, str], expected: list[float]
) -> None:
    rows = "".join(f"q;{name};{score}\n" for name, score in zip("ab", scores, strict=True))

    ((query,),) = (run.queries for run in read({"t.csv": f"query;doc_id;score\n{rows}"}).runs)

    assert [card.score for card in query.cards] == expected


def test_a_number_in_another_notation_than_its_column_is_refused_by_line() -> None:
    with pytest.raises(ImportRefused) as refused:
        read({"t.csv": "query;doc_id;score\nq;a;91%\nq;b;0,88\n"})

    assert (refused.value.problem.code, refused.value.problem.line) == ("results_number_wrong", 2)


@pytest.mark.parametrize("total", ["Total,,,,2.5", "Rata-rata,,,,1.25", ",,,Average,1.25"])
def test_a_row_that_sums_up_is_named_and_no_question(total: str) -> None:
    rows = "query,system,rank,text,score\nq,s,1,A,1.5\nq,s,2,B,1\n"

    group = read({"t.csv": f"{rows}{total}\n"})

    assert [len(query.cards) for query in group.runs[0].queries] == [2]
    assert codes(group)["results_total_row"] == 1


def test_a_question_called_total_is_one() -> None:
    group = read({"t.csv": "query,system,rank,text,score\nTotal,s,1,A,1.5\n"})

    assert [query.question for query in group.runs[0].queries] == ["Total"]


@pytest.mark.parametrize(
    "start",
    ["# the run of this day\n", "#qid Q0 docno rank score tag\n", "qid Q0 docno rank s t\n"],
)
def test_lines_about_a_run_are_passed_over(start: str) -> None:
    assert lists_of(read({"a.run": start + RUN}).runs[0]) == {"q1": ["d7", "d2"]}
    assert lists_of(read({"a.run": RUN + "# the end of this run\n"}).runs[0]) == {
        "q1": ["d7", "d2"]
    }
    assert lists_of(read({"a.run": RUN.replace("q1", "#1")}).runs[0]) == {"#1": ["d7", "d2"]}


@pytest.mark.parametrize("text", ["# nothing\n", ""])
def test_a_file_of_remarks_alone_holds_nothing(text: str) -> None:
    with suppress(ImportRefused):
        assert not read({"a.run": text.encode("utf-16")}).runs


def test_the_decimal_comma_of_a_run_is_one() -> None:
    (run,) = read({"a.run": RUN.replace("12.5", "12,5")}).runs

    assert [card.score for card in run.queries[0].cards] == [12.5, 11]


def test_topics_and_collections_may_be_in_utf_16() -> None:
    topics = "<top>\n<num> Number: q1\n<title> red dress\n</top>\n"
    files = {"topics.txt": topics, "corpus.jsonl": CORPUS, "a.run": RUN}

    (run,) = read({name: text.encode("utf-16") for name, text in files.items()}).runs

    (query,) = run.queries
    assert (query.question, query.cards[0].text) == ("red dress", "Long red dress")


def test_a_collection_may_have_an_object_in_several_lines_or_deeper() -> None:
    pretty = "\n".join(json.dumps(json.loads(line), indent=1) for line in CORPUS.splitlines())
    deeper = "\n".join(json.dumps({"record": json.loads(line)}) for line in CORPUS.splitlines())

    for text in (pretty, deeper, json.dumps({"data": [*map(json.loads, CORPUS.splitlines())]})):
        (run,) = read({"corpus.jsonl": text, "a.run": RUN}).runs
        assert [card.text for card in run.queries[0].cards] == ["Long red dress", "Red gown"]


def test_a_result_that_two_raters_graded_is_one() -> None:
    rows = "".join(
        f"q,{n},{t},{g},{r}\n" for n, t in ((1, "A"), (2, "B")) for g, r in ((1, "k"), (2, "l"))
    )

    group = read({"t.csv": f"query,rank,text,grade,rater\n{rows}"})

    assert [card.text for card in group.runs[0].queries[0].cards] == ["A", "B"]
    assert group.raters == {"k": 2, "l": 2}


def test_a_row_without_a_result_is_a_place_in_a_list_with_others() -> None:
    group = read({"t.csv": "query,system,doc_id\nq,s,\nq,s,d2\n"})

    (query,) = group.runs[0].queries
    assert (query.holes, [card.position for card in query.cards]) == ((1,), [1])
    assert codes(group)["results_without_item"] == 1


def test_the_column_id_is_of_the_results_of_each_system() -> None:
    rows = "".join(f"q,{system},{n},d{n},A{n}\n" for system in "ab" for n in (1, 2))

    group = read({"t.csv": f"query,system,rank,id,text\n{rows}"})

    assert [lists_of(run) for run in group.runs] == [{"q": ["d1", "d2"]}] * 2


@pytest.mark.parametrize(
    "rules", [("", "---+---+---\n", "(2 rows)\n"), ("+--+--+--+\n", "+--+--+--+\n", "+--+--+--+\n")]
)
def test_tables_as_databases_draw_them_are_tables(rules: tuple[str, str, str]) -> None:
    top, below, end = rules
    text = f"{top} query | rank | doc_id \n{below} q | 1 | d7 \n q | 2 | d2 \n{end}"

    assert lists_of(read({"t.txt": text}).runs[0]) == {"q": ["d7", "d2"]}
