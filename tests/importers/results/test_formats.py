"""Results of any system: recognised by content, assembled into runs, grades and problems."""

from __future__ import annotations

import gzip
import io
import json
import os
import tracemalloc
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import to_builtins
from openpyxl import Workbook

from webapp.i18n import speaking
from webapp.importers.results import files as opening
from webapp.importers.results.formats import (
    FORMATS,
    OTHER_EXAMPLES,
    Choices,
    Group,
    examples,
    recognised,
)
from webapp.importers.results.formats import read as read_files
from webapp.importers.runs.json_documents import storable_text
from webapp.importers.runs.problems import ImportRefused, message, remarks
from webapp.records import QueryState, ReadRun

SEEDS = Path(__file__).parents[3] / "seeds"
FORMAT_OF = {one.example: one.name for one in FORMATS} | {
    name: kind for name, (kind, _) in OTHER_EXAMPLES.items()
}
RUN = "q1 Q0 d7 1 12.5 bm25\nq1 Q0 d2 2 11.0 bm25\n"
CORPUS = '{"_id": "d7", "text": "Long red dress"}\n{"_id": "d2", "text": "Red gown"}\n'


def read(files: Mapping[str, str | bytes], **options: Any) -> Group:
    given = [(n, d.encode() if isinstance(d, str) else d) for n, d in files.items()]
    group = read_files(given, Choices(**options))
    for language in ("en", "id"):
        with speaking(language):
            assert all(one.text for one in remarks(group.problems))
    return group


def lists_of(run: ReadRun) -> dict[str, list[str]]:
    return {
        query.external_id or query.question: [card.doc_id or card.text for card in query.cards]
        for query in run.queries
    }


def codes(group: Group) -> dict[str, int]:
    return {one.code: int(one.details.get("count", 1)) for one in group.problems}


# Every format's example.


@pytest.mark.parametrize("name", sorted(FORMAT_OF))
def test_each_example_is_recognised_by_its_content(name: str) -> None:
    path, words = examples()[name]
    kind = recognised(name, path.read_bytes())

    assert kind
    assert kind.name == FORMAT_OF[name]
    assert words


def test_an_example_is_there_for_every_format() -> None:
    assert {path.name for path, _ in examples().values()} == {
        path.name for path in examples()["run.txt"][0].parent.rglob("*.*")
    }
    assert all(len(one.name) <= 8 for one in FORMATS)


WITH_LISTS = [
    name
    for name in FORMAT_OF
    if FORMAT_OF[name] in ("spans", "rankeval", "trec", "table", "lists")
    and name not in ("ratings.csv", "beir/qrels/test.tsv")
]


@pytest.mark.parametrize("name", WITH_LISTS)
def test_each_example_with_results_gives_the_same_list(name: str) -> None:
    beside = ["topics.tsv", "corpus.jsonl"] if name in ("run.txt", "rank_eval.json") else []
    group = read_files([examples()[one][0] for one in (name, *beside)])

    query = group.runs[0].queries[0]
    assert query.question == "red dress"
    assert query.cards[0].text == "Long red dress"
    assert query.state is QueryState.RESULTS
    assert query.context_dependent is False
    assert query.cards[0].doc_id in ("d7", None)
    assert not any(one.severity == "error" for one in group.problems)
    assert group.sample


@pytest.mark.parametrize(
    "name", ["qrels.txt", "ratings.csv", "judgments.json", "beir/qrels/test.tsv"]
)
def test_each_example_with_grades_gives_them(name: str) -> None:
    group = read_files([examples()[name][0]])

    judged = group.judged[0]
    assert (judged.external_id or judged.question, judged.identity) in (
        ("q1", "doc:d7"),
        ("red dress", "doc:d7"),
    )
    assert str(group.highest_grade) == judged.verdict
    assert not group.runs


@pytest.mark.parametrize("name", ["topics.tsv", "topics.xml", "beir/queries.jsonl"])
@pytest.mark.parametrize("collection", ["corpus.jsonl", "documents.sgml", "d7.md"])
def test_each_example_of_questions_and_documents_joins_a_run(name: str, collection: str) -> None:
    (run,) = read_files([examples()[one][0] for one in (collection, "run.txt", name)]).runs

    assert run.queries[0].question == "red dress"
    assert "Long red dress" in run.queries[0].cards[0].text


OWN_FILES = [
    *SEEDS.glob("*.json"),
    *SEEDS.glob("runs/*/*.json"),
    *(SEEDS / "demo" / f"{one}.json" for one in ("gold", "json_answers", "machine_answers")),
]


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_files_of_other_kinds_are_not_taken(path: Path) -> None:
    assert recognised(path.name, path.read_bytes()) is None


def test_rated_files_and_others_are_not_taken() -> None:
    rated = b"query_id,question,category,results_count,relevant_count,notes\n1,A,,3,1,\n"

    assert recognised("rated.csv", rated) is None
    assert recognised("x.json", b'{"format": "relevansi offline ratings", "changes": []}') is None
    assert recognised("x.csv", b"\xff\xfea\x00") is None
    assert recognised("x.json", b"") is None


def test_the_scored_seeds_can_be_judged_too() -> None:
    group = read_files([SEEDS / "demo" / "answers.jsonl", SEEDS / "demo" / "chunks.jsonl"])

    assert {"answers"} < {run.search_method for run in group.runs}
    assert any(query.response for query in group.runs[0].queries)


# Traps.


def test_two_runs_without_answers_have_different_keys_and_one_order() -> None:
    one = "q2 Q0 d1 1 2.0 bm25\nq1 Q0 d7 1 1.5 bm25\n"
    two = "q1 Q0 d2 1 2.0 bm25\nq2 Q0 d1 1 1.5 bm25\n"
    topics = "q1\tred\nq2\tblue\nq3\tgreen\n"

    group = read({"a.run": one, "b.run": two, "topics.tsv": topics})

    first, second = group.runs
    assert (first.search_method, second.search_method) == ("bm25 (a.run)", "bm25 (b.run)")
    assert first.key != second.key
    assert first.sha256 != second.sha256
    assert lists_of(first) == {"q1": ["d7"], "q2": ["d1"], "q3": []}
    assert list(lists_of(second)) == ["q1", "q2", "q3"]
    assert codes(group)["results_lists_missing"] == 1
    assert first.queries[2].state is QueryState.EMPTY
    assert first.key == read({"c.run": one, "topics.tsv": topics}).runs[0].key


def test_several_systems_in_one_file_are_several_runs() -> None:
    rows = "query,system,score,text\nq,a,1,X\nq,b,2,Y\nq,a,3,Z\nr,a,1,Z\n"

    one, two = read({"t.csv": rows}).runs

    assert (one.search_method, two.search_method) == ("a", "b")
    assert lists_of(one) == {"q": ["Z", "X"], "r": ["Z"]}
    assert lists_of(two) == {"q": ["Y"], "r": []}


def test_files_of_one_name_are_not_confused() -> None:
    files = [("run.txt", RUN.encode()), ("run.txt", RUN.replace("d7", "d9").encode())]

    one, two = read_files(files).runs

    assert (lists_of(one), lists_of(two)) == ({"q1": ["d7", "d2"]}, {"q1": ["d9", "d2"]})
    assert one.sha256 != two.sha256


def test_one_system_in_several_files_is_one_run() -> None:
    hits = {"hits": {"hits": [{"_id": "7", "_source": {"body": "Y"}}]}}

    (run,) = read({"red dress.json": json.dumps(hits), "blue.json": json.dumps(hits)}).runs

    assert lists_of(run) == {"red dress": ["7"], "blue": ["7"]}


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
    group = read({"a.run": "1 Q0 a 0 1.0 s\n1 Q0 b 5 2.0 s\n1 Q0 c 5 1.0 s\n"})

    assert lists_of(group.runs[0]) == {"1": ["a", "b", "c"]}
    assert {"results_rank_against_score", "results_ranks_renumbered"} <= codes(group).keys()
    assert [card.score for card in group.runs[0].queries[0].cards] == [1.0, 2.0, 1.0]


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

    one, two = (run.queries[0].cards for run in group.runs)
    assert group.has_passages
    assert one[0].identity == two[0].identity != one[1].identity
    assert one[0].identity.startswith("doc:a.pdf#")
    assert codes(group)["results_passages"] == 1
    assert "results_items_twice" not in codes(group)
    assert read({"t.csv": rows}, depth=1).runs[0].queries[0].tail == (one[1].identity,)


def test_grades_are_whole_numbers_of_any_height_from_zero() -> None:
    lines = "q1 0 d7 7\nq1 0 d2 -1\nq1 0 d3 2.5\nq1 0 d7 2\nq9 0 d1 1\n"

    group = read({"a.run": RUN, "qrels.txt": lines})

    assert [(one.external_id, one.identity, one.verdict) for one in group.judged] == [
        ("q1", "doc:d7", "7")
    ]
    assert group.highest_grade == 7
    (wrong,) = [one for one in group.problems if one.code == "results_grade_wrong"]
    assert wrong.line == 3
    told = codes(group)
    assert told["results_grades_below"] == told["results_grades_differ"] == 1
    assert told["results_grades_unknown"] == 1


def test_texts_and_numbers_are_grades_as_judges_write_them() -> None:
    ratings = [{"docId": "d7", "rating": "3.000"}, {"docId": "d2", "rating": 0}]
    judgments = {"judgmentRatings": [{"query": "RED  dress", "ratings": ratings}]}

    group = read({"a.csv": "query,doc_id,rank\nred dress,d7,1\n", "j.json": json.dumps(judgments)})

    assert [(one.question, one.verdict) for one in group.judged] == [
        ("red dress", "3"),
        ("red dress", "0"),
    ]


def test_each_rater_may_have_a_grade() -> None:
    rows = "query,docid,rating,rater\nq,d,1,ana\nq,d,2,budi\n"

    judged = read({"r.csv": rows}).judged

    assert [(one.rater, one.verdict) for one in judged] == [("ana", "1"), ("budi", "2")]


def test_documents_that_rank_eval_calls_unrated_have_no_grade() -> None:
    group = read_files([examples()["rank_eval.json"][0]])

    assert [(one.identity, one.verdict) for one in group.judged] == [("doc:d7", "1")]
    assert group.raters == {"": 1}


@pytest.mark.parametrize("rows", ["q,d,,\nq,d,2,\n", "q,d,2,\nq,d,,\n"])
def test_a_grade_wins_over_an_unrated_row_of_the_same_document(rows: str) -> None:
    group = read({"r.csv": f"query,docid,rating,rater\n{rows}"})

    assert [(one.identity, one.verdict) for one in group.judged] == [("doc:d", "2")]
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
        assert {one.external_id for one in group.judged} == {"q1", "q2"}
        assert group.runs[0].queries[0].cards[1].text == "Red gown"
        assert group.splits == ("test", "train")

        for other in (None, "dev"):
            unsure = read_files(files, Choices(split=other))
            assert not unsure.judged
            assert unsure.problems[0].code == "results_splits"


def test_documents_that_are_not_there_are_counted() -> None:
    group = read({"a.run": RUN, "corpus.jsonl": CORPUS.splitlines()[0]})

    (told,) = [one for one in group.problems if one.code == "results_without_text"]
    assert told.details == {"count": 1, "of": 2, "ids": "d2"}


def test_the_first_of_doubled_documents_and_questions_counts() -> None:
    corpus = CORPUS + '{"_id": "d7", "text": "Other"}\n{"_id": "d9"\n'
    group = read({"a.run": RUN, "corpus.jsonl": corpus, "topics.tsv": "q1\tred\nq1\tblue\n"})

    query = group.runs[0].queries[0]
    assert (query.question, query.cards[0].text) == ("red", "Long red dress")
    twice = {one.file: one.details for one in group.problems if one.code == "results_twice"}
    assert twice == {"corpus.jsonl": {"count": 1}, "topics.tsv": {"count": 1}}
    (broken,) = [one for one in group.problems if one.code == "results_without_id"]
    assert broken.line == 4


@pytest.mark.parametrize(
    ("name", "text", "code", "line"),
    [
        ("a.run", RUN + "q1 Q0 d9 3 bm25\n", "results_word_count", 3),
        ("a.run", RUN + "q1 Q0 d9 third 1.0 bm25\n", "results_number_wrong", 3),
        ("a.run", RUN + "q1 Q0 d9 3 nan bm25\n", "results_number_wrong", 3),
        ("t.csv", "query,doc_id,rank\nq,d,1\nq,e,two\n", "results_number_wrong", 3),
        ("t.csv", "query,doc_id,rank\nq,d,1\nq,,2\n", "results_without_item", 3),
        ("t.csv", "query,doc_id,rank\nq,d,1\n,e,2\n", "csv_value_missing", 3),
        ("t.csv", 'query,doc_id,rank\nq,d,1\n"q,e,2\n', "csv_broken_record", 3),
        ("t.csv", "query,doc_id,rank\nq,d,1\nq,e\n", "csv_cell_count", 3),
        ("a.jsonl", '{"query": "q", "results": ["A"]}\n{"query": ', "line_broken", 2),
        ("a.jsonl", '{"query": "q", "results": ["A"]}\n{"query": "r"}', "results_without_list", 2),
        (
            "a.jsonl",
            '{"query": "q", "results": ["A"]}\n{"results": []}',
            "results_without_question",
            2,
        ),
        ("a.jsonl", '{"query": "q", "results": ["A", 3]}\n', "results_list_of_others", 1),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_the_rest_is_kept(
    name: str, text: str, code: str, line: int
) -> None:
    group = read({name: text})

    assert group.runs[0].queries[0].cards
    (wrong,) = [one for one in group.problems if one.severity == "error"]
    assert (wrong.code, wrong.line, wrong.file) == (code, line, name)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffquery,doc_id,text\nq,007,NA\n",
        "query;doc_id;text\r\nq;007;NA\r\n",
        "query\tdoc_id\ttext\nq\t007\tNA\n",
        "Query,Doc-ID,Text\nq,007,NA\n",
    ],
)
def test_tables_are_read_as_they_are_written(text: str) -> None:
    (run,) = read({"t.csv": text}).runs

    assert [(card.doc_id, card.text) for card in run.queries[0].cards] == [("007", "NA")]


def test_documents_without_a_question_say_what_is_missing() -> None:
    with pytest.raises(ImportRefused) as refused:
        read({"a.json": json.dumps([{"page_content": "A", "metadata": {}}])})

    assert refused.value.problem.code == "results_without_question"
    assert refused.value.problem.details["keys"] == "page_content, metadata"


def test_rows_in_one_list_of_json_are_a_table() -> None:
    rows = [{"query": "q", "doc_id": "d1", "rank": 2}, {"query": "q", "doc_id": "d2", "rank": 1}]

    assert lists_of(read({"t.json": json.dumps(rows, indent=1)}).runs[0]) == {"q": ["d2", "d1"]}


def test_a_table_without_known_columns_names_those_it_has() -> None:
    group = read({"t.csv": "Frage,Treffer\nq,A\n"})

    (problem,) = group.problems
    assert problem.code == "results_columns_missing"
    assert problem.details["columns"] == "frage, treffer"
    assert group.names == ("frage", "treffer")
    assert not group.runs


def test_questions_that_end_in_a_number_are_questions() -> None:
    (query,) = read({"topics.tsv": "q1\twindows update 11\n", "a.run": RUN}).runs[0].queries

    assert query.question == "windows update 11"


def test_a_collection_about_retrieval_is_a_collection() -> None:
    line = '{"_id": "1", "title": "", "text": "A span of input in \\"retrieval\\" and hits"}\n'
    kind = recognised("corpus.jsonl", line.encode() * 999)

    assert kind
    assert kind.name == "corpus"


def test_questions_keep_their_category() -> None:
    questions = [
        {"_id": "q1", "text": "A", "metadata": {"category": "how to"}},
        {"_id": "q2", "text": "B", "category": "facts"},
        {"_id": "q3", "text": "C"},
    ]
    lines = "".join(f"{json.dumps(one)}\n" for one in questions)
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


def test_apostrophes_before_formulas_are_undone() -> None:
    (run,) = read({"t.csv": "query,doc_id,text\nq,d,'=1+1\n"}).runs

    assert run.queries[0].cards[0].text == "=1+1"


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
    named = {"query": "Frage", "doc_id": "Treffer", "rank": "Rang"}
    assert lists_of(read({"t.csv": text}, columns=named).runs[0]) == {"q": ["B", "A"]}

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
    assert "results_cut_off" in codes(read(cut))


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
        yield from (text for pair in value.items() for one in pair for text in texts_in(one))
    elif isinstance(value, list | tuple):
        yield from (text for one in value for text in texts_in(one))


@settings(max_examples=400, deadline=None)
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
            said = refused.advice()
        else:
            said = "read"
            assert all(one.text for one in remarks(group.problems))
            queries = [query for run in group.runs for query in run.queries]
            stored = to_builtins(queries)
            assert json.dumps(stored, allow_nan=False)
            assert all(text == storable_text(text) for text in texts_in(stored))
    assert said


# Large collections.


def _lines(count: int) -> Iterator[bytes]:
    for number in range(count):
        text = f"passage {number} " * 20
        yield json.dumps({"_id": f"d{number}", "title": "", "text": text}).encode() + b"\n"


def test_a_large_collection_is_read_as_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    with path.open("wb") as file:
        file.writelines(_lines(100_000))
    run = "".join(f"1 Q0 d{n * 997} {n} {100 - n} a\n" for n in range(1, 21))
    heard: list[tuple[int, int]] = []

    tracemalloc.start()
    group = read_files([("a.run", run.encode()), path], tell=lambda *one: heard.append(one))
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
