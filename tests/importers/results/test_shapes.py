"""JSON in the shapes that tools write: right or refused, and never a loss without a word."""

from __future__ import annotations

import json
import shlex

import pytest

from relevansi.importers.results.formats import Choices, Group
from relevansi.importers.results.formats import read as read_files
from relevansi.importers.runs.problems import ImportRefused, message
from relevansi.records import QueryState

Json = dict[str, object] | list[object]
IDS = ["d7", "d2"]
TEXTS = ["Long red dress", "Red evening gown"]
DOCS = [{"id": "d7", "text": TEXTS[0]}, {"id": "d2", "text": TEXTS[1]}]
SCORES = {"d7": 1.5, "d2": 0.5}
BOTH = [("d7", TEXTS[0]), ("d2", TEXTS[1])]
ONLY_IDS = [("d7", ""), ("d2", "")]
ONLY_TEXTS = [("", TEXTS[0]), ("", TEXTS[1])]


POINTERS: list[Json] = [{"index": 2, "score": 0.9}, {"index": 1, "relevance_score": 0.8}]


def _with_inner_hits(document: dict[str, str]) -> Json:
    hits = {"hits": {"hits": [{"_id": "d0", "_source": {"text": document["text"]}}]}}
    return {"_id": document["id"], "_source": {"title": "A"}, "inner_hits": {"passages": hits}}


def read(*values: object) -> Group:
    lines = "\n".join(map(json.dumps, values))
    return read_files([("r.jsonl", lines.encode())])


def lists(group: Group) -> dict[str, dict[str, list[tuple[str, str]]]]:
    return {
        run.search_method or "-": {
            query.question or "-": [(card.doc_id or "", card.text) for card in query.cards]
            for query in run.queries
        }
        for run in group.runs
    }


def codes(group: Group) -> set[str]:
    return {problem.code for problem in group.problems}


@pytest.mark.parametrize(
    ("beside", "items"),
    [
        ({"ids": IDS, "documents": TEXTS, "metadatas": [{}, {}]}, BOTH),
        ({"doc_ids": IDS, "doc_texts": TEXTS}, BOTH),
        ({"retrieved": {"ids": IDS, "texts": TEXTS, "scores": [3, 2]}}, BOTH),
        ({"results": {"ids": [IDS], "documents": [TEXTS]}}, BOTH),
        ({"contexts": TEXTS, "context_ids": IDS, "reference_contexts": ["a", "b"]}, BOTH),
        ({"results": {"d2": {"rank": 2, "score": 1}, "d7": {"rank": 1, "score": 2}}}, ONLY_IDS),
        ({"results": IDS}, ONLY_IDS),
        ({"results": TEXTS}, ONLY_TEXTS),
        ({"results": [[doc_id, 0.5] for doc_id in IDS]}, ONLY_IDS),
        ({"results": [[text, 0.5] for text in TEXTS]}, ONLY_TEXTS),
        ({"results": [[*pair, 0.5] for pair in BOTH]}, BOTH),
        ({"results": [{"doc": doc_id, "snippet": text} for doc_id, text in BOTH]}, BOTH),
        ({"hits": [{"id": i, "entity": {"text": text}} for i, text in BOTH]}, BOTH),
        ({"docs": [{"pageContent": text, "metadata": {"id": i}} for i, text in BOTH]}, BOTH),
        ({"docs": [{"_id": {"$oid": i}, "text": text} for i, text in BOTH]}, BOTH),
        *(({name: DOCS}, BOTH) for name in ("rows", "hits", "points", "data", "items", "ctxs")),
        ({"web": {"results": DOCS}}, BOTH),
        ({"response": [{"document": document, "score": 0.5} for document in DOCS]}, BOTH),
        ({"output": DOCS}, BOTH),
        ({"data": [DOCS]}, BOTH),
        *(({name: DOCS}, BOTH) for name in ("konteks", "sumber", "kutipan")),
        ({"data": {"Get": {"Article": DOCS}}}, BOTH),
        ({"results": {"search_results": {"chunk_search_results": DOCS}, "citations": []}}, BOTH),
        ({"ids": [IDS], "documents": [TEXTS], "select": [["#document"]]}, BOTH),
        ({"results": {"2": DOCS[1], "1": DOCS[0]}}, BOTH),
        ({"results": {i: {"text": text} for i, text in BOTH}}, BOTH),
        ({"root": {"children": [{"id": "group:root:0", "children": [{"children": DOCS}]}]}}, BOTH),
        ({"root": {"children": [*DOCS, {"id": "group:root:0", "children": DOCS}]}}, BOTH),
        ({"response": [{"type": "text", "text": json.dumps(doc)} for doc in DOCS]}, BOTH),
        ({"result": {"groups": [{"id": "g", "hits": DOCS}]}}, BOTH),
        ({"contexts": {"contexts": DOCS}}, BOTH),
        (
            {"results": [{"id": d["id"], "partitions": [{"text": d["text"]}]} for d in DOCS]},
            BOTH,
        ),
        (
            {"hits": {"hits": [_with_inner_hits(document) for document in DOCS]}},
            BOTH,
        ),
        ({"documents": ["Jeans", *reversed(TEXTS)], "results": POINTERS}, ONLY_TEXTS),
        ({"documents": ["Jeans", *reversed(DOCS)], "data": POINTERS}, BOTH),
        ({"texts": ["Jeans", *reversed(TEXTS)], "response": POINTERS}, ONLY_TEXTS),
        (
            {
                "candidates": [{"index": n, **doc} for n, doc in enumerate([{}, *DOCS[::-1]])],
                "ranking": POINTERS,
            },
            BOTH,
        ),
        ({"answer": {"choices": [{"message": {"content": "A"}}]}, "hits": DOCS}, BOTH),
        ({"hits": [{"docid": i, "raw": json.dumps({"contents": text})} for i, text in BOTH]}, BOTH),
    ],
)
def test_results_are_read_however_they_lie_beside_their_question(
    beside: dict[str, object], items: list[tuple[str, str]]
) -> None:
    group = read({"query": "red dress", **beside}, {"query": "boots", **beside})

    assert lists(group) == {"r": {"red dress": items, "boots": items}}
    assert "results_list_beside" not in codes(group)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"red dress": DOCS, "boots": DOCS}, {"r": {"red dress": BOTH, "boots": BOTH}}),
        ({"red dress": IDS}, {"r": {"red dress": ONLY_IDS}}),
        ({"red dress": [["d7", 2], ["d2", 1]]}, {"r": {"red dress": ONLY_IDS}}),
        ({"red dress": {"docs": DOCS, "answer": "A"}}, {"r": {"red dress": BOTH}}),
        ({"q1": {"question": "boots", "docs": DOCS}}, {"r": {"boots": BOTH}}),
        ({"q1": IDS, "q2": IDS}, {"r": {"q1": ONLY_IDS, "q2": ONLY_IDS}}),
        ({"model": "m", "results": {"red dress": {"docs": DOCS}}}, {"r": {"red dress": BOTH}}),
        (
            {"bm25": {"red dress": DOCS}, "dense": {"red dress": DOCS}},
            {"bm25": {"red dress": BOTH}, "dense": {"red dress": BOTH}},
        ),
        (
            {"bm25": {"q1": SCORES}, "dense": {"q1": SCORES}},
            {"bm25": {"q1": ONLY_IDS}, "dense": {"q1": ONLY_IDS}},
        ),
        (
            {"q1": {"d2": {"rank": 2, "score": 1}, "d7": {"rank": 1, "score": 2}}},
            {"r": {"q1": ONLY_IDS}},
        ),
        (
            {
                "run1": [{"query": "boots", "docs": DOCS}],
                "run2": [{"query": "boots", "docs": DOCS}],
            },
            {"run1": {"boots": BOTH}, "run2": {"boots": BOTH}},
        ),
        *(
            (value, {"bm25": {"boots": BOTH}, "dense": {"boots": BOTH}})
            for value in (
                {"query": "boots", "bm25": DOCS, "dense": DOCS},
                {"query": "boots", "results": {"bm25": DOCS, "dense": DOCS}},
            )
        ),
        (
            {"winter boots": {"bm25": DOCS, "dense": DOCS}},
            {"bm25": {"winter boots": BOTH}, "dense": {"winter boots": BOTH}},
        ),
        (
            {"queries": {"q1": "boots", "q2": "red dress"}, "results": {"q1": IDS, "q2": IDS}},
            {"r": {"boots": ONLY_IDS, "red dress": ONLY_IDS}},
        ),
        (
            {"queries": [{"id": "q1", "text": "boots"}], "results": {"q1": DOCS}},
            {"r": {"boots": BOTH}},
        ),
        ({"query": {"0": "boots"}, "contexts": {"0": TEXTS}}, {"r": {"boots": ONLY_TEXTS}}),
        ({"red dress": dict(BOTH)}, {"r": {"red dress": BOTH}}),
        ({"q1": dict(BOTH), "q2": dict(BOTH)}, {"r": {"q1": BOTH, "q2": BOTH}}),
    ],
)
def test_keys_are_questions_or_systems(
    value: Json, expected: dict[str, dict[str, list[tuple[str, str]]]]
) -> None:
    assert lists(read(value)) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"organic": DOCS, "related": DOCS},  # which are no questions
        {"query": "boots", "sources": [{"content": TEXTS}]},  # results in whatever order
        {"query": "boots", "results": [[0, 0.9], [1, 0.8]]},  # places in a list nobody has
        {"query": "boots", "results": [{"corpus_id": 0, "score": 0.9}]},
        {"query": ["boots", "red dress"], "results": DOCS},
        {"queries": {"u1": "boots"}, "corpus": {"d7": "A"}, "relevant_docs": {"u1": ["d7"]}},
        {"query": "boots", "answer": "A", "references": TEXTS},  # what the answer should be
    ],
)
def test_what_may_mean_several_is_refused(value: Json) -> None:
    with pytest.raises(ImportRefused):
        read(value)


RED = {"query": "red dress"}
NET = [{"Id": document["id"], "Text": document["text"]} for document in DOCS]
FOUND = [
    {"type": "search_result", "title": i, "content": [{"type": "text", "text": text}]}
    for i, text in BOTH
]
CALL = {"type": "file_search_call", "queries": ["red dress"], "results": DOCS}
SAID = {"role": "assistant", "content": [{"type": "text", "text": "This one."}]}
SOLR: dict[str, object] = {"responseHeader": {"params": {"q": "red dress"}}}


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ({"Query": "red dress", "Results": NET}, BOTH),
        ({"QUERY": "red dress", "HITS": [{"ID": i, "TEXT": text} for i, text in BOTH]}, BOTH),
        ({"Query": "red dress", "Value": [{"Score": 1, "Document": doc} for doc in NET]}, BOTH),
        ({"Query": "red dress", "Hits": [{"Score": 1, "Source": source} for source in NET]}, BOTH),
        ({"UserInput": "red dress", "RetrievedContexts": TEXTS}, ONLY_TEXTS),
        ({"SearchText": "red dress", "SearchResults": {"Results": NET}}, BOTH),
        ([{"json": {**RED, "documents": DOCS}, "pairedItem": {"item": 0}}], BOTH),
        ([{"json": {"chatInput": "red dress", "document": doc}} for doc in DOCS], BOTH),
        ({**SOLR, "grouped": {"type": {"groups": [{"doclist": {"docs": DOCS}}]}}}, BOTH),
        ({**SOLR, "grouped": {"type": {"doclist": {"docs": DOCS}}}}, BOTH),
        ({"request_params": {"q": "red dress"},
          "grouped_hits": [{"hits": [{"document": document}]} for document in DOCS]}, BOTH),
        ({"request": {**RED, "documents": ["Jeans", *reversed(TEXTS)]},
          "response": {"results": POINTERS}}, ONLY_TEXTS),
        ({"request": {"input": "red dress"}, "response": {"output": [CALL, SAID]}}, BOTH),
        ({"object": "response", "output": [CALL, SAID]}, BOTH),
        ({"messages": [{"role": "user", "content": [*FOUND, {"type": "text", "text": "red dress"}]},
                       SAID]}, ONLY_TEXTS),
        ({"messages": [{"role": "user", "content": "red dress"},
                       {"role": "user", "content": [{"type": "tool_result", "content": FOUND}]}],
          "response": SAID}, ONLY_TEXTS),
        ({"inputs": {"question": ["red dress", "boots"], "contexts": [TEXTS, ["Boots"]]},
          "results": {"mrr": {"score": 1.0}}}, ONLY_TEXTS),
        ([{"run_type": "chain", "inputs": RED, "outputs": {"answer": "A"}},
          {"run_type": "retriever", "inputs": RED, "outputs": {"documents": DOCS}}], BOTH),
        ({**RED, "results": [{"id": i, "document": {"struct_data": {"text": text}}}
                             for i, text in BOTH]}, BOTH),
        ({**RED, "retrievalResults": [
            {"content": {"text": text}, "location": {"type": "WEB", "webLocation": {"url": i}}}
            for i, text in BOTH]}, BOTH),
        ({"testCases": [{"input": "red dress", "retrievalContext": TEXTS}],
          "metricsScores": []}, ONLY_TEXTS),
        ({**RED, "source_nodes": [{"node": {"id_": i, "text_resource": {"text": text}}}
                                  for i, text in BOTH]}, BOTH),
        ([{"id": "c", "chat": {"messages": [{"role": "user", "content": "red dress"},
                                            {**SAID, "sources": DOCS}]}}], BOTH),
        ({"queries": ["red dress", "boots"],
          "results": {"ids": [IDS, ["e1"]], "documents": [TEXTS, ["Boots"]]}}, BOTH),
        ({"info": {}, "data": {"spans": [
            {"name": "r", "span_id": "s", "attributes": {
                "mlflow.spanType": '"RETRIEVER"', "mlflow.spanInputs": '"red dress"',
                "mlflow.spanOutputs": json.dumps(DOCS)}},
            {"name": "llm", "span_id": "t", "attributes": {"mlflow.spanType": '"LLM"'}}]}},
         BOTH),
        ({**RED, "retrieved_contents": [TEXTS], "retrieved_ids": [IDS],
          "retrieve_scores": [[3, 2]]}, BOTH),
        ({**RED, "candidates": [{"grounding_metadata": {"grounding_chunks": [
            {"retrieved_context": {"text": text}} for text in TEXTS]}}]}, ONLY_TEXTS),
        ({**RED, "steps": {"data": [
            {"id": "s2", "step_details": {"message_creation": {"message_id": "m"}}},
            {"id": "s1", "step_details": {"tool_calls": [{"file_search": {"results": [
                {"file_id": i, "content": [{"type": "text", "text": text}]}
                for i, text in BOTH]}}]}}]}}, BOTH),
        ({"response": {"code": 0, "data": {"chunks": DOCS, "total": 2}}, "question": "red dress"},
         BOTH),
        *(({**RED, name: DOCS, "answer": "A"}, BOTH) for name in ("references", "evidence")),
        ({"request": "red dress", "results": dict(BOTH)}, BOTH),
        ({"inputs": {"text": "red dress"}, "result": {"hits": [
            {"_id": i, "fields": {"chunk_text": text}} for i, text in BOTH]}}, BOTH),
        ({"input": {"input": "red dress"}, "output": {"output": "A", "documents": DOCS}}, BOTH),
        ({"inputs": {"example": {"question": "red dress"}}, "output": {"documents": DOCS}}, BOTH),
        ({"request": {"query": {"neural": {"v": {"query_text": "red dress", "k": 5}}}},
          "hits": {"hits": DOCS}}, BOTH),
        ({**RED, "retrieved_document_ids": IDS, "retrieved_texts": TEXTS}, BOTH),
        ({**RED, "data": [[{"pk": i, "distance": 1, "entity": {"text": text}}
                           for i, text in BOTH]]}, BOTH),
        ({**RED, "results": [json.dumps(DOCS[0]), str(DOCS[1])]}, BOTH),
    ],
)  # fmt: skip
def test_a_question_and_its_results_are_read_as_a_tool_writes_them(
    value: Json, items: list[tuple[str, str]]
) -> None:
    group = read(value)

    (run,) = group.runs
    query = run.queries[0]
    assert (run.search_method, query.external_id, query.question) == ("r", None, "red dress")
    assert [(card.doc_id or "", card.text) for card in query.cards] == items
    assert not any(problem.severity == "error" for problem in group.problems)


@pytest.mark.parametrize(
    "value",
    [
        {"q1": {"map": 0.5, "ndcg_cut_10": 0.4}, "q2": {"map": 0.2, "ndcg_cut_10": 0.1}},
        {"map": {"q1": 0.5}, "mrr@10": {"q1": 1.0}},
        {"ndcg": {"NDCG@1": 0.2, "NDCG@10": 0.3}, "map": {"MAP@1": 0.1}},
        {"NDCG@1": 0.2, "NDCG@10": 0.3},
        {"task_name": "T", "scores": {"test": [{"ndcg_at_10": 0.5, "main_score": 0.5}]}},
        {"metrics": ["map@100"], "bm25": {"scores": {"map@100": 0.2}, "comparisons": {}}},
    ],
)
def test_figures_of_measures_are_no_run(value: Json) -> None:
    with pytest.raises(ImportRefused) as refused:
        read(value)

    assert refused.value.problem.code == "results_of_measures"


@pytest.mark.parametrize("column", ["text", "hits"])
@pytest.mark.parametrize("cell", ["[Document(page_content='A')]", "page_content='A' metadata={}"])
def test_a_table_of_printed_objects_is_refused(column: str, cell: str) -> None:
    with pytest.raises(ImportRefused) as refused:
        read_files([("r.csv", f"query,{column}\nred dress,{cell}\n".encode())])

    assert refused.value.problem.code == "results_printed"


def test_arrays_of_a_database_and_pairs_of_python_are_lists_in_cells() -> None:
    arrays = b'query,doc_ids,scores\nred dress,"{d7,d2}","{0.9,0.8}"\n'
    pairs = b"""query,results\nred dress,"[('d7', 0.9), ('d2', 0.8)]"\n"""

    for table in (arrays, pairs):
        (run,) = read_files([("r.csv", table)]).runs
        cards = [(card.doc_id, card.score) for card in run.queries[0].cards]
        assert cards == [("d7", 0.9), ("d2", 0.8)]


@pytest.mark.parametrize(
    "table",
    [
        "Pertanyaan;Dokumen 1;Dokumen 2\nred dress;d7;d2\n",
        "query;rank1;rank2\nred dress;d7;d2\n",
        "query;doc_0;doc_1\nred dress;d7;d2\n",
        "query;doc_2;doc_1\nred dress;d2;d7\n",
        "query;top_1_id;top_1_score;top_2_id;top_2_score\nred dress;d7;2;d2;1\n",
        "question;expected_docs;retrieved_docs\nred dress;d7;d7, d2\n",
        "pertanyaan;peringkat;kode dokumen;isi dokumen\nred dress;1;d7;\nred dress;2;d2;\n",
    ],
)
def test_a_table_with_a_column_for_each_place_has_a_list(table: str) -> None:
    assert lists(read_files([("r.csv", table.encode())])) == {"r": {"red dress": ONLY_IDS}}


def test_an_order_that_only_the_file_gives_is_named() -> None:
    rows = "red dress,d7\nred dress,d2\n"

    assert "results_order_assumed" in codes(read_files([("r.csv", f"query,id\n{rows}".encode())]))


def test_a_list_of_results_in_a_column_that_nobody_knows_is_guessed_at() -> None:
    table = b'query,best\nred dress,"[{""id"": ""d7"", ""text"": ""A""}]"\n'

    assert read_files([("r.csv", table)]).columns["items"] == "best"


def test_an_answer_beside_lists_that_nobody_knows_is_no_result() -> None:
    group = read({"question": "boots", "text": "The lined ones.", "grounds": DOCS})

    assert (group.runs, group.columns["items"]) == ((), "grounds")


def test_what_is_left_out_of_a_row_is_named() -> None:
    labels = [{"value": "relevant"}]
    row = {"query": "boots", "text": "A", "tags": ["b", "c"], "responses": {"label": labels}}

    group = read(row, {**row, "text": "B", "answer": "yes"}, {**row, "text": "C", "answer": "no"})

    (names,) = (p.details["names"] for p in group.problems if p.code == "results_values_left")
    assert names == "responses"
    assert group.runs[0].queries[0].cards[0].meta["tags"] == "b, c"
    assert "results_answer_differs" in codes(group)


@pytest.mark.parametrize("line", ["{}\t{}\t{}\t9.5\n", "{}\t{}\t0.{}5\n"])
def test_lines_with_a_score_at_their_end_are_a_run(line: str) -> None:
    lines_of = "".join(line.format(1, f"d{n}", n) for n in (1, 2))

    (run,) = read_files([("ranking.tsv", lines_of.encode())]).runs

    assert {card.doc_id for card in run.queries[0].cards} == {"d1", "d2"}
    assert all(card.score for card in run.queries[0].cards)
    assert not read_files([("qrels.tsv", lines_of.encode())]).runs


def test_lines_of_a_question_and_two_numbers_are_a_run_only_if_one_is_its_first_rank() -> None:
    assert read_files([("t.tsv", b"1\t10\t1\n1\t11\t2\n")]).runs
    assert not read_files([("t.tsv", b"1\t10\t20\n1\t11\t21\n")]).runs


def test_what_trec_eval_prints_is_no_run() -> None:
    with pytest.raises(ImportRefused) as refused:
        read_files([("e.txt", b"num_q \tall\t2\nmap \tall\t0.5\nP_10 \tall\t0.2\n")])

    assert refused.value.problem.code == "results_of_measures"


def test_documents_that_are_called_like_a_measure_are_a_run() -> None:
    assert lists(read({"q1": {"p5": 0.5, "map": 0.4}})) == {"r": {"q1": [("p5", ""), ("map", "")]}}


@pytest.mark.parametrize("key", ["run_type", "trace_id", "object", "output", "session_id"])
def test_the_id_of_a_call_is_none_of_its_question(key: str) -> None:
    (run,) = read({"id": "c7", "input": "boots", key: "a", "documents": DOCS}).runs

    assert (run.queries[0].external_id, run.queries[0].question) == (None, "boots")


def test_keys_that_differ_in_case_alone_stay_apart() -> None:
    value = {"query": "boots", "Query": "other", "results": DOCS, "Results": []}

    assert lists(read(value)) == {"r": {"boots": BOTH}}


@pytest.mark.parametrize(
    "answer",
    [
        [SAID],
        ["Line one", "Line two"],
        [{"type": "text", "text": "This one."}],
        [{"text": "This one."}],
        [{"text": "This one.", "index": 0, "finish_reason": "stop"}],
    ],
)
def test_a_list_of_messages_or_lines_is_no_list_of_results(answer: list[object]) -> None:
    group = read({"query": "boots", "hits": DOCS, "response": answer})

    assert lists(group) == {"r": {"boots": BOTH}}
    assert not group.problems
    try:
        alone = read({"query": "boots", "response": answer})
    except ImportRefused:
        return
    assert not alone.runs


def test_a_filter_of_a_search_is_not_its_question() -> None:
    looked_for = [{"match": {"body": "boots"}}]
    query = {"bool": {"filter": [{"term": {"lang": "en"}}], "must": looked_for}}
    hits = [{"_id": document["id"], "_source": document} for document in DOCS]

    assert lists(read({"query": query, "hits": {"hits": hits}})) == {"r": {"boots": BOTH}}


@pytest.mark.parametrize("grades", [(2, 0), (True, False)])
def test_whole_numbers_and_truth_values_of_results_are_grades(grades: tuple[int, int]) -> None:
    graded = [{**doc, "relevant": grade} for doc, grade in zip(DOCS, grades, strict=True)]

    judged = read({"query": "boots", "results": graded}).judged

    assert [grade.verdict for grade in judged] == [str(int(grade)) for grade in grades]
    scored = [{**doc, "relevance": number} for doc, number in zip(DOCS, (1, 0.9), strict=True)]
    assert not read({"query": "boots", "results": scored}).judged


def test_results_by_their_ranks_keep_them() -> None:
    (run,) = read({"query": "boots", "results": {"1": DOCS[0], "3": DOCS[1]}}).runs

    assert run.queries[0].holes == (2,)


@pytest.mark.parametrize(
    "beside",
    [
        {"status": "error"},
        {"status": 503},
        {"exception": "ReadTimeout"},
        {"error": {"type": "search_phase_execution_exception"}},
        {"timed_out": True},
        {"success": False},
    ],
)
def test_a_call_that_failed_is_no_empty_list(beside: dict[str, object]) -> None:
    group = read({"query": "boots", **beside, "results": []}, {"query": "a", "hits": DOCS})

    failed = group.runs[0].queries[0]
    assert failed.state is QueryState.FAILED
    assert failed.error


def test_an_empty_list_beside_no_error_is_one() -> None:
    beside = {"error": False, "errors": [], "exception": None, "status": 200, "timeout": 30}
    group = read({"query": "boots", **beside, "results": []}, {"query": "a", "hits": DOCS})

    assert group.runs[0].queries[0].state is QueryState.EMPTY


@pytest.mark.parametrize("text", ["null", "7", '"red dress"', '["a"]', json.dumps(DOCS)])
def test_a_line_that_is_no_question_is_named(text: str) -> None:
    line = json.dumps({"query": "boots", "results": DOCS})
    group = read_files([("r.jsonl", f"{line}\n{text}\n".encode())])

    assert lists(group) == {"r": {"boots": BOTH}}
    assert {problem.line for problem in group.problems if problem.severity == "error"} == {2}


def test_lists_of_other_lengths_side_by_side_are_named() -> None:
    value = {"query_texts": ["boots"], "ids": [[*IDS, "d5"]], "documents": [[DOCS[0]]]}

    assert "results_list_beside" in codes(read([value]))


@pytest.mark.parametrize("name", ["doc_id", "id", "_id"])
def test_an_id_that_is_several_is_none_and_named(name: str) -> None:
    group = read({"query": "boots", "results": [{name: IDS, "text": TEXTS[0]}, {name: ["d2"]}]})

    assert lists(group) == {"r": {"boots": [("", TEXTS[0]), ("d2", "")]}}
    assert "results_ids_several" in codes(group)
    rows = [
        {"query": "boots", name: ids, "text": text} for ids, text in zip(IDS, TEXTS, strict=True)
    ]
    with pytest.raises(ImportRefused) as refused:
        read(rows[0], rows[1] | {name: IDS})
    assert refused.value.problem.code == "results_value_nested"


def test_a_list_is_no_id_where_a_result_has_another() -> None:
    result = {"id": IDS, "document": {"id": "d7", "text": TEXTS[0]}}

    assert lists(read({"query": "boots", "results": [result]})) == {"r": {"boots": BOTH[:1]}}


CHUNKS = [{"chunk_id": f"c{n}", "document_id": "d7", "text": text} for n, text in enumerate(TEXTS)]
RETRIEVED = [
    {
        "content": {"text": text},
        "location": {"s3Location": {"uri": "s3://d7"}},
        "metadata": {"x-amz-bedrock-kb-chunk-id": f"c{n}"},
    }
    for n, text in enumerate(TEXTS)
]


@pytest.mark.parametrize(
    ("listed", "lost"),
    [
        (CHUNKS, {"document_id": "d7", "text": TEXTS[1]}),
        (RETRIEVED, {**RETRIEVED[1], "metadata": {}}),
    ],
)
def test_a_result_that_lost_its_id_has_not_that_of_its_document(
    listed: list[Json], lost: Json
) -> None:
    def ids(*results: object) -> list[str | None]:
        group = read({"query": "boots", "results": [*results]})
        return [card.doc_id for card in group.runs[0].queries[0].cards]

    assert ids(*listed) == ["c0", "c1"]
    assert ids(listed[0], lost) == ["c0", None]


def test_a_row_that_lost_its_id_has_not_that_of_its_document() -> None:
    rows = [{"query": "boots", "rank": n, **chunk} for n, chunk in enumerate(CHUNKS, 1)]
    del rows[1]["chunk_id"]

    assert lists(read(*rows)) == {"r": {"boots": [("c0", TEXTS[0]), ("", TEXTS[1])]}}


def test_results_with_ids_of_other_names_keep_them() -> None:
    results = [DOCS[0], {"doc_id": "d2", "text": TEXTS[1]}]

    assert lists(read({"query": "boots", "results": results})) == {"r": {"boots": BOTH}}


def test_an_id_that_a_person_chose_is_not_told_to_be_another() -> None:
    rows = [{"query": "boots", "rank": n, **chunk} for n, chunk in enumerate(CHUNKS, 1)]
    lines = "\n".join(map(json.dumps, rows)).encode()

    group = read_files([("r.jsonl", lines)], Choices(columns={"doc_id": "document_id"}))
    assert "results_ids_chosen" not in codes(group)


def test_results_that_all_state_one_rank_are_named() -> None:
    group = read({"query": "boots", "results": [{**document, "rank": 1} for document in DOCS]})

    assert "results_ranks_equal" in codes(group)


def test_a_question_beside_its_id_keeps_its_text() -> None:
    assert lists(read({"qid": "7", "query": "boots", "hits": DOCS})) == {"r": {"boots": BOTH}}


def test_what_should_be_in_the_results_is_no_result() -> None:
    value = {"query": "boots", "positive_passages": DOCS, "negative_passages": DOCS}

    assert not read(value).runs


def test_an_item_with_lists_of_texts_is_a_result_for_each() -> None:
    source = {"source": {"name": "f"}, "document": TEXTS, "metadata": [{}, {}]}  # Open WebUI

    group = read({"question": "boots", "sources": [{**source, "distances": [0.1, 0.2]}]})

    assert lists(group) == {"r": {"boots": ONLY_TEXTS}}


@pytest.mark.parametrize(
    ("name", "second"),
    [("passages_reranked", [*reversed(DOCS)]), ("context_ids", ["d7"]), ("scores", [0.9])],
)
def test_a_second_list_of_a_question_is_named(name: str, second: list[object]) -> None:
    group = read({"question": "boots", "passages": DOCS, name: second})

    assert [p.details["place"] for p in group.problems if p.code == "results_list_beside"] == [name]


def test_a_list_beside_one_that_lies_deeper_is_named() -> None:
    related = [{"text": "Skirts", "count": 3}]

    group = read({"question": "boots", "results": {"context": DOCS, "related": related}})

    places = [p.details["place"] for p in group.problems if p.code == "results_list_beside"]
    assert places == ["results.related"]
    assert lists(group) == {"r": {"boots": BOTH}}


@pytest.mark.parametrize("beside", [{}, {"news": {"results": DOCS[:1]}}])
def test_a_list_in_an_object_beside_the_one_that_is_read_is_named(
    beside: dict[str, object],
) -> None:
    documents = [{"content": text, "id": i} for i, text in BOTH]

    web = read({"question": "boots", "web": {"results": DOCS}, **beside})
    pipeline = read({"question": "boots", "retriever": {"documents": documents}, **beside})

    for group in (web, pipeline):
        places = [p.details["place"] for p in group.problems if p.code == "results_list_beside"]
        assert places == [f"{name}.results" for name in beside]
        assert lists(group) == {"r": {"boots": BOTH}}


SCORED = [{**document, "score": 0.5} for document in DOCS]


@pytest.mark.parametrize(
    ("beside", "names", "items"),
    [
        ({"results": {"BM25": DOCS, "Context": DOCS}}, ("BM25", "Context"), BOTH),
        ({"results": {"documents": DOCS, "passages": DOCS}}, ("documents", "passages"), BOTH),
        ({"results": {"bm25": DOCS, "dense": SCORED}}, ("bm25", "dense"), BOTH),
        ({"results": {"bm25": IDS, "dense": IDS}}, ("bm25", "dense"), ONLY_IDS),
        ({"contexts": {"naive": TEXTS, "hyde": TEXTS}}, ("naive", "hyde"), ONLY_TEXTS),
        ({"outputs": {"bm25": {"hits": DOCS}, "dense": {"hits": DOCS}}}, ("bm25", "dense"), BOTH),
        ({"runs": [{"name": name, "hits": DOCS} for name in "ab"]}, ("a", "b"), BOTH),
        ({"lists": [{"system": name, "hits": DOCS} for name in "ab"]}, ("a", "b"), BOTH),
        ({name: {"documents": DOCS} for name in ("bm25", "dense")}, ("bm25", "dense"), BOTH),
    ],
)
def test_each_list_of_a_question_is_read_for_the_system_it_is_called_after(
    beside: dict[str, object], names: tuple[str, str], items: list[tuple[str, str]]
) -> None:
    group = read({"id": "q1", "query": "boots", **beside})

    assert lists(group) == {name: {"boots": items} for name in names}
    assert "results_list_beside" not in codes(group)


def test_a_system_with_an_empty_list_has_found_nothing() -> None:
    values = (
        {"query": name, "results": {"bm25": DOCS, "dense": DOCS[:n]}} for n, name in enumerate("ab")
    )

    assert lists(read(*values))["dense"] == {"a": [], "b": BOTH[:1]}


def test_a_question_with_two_lists_of_one_system_is_reported() -> None:
    group = read(*({"query": "boots", "flavour": name, "results": DOCS} for name in "ab"))

    assert "results_asked_again" in codes(group)


def test_a_score_in_words_is_reported_and_one_with_a_comma_read() -> None:
    scored = [{"id": "d7", "score": "0,9"}, {"id": "d2", "score": "high"}]

    group = read({"query": "boots", "results": scored})

    assert [card.score for card in group.runs[0].queries[0].cards] == [0.9, None]
    assert "results_scores_unusable" in codes(group)


def test_the_document_of_a_row_has_its_own_id() -> None:
    rows = ({"query": "boots", "rank": n, "doc": doc} for n, doc in enumerate(DOCS, 1))

    assert lists(read(*rows)) == {"r": {"boots": BOTH}}


def test_values_of_mongodb_are_read_as_they_are_meant() -> None:
    score = {"$numberDouble": "0.5"}

    group = read({"query": "boots", "doc_id": {"$oid": "d7"}, "text": "A", "score": score})

    (card,) = group.runs[0].queries[0].cards
    assert (card.doc_id, card.score) == ("d7", 0.5)


def test_a_conversation_with_a_tool_has_the_results_after_its_last_question() -> None:
    earlier = {"type": "tool", "content": "", "artifact": [{"page_content": "Other"}]}
    turns = [
        {"type": "human", "content": "boots"},
        earlier,
        {"type": "human", "content": "red dress"},
        {"type": "tool", "content": "", "artifact": DOCS},
        {"type": "ai", "content": "This one."},
    ]

    group = read({"messages": turns})

    assert lists(group) == {"r": {"red dress": BOTH}}
    assert group.runs[0].queries[0].response == "This one."


RANKED = [{"position": n, "link": f"https://l/{i}", "snip": t} for n, (i, t) in enumerate(BOTH, 1)]


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "search#list", "id": "a1", "looked for": "red dress", "found": RANKED},
        {
            "kind": "x",
            "queries": {"request": [{"title": "y", "term": "red dress"}]},
            "found": RANKED,
        },
        {"ts": "2026-01-01 10:00", "body": {"utterance": "red dress"}, "out": {"best": RANKED}},
        {"question": "red dress", "steps": [{"type": "thought", "text": "Look"}, {"seen": RANKED}]},
        {"run": "r 1", "asked": [{"user_says": "red dress", "candidate list": RANKED}]},
        {"QueryText": "red dress", "HitParade": [{"Ref": r["link"], **r} for r in RANKED]},
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_a_guess_as_it_is_printed_imports_the_file(value: dict[str, object], count: int) -> None:
    values = [json.loads(json.dumps(value).replace("red", name)) for name in ("red", "blue")]
    dropped = [("r.jsonl", "\n".join(map(json.dumps, values[:count])).encode())]
    (problem,) = read_files(dropped).problems

    option, *_ = shlex.split(message(problem).partition("--map ")[2])
    columns = dict(part.split("=", 1) for part in option.split(","))
    group = read_files(dropped, Choices(columns=columns))

    links = [("https://l/d7", TEXTS[0]), ("https://l/d2", TEXTS[1])]
    questions = [query.question for query in group.runs[0].queries]
    assert questions == ["red dress", "blue dress"][:count]
    assert [(card.doc_id, card.text) for card in group.runs[0].queries[0].cards] == links


CELLS = [["d7", TEXTS[0], 0.9], ["d2", TEXTS[1], 0.8]]
COLUMNS = [{"name": "id"}, {"name": "text"}, {"name": "score"}]


@pytest.mark.parametrize(
    "answer",
    [
        {"manifest": {"columns": COLUMNS}, "result": {"row_count": 2, "data_array": CELLS}},
        {"columns": COLUMNS, "values": CELLS},
        {"columns": ["text", "id"], "rows": [[text, name] for name, text, _ in CELLS]},
    ],
)
def test_rows_of_cells_are_results_by_the_names_of_their_columns(answer: Json) -> None:
    assert lists(read({"query": "boots", "response": answer})) == {"r": {"boots": BOTH}}


@pytest.mark.parametrize("name", ["response", "engine_response", "solr", "payload"])
def test_what_stands_beside_a_list_in_an_envelope_is_of_its_question(name: str) -> None:
    answer = {"answer": "These.", "system": "bm25", "results": DOCS}
    failed = {"results": [], "error": "timeout"}

    group = read({"query": "boots", name: answer}, {"query": "red", "response": failed})

    assert lists(group) == {"bm25": {"boots": BOTH, "red": []}, "r": {"boots": [], "red": []}}
    assert group.runs[0].queries[0].response == "These."
    assert group.runs[1].queries[1].state is QueryState.FAILED


@pytest.mark.parametrize("nothing", [None, {}])
def test_nothing_in_place_of_a_list_leaves_the_other_lists(nothing: object) -> None:
    group = read(
        {"query": "boots", "contexts": nothing, "chunks": DOCS}, {"query": "red", "hits": nothing}
    )

    assert lists(group) == {"r": {"boots": BOTH, "red": []}}


def test_a_question_around_others_is_named() -> None:
    inner = [{"query": name, "results": DOCS} for name in ("boots", "red")]

    group = read({"query": "what to wear", "sub_questions": inner})
    with_list = read({"query": "what to wear", "results": DOCS, "sub_questions": inner})

    assert lists(group) == {"r": {"boots": BOTH, "red": BOTH}}
    assert "results_outer_question" in codes(group)
    assert lists(with_list) == {"r": {"what to wear": BOTH}}
    assert "results_list_beside" in codes(with_list)


def test_the_list_of_a_system_beside_a_question_may_be_empty() -> None:
    group = read(
        {"query": "boots", "bm25": [], "dense": DOCS},
        {"query": "red", "bm25": DOCS, "dense": DOCS},
        {"query": "hat", "bm25": [], "dense": []},
    )

    assert lists(group) == {
        "bm25": {"boots": [], "red": BOTH, "hat": []},
        "dense": {"boots": BOTH, "red": BOTH, "hat": []},
    }


@pytest.mark.parametrize("failed", [{"error": "timeout"}, "ERROR 500"])
@pytest.mark.parametrize("place", ["", "results", "hasil"])
def test_what_stands_for_the_list_of_a_system_is_no_empty_list(failed: object, place: str) -> None:
    boots: dict[str, object] = {"bm25": DOCS, "dense": failed}
    red: dict[str, object] = {"bm25": DOCS, "dense": DOCS}
    if place:
        boots, red = {place: boots}, {place: red}

    group = read({"query": "boots"} | boots, {"query": "red"} | red)

    states = {run.search_method: run.queries[0].state for run in group.runs}
    assert states["bm25"] is QueryState.RESULTS
    assert states["dense"] in (QueryState.FAILED, QueryState.UNREADABLE)
    assert lists(group)["dense"]["red"] == BOTH


def test_a_system_of_a_question_by_its_key_may_have_failed() -> None:
    group = read({"q1": {"a": DOCS, "b": {"error": "timeout"}}, "q2": {"a": DOCS, "b": DOCS}})

    states = {run.search_method: run.queries[0].state for run in group.runs}
    assert states == {"a": QueryState.RESULTS, "b": QueryState.FAILED}


@pytest.mark.parametrize("failed", [{"error": "timeout"}, {"response": {"error": {"type": "x"}}}])
def test_a_call_that_failed_without_a_list_stays_a_question(failed: dict[str, object]) -> None:
    group = read({"query": "boots", **failed}, {"query": "red", "results": DOCS})

    assert group.runs[0].queries[0].state is QueryState.FAILED
    assert "results_no_list" in codes(group)


@pytest.mark.parametrize("name", ["embedding_model", "index", "metode"])
def test_lists_of_one_question_are_told_apart_by_the_only_name_that_can(name: str) -> None:
    rows = [{"query": q, name: s, "results": DOCS} for q in ("boots", "red") for s in ("a", "b")]

    assert lists(read(*rows)) == {s: {"boots": BOTH, "red": BOTH} for s in ("a", "b")}


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("tanggal", ("1 Mei", "2 Mei")),
        ("createdAt", ("x1", "x2")),
        ("user", ("ani", "budi")),
        ("answer", ("yes", "no")),
        ("stamp", ("2026-05-01T08:00", "2026-05-02T08:00")),
        ("key", ("9f1c2d3", "8a7b6c5")),
    ],
)
def test_questions_asked_again_on_another_occasion_are_of_one_system(
    name: str, texts: tuple[str, str]
) -> None:
    rows = [{"query": q, name: text, "results": DOCS} for text in texts for q in ("boots", "red")]

    group = read(*rows)

    assert [run.search_method for run in group.runs] == ["r"]
    assert "results_asked_again" in codes(group)


def test_systems_are_told_apart_by_a_name_beside_that_of_the_occasion() -> None:
    rows = [
        {"query": q, "mode": f"{s}-mode", "date": s, "results": DOCS}
        for q in ("a", "b")
        for s in "xy"
    ]

    assert lists(read(*rows)).keys() == {"x-mode", "y-mode"}


@pytest.mark.parametrize("place", ["runs", "results"])
@pytest.mark.parametrize("names", [["bm25"], ["bm25", "e5"]])
def test_ids_of_questions_are_no_systems_whatever_is_around_them(
    place: str, names: list[str]
) -> None:
    by_question = {place: {q: dict.fromkeys(names, DOCS) for q in ("q1", "q2")}}
    by_system = {place: {name: {"q1": DOCS, "q2": DOCS} for name in (*names, "v2")}}

    assert lists(read(by_question)) == {name: {"q1": BOTH, "q2": BOTH} for name in names}
    assert lists(read(by_system)) == {name: {"q1": BOTH, "q2": BOTH} for name in (*names, "v2")}


def test_the_only_system_of_questions_by_their_ids_may_have_found_nothing() -> None:
    group = read({"runs": {"q1": {"bm25": DOCS}, "q2": {"bm25": []}}})

    assert lists(group) == {"bm25": {"q1": BOTH, "q2": []}}


@pytest.mark.parametrize(
    ("value", "systems", "questions"),
    [
        ({"runs": {"1": {"bm25": DOCS}}}, {"bm25"}, {"1"}),
        ({"runs": {"1": {"q1": DOCS}}}, {"1"}, {"q1"}),
        ({"results": {"bm25": {"q1": DOCS}}}, {"bm25"}, {"q1"}),
        ({"bm25": {"red dress": DOCS}}, {"bm25"}, {"red dress"}),
        ({"results": {"questions": {"q1": DOCS}}}, {"r"}, {"q1"}),
        ({"systems": {"q1": DOCS}}, {"r"}, {"q1"}),
        ({"BM25 (k1)": {"q1": DOCS}, "E5 v2": {"q1": DOCS}}, {"BM25 (k1)", "E5 v2"}, {"q1"}),
        ({"size 42 boots": {"bm25": DOCS, "e5": DOCS}}, {"bm25", "e5"}, {"size 42 boots"}),
    ],
)
def test_of_two_names_around_a_list_one_is_the_system(
    value: Json, systems: set[str], questions: set[str]
) -> None:
    names = lists(read(value))

    assert names.keys() == systems
    assert {question for by_question in names.values() for question in by_question} == questions


def test_questions_by_names_that_are_none_are_of_one_system() -> None:
    questions = [{"query": name, "results": DOCS} for name in ("boots", "red")]

    by_name = dict(zip(("first", "second"), questions, strict=True))
    by_part = {
        name: [question] for name, question in zip(("train", "test"), questions, strict=True)
    }

    assert lists(read(by_name)) == lists(read(by_part)) == {"r": {"boots": BOTH, "red": BOTH}}


def test_questions_by_names_with_digits_are_no_results() -> None:
    questions = [{"id": "q1", "query": "boots", "results": DOCS}]

    assert lists(read({"x": 1, "runs": {"bm25": questions}})) == {"bm25": {"boots": BOTH}}


@pytest.mark.parametrize("form", ["lines", "list", "inner list"])
def test_systems_one_after_the_other_are_told_apart_however_many_questions_they_have(
    form: str,
) -> None:
    rows = [
        {"query": f"boots {n}", "mode": mode, "results": DOCS}
        for mode in ("bm25", "dense")
        for n in range(60)
    ]
    values: dict[str, list[object]] = {
        "lines": [*rows],
        "list": [rows],
        "inner list": [{"date": "May", "cases": rows}],
    }

    assert {name: len(queries) for name, queries in lists(read(*values[form])).items()} == {
        "bm25": 60,
        "dense": 60,
    }


def test_a_run_around_systems_leaves_them_their_names() -> None:
    rows = [
        {"query": q, "method": method, "results": DOCS}
        for method in ("bm25", "dense")
        for q in ("boots", "red")
    ]

    assert lists(read({"experiment": "May", "cases": rows})).keys() == {"bm25", "dense"}


def test_lists_that_several_names_tell_apart_are_of_one_system() -> None:
    rows = [
        {"query": q, "index": s, "host": s, "hits": DOCS} for q in ("boots", "red") for s in "ab"
    ]

    group = read(*rows)

    assert [run.search_method for run in group.runs] == ["r"]
    assert "results_asked_again" in codes(group)


@pytest.mark.parametrize("listed", [DOCS, {"hits": {"hits": DOCS}}, {"value": DOCS}])
def test_a_list_of_anything_beside_those_of_systems_leaves_them(listed: Json) -> None:
    both = {"bm25": listed, "dense": listed}

    group = read({"query": "red", "tags": ["a"], "usage": [{"tokens": 3}], **both})

    assert lists(group) == {"bm25": {"red": BOTH}, "dense": {"red": BOTH}}


@pytest.mark.parametrize("name", ["data", "conversations"])
def test_conversations_in_a_list_beside_anything_are_read(name: str) -> None:
    reply = {"role": "tool", "content": json.dumps(DOCS)}
    turns = [{"role": "user", "content": "red"}, reply, {"role": "assistant", "content": "A"}]

    assert lists(read({"count": 1, name: [{"messages": turns}]})) == {"r": {"red": BOTH}}


def test_rows_beside_anything_are_a_table() -> None:
    rows = [{"query": "red", "rank": n, **doc} for n, doc in enumerate(DOCS, 1)]

    assert lists(read({"run": {"top_k": 3}, "records": rows})) == {"r": {"red": BOTH}}


def test_an_id_that_questions_share_leaves_each_its_words() -> None:
    group = read(*({"id": "s1", "query": q, "results": DOCS} for q in ("boots", "red")))

    assert lists(group) == {"r": {"boots": BOTH, "red": BOTH}}


def test_files_of_one_question_each_are_one_run_unless_they_ask_alike() -> None:
    files = [(f"out_{q}.json", json.dumps({"query": q, "results": DOCS})) for q in ("red", "hat")]
    numbered = [(f"out_{n}.json", text.encode()) for n, (_, text) in enumerate(files)]

    assert lists(read_files(numbered)) == {"out": {"red": BOTH, "hat": BOTH}}
    alike = [("a.json", numbered[0][1]), ("b.json", numbered[0][1])]
    assert lists(read_files(alike)) == {"a": {"red": BOTH}, "b": {"red": BOTH}}


@pytest.mark.parametrize(
    "beside",
    [
        {"input": "red", "output": "A", "context": TEXTS},
        {"question": "red", "answer": "A", "retrieved_context": TEXTS},
        {"question": "red", "output": {"pred": "A", "retrieval_result": DOCS}},
        {"query": "red", "summary": "A", "search_results": DOCS},
        {"query": "red", "respuesta": "A", "docs": DOCS},
    ],
)
def test_an_answer_is_read_beside_its_results(beside: Json) -> None:
    assert [query.response for query in read(beside).runs[0].queries] == ["A"]


def test_texts_that_are_the_results_are_no_answer() -> None:
    observation = {"type": "RETRIEVER", "input": "red", "output": json.dumps(TEXTS)}

    assert [query.response for query in read(observation).runs[0].queries] == [""]


def test_the_question_that_a_person_put_beside_a_response_goes_first() -> None:
    by_vector = {"responseHeader": {"params": {"q": "{!knn f=v}[1]"}}, "response": {"docs": DOCS}}
    solr = read({"query": "red", **by_vector})
    typesense = {"request_params": {"q": "*"}, "hits": [{"document": doc} for doc in DOCS]}

    assert lists(solr) == {"r": {"red": BOTH}}
    assert lists(read({"query": "red", **typesense})) == {"r": {"red": BOTH}}


@pytest.mark.parametrize(
    "entry",
    [
        ["page_content='A' metadata={}", 0.9],
        {"doc": "page_content='A' metadata={}", "score": 0.9},
        "Node ID: 1\nText: A\nScore: 0.9",
        "id: 1, distance: 0.9, entity: {'text': 'A'}",
    ],
)
def test_a_printed_object_is_refused_wherever_a_result_has_it(entry: object) -> None:
    with pytest.raises(ImportRefused) as refused:
        read({"query": "red", "results": [entry]})

    assert refused.value.problem.code == "results_printed"


def test_json_in_a_text_of_json_is_read_and_a_printed_dictionary_named() -> None:
    value = {"query": "red", "results": DOCS}

    assert lists(read(json.dumps([value]))) == lists(read(json.dumps(value)))
    with pytest.raises(ImportRefused) as refused:
        read_files([("r.json", str(value).encode())])
    assert refused.value.problem.code == "results_printed"


def test_results_of_a_reranker_are_read_of_its_span() -> None:
    documents = [{"document.id": i, "document.content": text} for i, text in BOTH]
    names = {"openinference.span.kind": "RERANKER", "reranker.query": "red"}
    span = {"name": "rerank", "context": {"span_id": "s"}}

    span |= {"attributes": {**names, "reranker.output_documents": documents}}

    assert lists(read(span)) == {"rerank": {"red": BOTH}}
    assert lists(read({"data": [span], "next_cursor": None})) == {"rerank": {"red": BOTH}}


@pytest.mark.parametrize("are_lines", [False, True])
def test_objects_that_ask_the_same_questions_are_systems(are_lines: bool) -> None:
    questions = [{"query": name, "results": DOCS} for name in ("boots", "red")]
    systems = [{"name": name, "cases": questions} for name in ("bm25", "dense")]

    group = read(*systems) if are_lines else read({"experiments": systems})

    assert lists(group) == {name: {"boots": BOTH, "red": BOTH} for name in ("bm25", "dense")}


@pytest.mark.parametrize(
    "value",
    [
        {"q1": {"bm25": IDS, "dense": IDS}},
        {"bm25": {"q1": SCORES}, "dense": {"q1": SCORES}},
        {"bm25": [{"qid": "q1", "results": SCORES}], "dense": [{"qid": "q1", "results": SCORES}]},
    ],
)
def test_systems_within_or_around_questions_by_id_keep_their_names(value: Json) -> None:
    assert lists(read(value)) == {name: {"q1": ONLY_IDS} for name in ("bm25", "dense")}


@pytest.mark.parametrize("name", ["data", "result", "records"])
def test_what_an_object_has_alone_is_read_as_if_it_were_not_there(name: str) -> None:
    rows = [{"query": "boots", "rank": n, **doc} for n, doc in enumerate(DOCS, 1)]
    table = {"query": {"0": "boots", "1": "boots"}, "text": {"0": "A", "1": "B"}}

    assert lists(read({name: {"q1": SCORES}})) == {"r": {"q1": ONLY_IDS}}
    assert lists(read({name: rows})) == {"r": {"boots": BOTH}}
    assert lists(read({name: table})) == {"r": {"boots": [("", "A"), ("", "B")]}}


def test_several_texts_in_a_row_are_asked_about() -> None:
    blocks = [{"type": "text", "text": text} for text in TEXTS]

    group = read({"query": "boots", "abstract": blocks})

    assert (group.runs, group.columns["items"]) == ((), "abstract")


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"page_name": "A", "page_url": "https://l/a", "page_snippet": "B"}, ("", "A", "B")),
        ({"passage_text": "B", "doc_title": "A"}, ("", "A", "B")),
        ({"id": "d7", "title_s": "A", "body_t": "B"}, ("d7", "A", "B")),
        ({"id": {"raw": "d7"}, "body": {"raw": "B", "snippet": "<em>B</em>"}}, ("d7", "", "B")),
        ({"article_id": 7, "author_id": 3, "text": "B"}, ("7", "", "B")),
        ({"id": "d7", "extra_attributes": {"content": "B"}}, ("d7", "", "B")),
    ],
)
def test_values_of_an_item_are_known_by_what_their_names_end_with(
    item: Json, expected: tuple[str, str, str]
) -> None:
    ((query,),) = (run.queries for run in read({"query": "boots", "results": [item]}).runs)

    assert [(card.doc_id or "", card.title, card.text) for card in query.cards] == [expected]


@pytest.mark.parametrize("name", ["data", "case"])
def test_a_question_one_object_deeper_is_read_as_it_is(name: str) -> None:
    texts = ["Jeans", *reversed(TEXTS)]
    ranked = {
        "query": "red dress",
        "documents": texts,
        "results": [{"corpusId": 2}, {"corpusId": 1}],
    }
    haystack = {"data": "These.", "query": "boots", "documents": [{"content": t} for t in TEXTS]}

    assert lists(read({"id": 1, name: ranked})) == {"r": {"red dress": ONLY_TEXTS}}
    ((query,),) = (run.queries for run in read({"id": 1, name: haystack}).runs)
    assert (query.response, len(query.cards)) == ("These.", 2)


def test_ids_under_a_name_that_nobody_knows_are_asked_about_in_rows_of_json_too() -> None:
    rows = ({"query": q, "text": text, "Nummer": n} for q in "ab" for n, text in BOTH)

    group = read(*rows)

    assert (group.runs, group.columns["doc_id"]) == ((), "Nummer")


@pytest.mark.parametrize(
    ("entry", "sketch"),
    [(None, "null"), (7, "0"), (["a"], "[text]"), ([], "[]"), ({"note": "a"}, "note: text")],
)
@pytest.mark.parametrize("outer", ["results", "queries"])
def test_what_is_no_question_among_those_in_an_object_is_named(
    entry: object, sketch: str, outer: str
) -> None:
    questions = [{"query": "boots", "documents": DOCS}, entry, {"query": "a", "documents": DOCS}]
    group = read({"system": "bm25", outer: questions})

    assert lists(group) == {"bm25": {"boots": BOTH, "a": BOTH}}
    (problem,) = group.problems
    assert (problem.code, problem.line) == ("results_without_question", 2)
    assert problem.details["keys"] in (sketch, f"system: text, {sketch}")


def test_a_system_without_questions_among_others_is_named() -> None:
    questions = [{"query": "boots", "documents": DOCS}]
    group = read({"bm25": questions, "dense": questions, "splade": None, "error": None})

    assert lists(group) == {"bm25": {"boots": BOTH}, "dense": {"boots": BOTH}}
    assert [problem.code for problem in group.problems] == ["results_without_question"]


def test_several_ids_at_the_place_of_one_are_no_id() -> None:
    parts = [{"id": "d7", "content": "A"}, {"id": "d2", "content": "B"}]
    record: Json = {"segment": parts[0], "score": 0.9}
    group = read({"query": {"content": "boots"}, "records": [{"segment": parts}, record]})

    assert lists(group) == {"r": {"boots": [("d7", "A")]}}
    assert group.runs[0].queries[0].holes == (1,)
    assert "results_item_unreadable" in codes(group)


def test_the_id_of_a_result_is_that_which_a_collection_knows() -> None:
    results = [{"docno": str(place), "doc_id": doc_id} for place, doc_id in enumerate(IDS)]
    run = json.dumps({"query": "boots", "results": results}).encode()
    corpus = "\n".join(json.dumps({"_id": i, "text": text}) for i, text in BOTH).encode()

    group = read_files([("r.jsonl", run), ("corpus.jsonl", corpus)])
    assert lists(group) == {"r": {"boots": BOTH}}
    assert "results_ids_chosen" in codes(group)
    assert "results_ids_chosen" in codes(read({"query": "boots", "results": results}))


@pytest.mark.parametrize(
    "before",
    [
        "var data = ",
        "const runs: Run[] = ",
        "window.__DATA__ = ",
        'window["data"]=',
        "export default ",
        "module.exports = ",
        "callback(",
        "// of today\n",
        "/* of today */ ",
    ],
)
def test_json_in_a_script_is_refused_with_what_to_save(before: str) -> None:
    line = json.dumps([{"query": "boots", "results": DOCS}], indent=1)
    with pytest.raises(ImportRefused) as refused:
        read_files([("r.json", f"{before}{line};\n".encode())])

    assert refused.value.problem.code == "results_in_script"
    assert before.strip() in message(refused.value.problem)


def test_a_text_and_an_id_under_names_that_nobody_knows_are_named() -> None:
    rows = "boots,1,d7,Long red dress,a b\nboots,2,d2,Evening gown,a b\n"
    table = f"query,rank,doc_id,wording,shop\n{rows}"
    (problem,) = [
        problem
        for problem in read_files([("r.csv", table.encode())]).problems
        if problem.code == "results_role_unread"
    ]
    assert problem.details == {"role": "text", "column": "wording", "map": "text=wording"}
    assert "--columns text=wording" in message(problem)

    items = [{"doi": doc["id"], "wording": doc["text"]} for doc in DOCS]
    line = json.dumps({"query": "boots", "results": [{"title": "A b", **item} for item in items]})
    options = [
        problem.details["map"]
        for problem in read_files([("r.jsonl", line.encode())]).problems
        if problem.code == "results_role_unread"
    ]
    assert options == ["text=wording", "doc_id=doi"]
    columns = dict(text.split("=") for text in map(str, options))
    group = read_files([("r.jsonl", line.encode())], Choices(columns=columns))
    assert lists(group) == {"r": {"boots": BOTH}}
    assert "results_role_unread" not in codes(group)


@pytest.mark.parametrize("question", ["query", "query_id"])
def test_a_column_of_small_numbers_that_is_read_as_grades_is_named(question: str) -> None:
    table = f"{question},doc_id,points\nboots,d7,2\nboots,d2,0\nred,d7,1\n"
    group = read_files([("r.csv", table.encode())])

    assert [judged.verdict for judged in group.judged] == ["2", "0", "1"]
    (problem,) = group.problems
    assert problem.code == "results_grades_by_column"
    assert problem.details == {"columns": "points"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.json", '{"q1": {"d7": 1, "d2": 0}}'),
        ("r.tsv", "q1\td7\t1\nq2\td2\t1\n"),
    ],
)
def test_numbers_that_may_be_grades_are_named_where_a_run_is_read(name: str, text: str) -> None:
    assert "results_grades_perhaps" in codes(read_files([(name, text.encode())]))
    for word in ("qrels", "gold", "labels"):
        group = read_files([(name.replace("r.", f"{word}."), text.encode())])
        assert (len(group.judged), group.problems) == (2, ())


@pytest.mark.parametrize(
    ("beside", "place", "first"),
    [
        ({"hits": DOCS, "offset": 7}, "offset", "0"),
        ({"response": {"docs": DOCS, "start": 7}}, "start", "0"),
        ({"request": {"from": 7, "size": 2}, "hits": {"hits": DOCS}}, "request.from", "0"),
        ({"hits": DOCS, "page": 7, "hitsPerPage": 2, "totalPages": 9}, "page", "1"),
        ({"hits": DOCS, "page": 7, "hitsPerPage": 2, "nbPages": 9}, "page", "0"),
        ({"results": DOCS, "meta": {"page": {"current": 7, "size": 2}}}, "meta.page.current", "1"),
    ],
)
def test_a_list_of_a_later_page_is_named(beside: dict[str, object], place: str, first: str) -> None:
    (problem,) = read({"query": "boots", **beside}).problems

    assert (problem.code, problem.details) == ("results_later_page", {"place": place, "value": 7})
    first_page = json.loads(json.dumps(beside).replace(": 7", f": {first}"))
    assert not read({"query": "boots", **first_page}).problems


def test_a_page_is_one_of_a_search_only_beside_how_many_there_are() -> None:
    (problem,) = read({"query": "boots", "hits": DOCS, "page": 1, "nbHits": 30}).problems
    assert (problem.code, problem.details["value"]) == ("results_later_page", 1)
    assert not read({"query": "boots", "hits": DOCS, "page": 12}).problems


def test_ranks_in_words_are_named() -> None:
    results = [
        {**document, "rank": word} for document, word in zip(DOCS, ("one", "two"), strict=True)
    ]
    group = read({"query": "boots", "results": results})

    assert lists(group) == {"r": {"boots": BOTH}}
    assert "results_ranks_unusable" in codes(group)


def test_what_stands_where_a_list_belongs_is_named_by_its_key() -> None:
    group = read({"query": "boots", "hits": DOCS}, {"query": "a", "hits": "none"})

    (problem,) = group.problems
    assert (problem.code, problem.details["place"]) == ("results_no_list", "hits")


def test_a_column_that_was_chosen_and_is_not_there_is_named() -> None:
    columns = {"query": "Frage", "doc_id": "Trefer"}
    group = read_files([("r.csv", b"Frage;Treffer\nboots;d7\n")], Choices(columns=columns))

    assert [problem.details.get("paths") for problem in group.problems] == [None, "Trefer"]


def test_columns_of_places_with_a_gap_are_asked_about() -> None:
    group = read_files([("r.csv", b"query;doc_1;doc_3\nred dress;d7;d2\n")])

    assert not group.runs
    assert {*group.names} == {"query", "doc_1", "doc_3"}


def test_a_single_text_for_every_question_is_named() -> None:
    questions = [{"query": name, "contexts": ["A\n---\nB"]} for name in ("boots", "red")]

    assert "results_one_each" in codes(read(*questions))
    assert "results_one_each" not in codes(read(*questions, {"query": "a", "contexts": TEXTS}))
    assert "results_one_each" not in codes(read(*({**q, "ids": ["d1"]} for q in questions)))


def test_lists_in_a_file_that_is_called_as_grades_are_named_as_a_run() -> None:
    lines = json.dumps({"q1": IDS, "q2": IDS}).encode()

    for name, is_named in (("qrels.json", True), ("r.json", False)):
        group = read_files([(name, lines)])
        assert len(group.runs) == 1
        assert ("results_named_as_grades" in codes(group)) is is_named


@pytest.mark.parametrize(
    ("documents", "order"),
    [
        (["Jeans", *reversed(TEXTS)], [2, 1, 0]),
        ([{"id": "d5"}, *reversed(DOCS)], ["d7", "d2", "d5"]),
    ],
)
def test_documents_are_in_the_order_that_is_beside_them(
    documents: list[object], order: list[object]
) -> None:
    ranked = {"documents": documents, "ranking": order}
    for record in ({"query": "boots", **ranked}, {"query": "boots", "response": ranked}):
        group = read(record)
        (query,) = group.runs[0].queries
        assert [card.text for card in query.cards[:2]] == TEXTS
        assert "results_list_beside" not in codes(group)


@pytest.mark.parametrize("order", [[1, 2], [2, 3, 1], ["d7", "d2", "d5"], [2, 2, 0], [2, 2, 0, 1]])
def test_an_order_that_is_not_one_of_all_documents_is_named(order: list[object]) -> None:
    group = read({"query": "boots", "documents": ["Jeans", *TEXTS], "ranking": order})

    places = [p.details["place"] for p in group.problems if p.code == "results_list_beside"]
    assert places == ["ranking"]


@pytest.mark.parametrize("pointer", [None, 7, {}, {"relevance_score": 0.9}, {"index": 9}])
def test_a_result_that_points_at_no_document_keeps_its_rank(pointer: object) -> None:
    results = [{"index": 1, "relevance_score": 0.9}, pointer, {"index": 0, "relevance_score": 0.1}]
    documents = [TEXTS[1], TEXTS[0], "Jeans"]
    group = read({"query": "boots", "documents": documents, "results": results})

    (query,) = group.runs[0].queries
    assert [(card.position, card.text) for card in query.cards] == [(0, TEXTS[0]), (2, TEXTS[1])]
    assert query.holes == (2,)
    assert "results_item_unreadable" in codes(group)


@pytest.mark.parametrize(
    "beside",
    [
        {"results": [POINTERS]},
        {"results": {"data": [POINTERS]}},
        {"reranked": [{"results": POINTERS}]},
        {"documents": [["Jeans", *reversed(TEXTS)]], "results": POINTERS},
    ],
)
def test_results_that_point_at_documents_from_deeper_are_in_their_order(
    beside: dict[str, object],
) -> None:
    group = read({"query": "boots", "documents": ["Jeans", *reversed(TEXTS)], **beside})

    assert lists(group) == {"r": {"boots": ONLY_TEXTS}}


def test_documents_at_which_several_lists_point_are_no_results() -> None:
    beside = {"query": "boots", "documents": ["Jeans", *TEXTS]}
    group = read({**beside, "results": {"data": [POINTERS, POINTERS[:1]]}}, {**RED, "hits": DOCS})

    assert group.runs[0].queries[0].state is QueryState.UNREADABLE
    assert lists(read({**beside, "answer": {"tokens": [{"index": 0, "token": "A"}]}})) == {
        "r": {"boots": [("", text) for text in ("Jeans", *TEXTS)]}
    }


def test_the_choices_of_a_model_are_no_results() -> None:
    choices = [{"index": 0, "message": {"role": "assistant", "content": "A"}}]
    group = read({"query": "boots", "documents": DOCS, "choices": choices})

    assert lists(group) == {"r": {"boots": BOTH}}


def test_nothing_in_the_list_of_one_search_is_no_score() -> None:
    group = read({"query": "boots", "data": [[DOCS[0], None]]})

    assert lists(group) == {"r": {"boots": BOTH[:1]}}
    assert "results_item_unreadable" in codes(group)


@pytest.mark.parametrize("ranks", [(None, 1), (2, None), (None, 3), (1, None, 3, 5)])
def test_ranks_that_only_some_state_and_that_are_not_their_places_are_unreadable(
    ranks: tuple[int | None, ...],
) -> None:
    results = [{"id": f"d{n}", "rank": rank} for n, rank in enumerate(ranks)]
    group = read({"query": "boots", "results": results}, {"query": "a", "results": DOCS})

    assert group.runs[0].queries[0].state is QueryState.UNREADABLE
    assert "results_ranks_partly" in codes(group)


def test_ranks_count_from_0_in_a_list_of_one_result_too() -> None:
    first, second = ({**doc, "rank": rank} for rank, doc in enumerate(DOCS))

    group = read({"query": "red", "results": [first, second]}, {"query": "a", "results": [first]})

    assert lists(group) == {"r": {"red": BOTH, "a": BOTH[:1]}}


@pytest.mark.parametrize("ranks", [(1, None, 3), (0, None, 2), (None, 2, 3)])
def test_a_rank_that_is_left_out_is_the_place_where_the_others_are_theirs(
    ranks: tuple[int | None, ...],
) -> None:
    results = [{"id": f"d{n}", "rank": rank} for n, rank in enumerate(ranks)]
    (query,) = read({"query": "boots", "results": results}).runs[0].queries

    assert [card.doc_id for card in query.cards] == ["d0", "d1", "d2"]


@pytest.mark.parametrize(
    ("damaged", "code"),
    [
        ({"query": ["boots", "red"], "rank": 1, "doc_id": "d7"}, "results_value_nested"),
        ([], "line_not_an_object"),
    ],
)
def test_a_row_of_json_that_is_none_is_refused(damaged: object, code: str) -> None:
    with pytest.raises(ImportRefused) as refused:
        read({"query": "a", "rank": 1, "doc_id": "d2"}, damaged)

    assert refused.value.problem.code == code


def test_several_ids_of_a_question_are_refused() -> None:
    with pytest.raises(ImportRefused) as refused:
        read({"query_id": ["1", "2"], "query": "boots", "results": DOCS})

    assert (refused.value.problem.code, refused.value.problem.line) == ("results_value_nested", 1)


SPAN = {"name": "r", "span_kind": "RETRIEVER", "context": {"span_id": "s"}}


@pytest.mark.parametrize("documents", [{"a": 1}, "timed out"])
def test_what_is_no_list_of_documents_in_a_span_is_unreadable(documents: object) -> None:
    readable = [{"document.id": i, "document.content": text} for i, text in BOTH]
    spans = [
        {**SPAN, "attributes": {"input.value": name, "retrieval.documents": inner}}
        for name, inner in (("boots", documents), ("a", readable), ("b", [*readable, 7]))
    ]
    group = read([*spans, None])

    queries = {query.question: query for query in group.runs[0].queries}
    assert queries["boots"].state is QueryState.UNREADABLE
    assert lists(group)["r"]["a"] == lists(group)["r"]["b"] == BOTH
    assert codes(group) >= {
        "results_no_list",
        "results_item_unreadable",
        "results_without_question",
    }


@pytest.mark.parametrize("around", [{"date": "2024-01-01"}, {"config": {"k": 10}}])
def test_lists_for_the_same_questions_are_those_of_systems_beside_anything(
    around: dict[str, object],
) -> None:
    questions = [{"query": "boots", "documents": DOCS}]
    group = read({**around, "bm25": questions, "dense": questions})

    assert lists(group) == {"bm25": {"boots": BOTH}, "dense": {"boots": BOTH}}
    assert not group.problems


@pytest.mark.parametrize("keys", [("q1", "q2"), ("first", "second")])
def test_a_question_without_a_list_beside_others_by_their_keys_is_named(
    keys: tuple[str, str],
) -> None:
    questions = ({"query": "boots", "docs": DOCS}, {"query": "a", "docs": "none"})
    group = read(dict(zip(keys, questions, strict=True)))

    assert lists(group)["r"]["boots"] == BOTH
    assert "results_no_list" in codes(group)


def test_a_response_to_rank_eval_without_hits_is_no_empty_list() -> None:
    detail = {"hits": [{"hit": {"_id": "d7"}, "rating": 1}], "unrated_docs": []}
    details = {"q1": detail, "q2": {"unrated_docs": []}}
    group = read({"metric_score": 1, "details": details})

    assert [query.external_id for query in group.runs[0].queries] == ["q1"]
    assert "results_without_list" in codes(group)


LISTED: list[Json] = [{"query": "boots", "results": DOCS}]


@pytest.mark.parametrize("empty", [[], None, {}, {"queries": []}])
def test_an_empty_list_beside_those_of_systems_is_named_as_one(empty: object) -> None:
    group = read({"bm25": LISTED, "dense": empty})

    assert lists(group) == {"bm25": {"boots": BOTH}}
    (problem,) = group.problems
    assert problem.code == "results_without_question"
    assert "dense" in str(problem.details["keys"])


@pytest.mark.parametrize(
    "value",
    [
        {"evaluated_cases": LISTED, "failed_cases": []},
        {"train": LISTED, "test": []},
        {"first": LISTED[0], "second": {}},
    ],
)
def test_an_empty_list_beside_others_makes_no_systems(value: dict[str, object]) -> None:
    group = read(value)

    assert lists(group) == {"r": {"boots": BOTH}}
    assert not group.problems


@pytest.mark.parametrize(
    "value",
    [
        {"runs": [{"name": "bm25", "results": LISTED}]},
        {"systems": [{"id": "bm25", "queries": LISTED}]},
        {"run": {"label": "bm25", "results": LISTED}},
        {"methods": {"bm25": LISTED}},
        {"runs": {"bm25": {"red dress": DOCS}}},
    ],
)
def test_the_only_run_of_several_there_may_be_keeps_its_label(value: dict[str, object]) -> None:
    assert [run.search_method for run in read(value).runs] == ["bm25"]


def test_columns_that_lack_a_row_are_no_systems() -> None:
    group = read({"question": {"0": "boots"}, "contexts": {"0": TEXTS, "1": ["Jeans"]}})

    assert [run.search_method for run in group.runs] == ["r"]
    assert {query.external_id for query in group.runs[0].queries} == {"0", "1"}
    assert "results_outer_question" in codes(group)


def test_what_a_table_has_beside_questions_and_documents_is_named_or_asked_about() -> None:
    words = read_files([("r.csv", b"query,doc_id,mark\nboots,d7,fine\nboots,d2,poor\n")])
    assert lists(words) == {"r": {"boots": ONLY_IDS}}
    assert "results_columns_left" in codes(words)

    ranks = b"query,doc_id,rank_bm25,rank_dense\nboots,d7,1,2\nboots,d2,2,1\n"
    unread = read_files([("r.csv", ranks)])
    assert not unread.runs
    assert not unread.judged
    assert {"rank_bm25", "rank_dense"} < {*unread.names}
    chosen = Choices(columns={"rank": "rank_dense"})
    assert lists(read_files([("r.csv", ranks)], chosen)) == {"r": {"boots": ONLY_IDS[::-1]}}


@pytest.mark.parametrize("group", [None, {"hits": "timed out"}])
def test_a_group_that_cannot_be_read_keeps_its_rank(group: object) -> None:
    groups = [group, *({"hits": [document]} for document in DOCS)]
    (query,) = read({"query": "boots", "result": {"groups": groups}}).runs[0].queries

    assert [(card.position, card.doc_id) for card in query.cards] == [(1, "d7"), (2, "d2")]
    assert query.holes == (1,)


def _search_result(text: str) -> dict[str, object]:
    return {"type": "search_result", "content": [{"type": "text", "text": text}]}


def test_what_is_no_block_among_search_results_keeps_its_rank() -> None:
    blocks = [_search_result("A"), None, 7, {"type": "text", "text": "Two."}, _search_result("B")]
    tool = {"type": "tool_result", "content": blocks}
    plain = {"type": "tool_result", "content": "Nothing."}
    group = read({"messages": [SAID, {"role": "user", "content": [plain, tool]}]})

    (query,) = group.runs[0].queries
    assert [(card.position, card.text) for card in query.cards] == [(0, "A"), (3, "B")]
    assert query.holes == (2, 3)
    assert "results_item_unreadable" in codes(group)


def test_what_is_no_span_among_those_of_otlp_is_named() -> None:
    names = {"input.value": "boots", "retrieval.documents.0.document.content": TEXTS[0]}
    pairs = [{"key": name, "value": {"stringValue": text}} for name, text in names.items()]
    spans = [{"name": "r", "spanId": "s", "attributes": pairs}, None, 7]
    group = read({"resourceSpans": [{"scopeSpans": [{"spans": spans}, None, 7]}]})

    assert lists(group) == {"r": {"boots": ONLY_TEXTS[:1]}}
    assert len(group.problems) == 5  # four values that are none, and results without an id


@pytest.mark.parametrize(
    "before",
    ["2026-01-01 12:00:00 INFO ", "[2026-01-01] ", "INFO:root:", "data: ", "id: 1\ndata: "],
)
@pytest.mark.parametrize("name", ["r.jsonl", "r.txt"])
def test_json_behind_other_text_is_refused_as_that(before: str, name: str) -> None:
    line = before + json.dumps({"query": "boots", "results": DOCS})
    with pytest.raises(ImportRefused) as refused:
        read_files([(name, f"{line}\n\n{line}\n".encode())])

    assert refused.value.problem.code == "results_behind_text"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_text_sequence_is_read(indent: int | None) -> None:
    values = ({"query": name, "results": DOCS} for name in ("boots", "red"))
    text = "".join(f"\x1e{json.dumps(value, indent=indent)}\n" for value in values)

    assert lists(read_files([("r.json", text.encode())])) == {"r": {"boots": BOTH, "red": BOTH}}
