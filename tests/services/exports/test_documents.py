"""A study of documents on a scale of grades gets its judgments out, and they come in again."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import ir_measures
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.engine import Database
from relevansi.db.tables.judging import Event, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result
from relevansi.db.tables.study import Study
from relevansi.i18n import speak_of
from relevansi.importers.results import formats
from relevansi.importers.results.formats import Choices
from relevansi.records import Click
from relevansi.services.exports import exports, rated_runs, tool_files
from relevansi.services.exports.rated_runs import RatedRun
from relevansi.services.exports.tool_files import (
    EqualTexts,
    ForCollections,
    IndexUnknown,
    NotOfSpans,
)
from relevansi.services.judging import judgments
from relevansi.services.proof_packs import packs
from relevansi.services.runs import file_formats, reports, results, stored_results
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.proof_packs.packs import changed, verified
from tests.stored_studies import made_once, open_study

SEEDS = Path(__file__).parents[3] / "seeds" / "documents"
MERGED = Rule(reports.MAJORITY)
Grades = dict[tuple[str, str], int]


def imported(
    session: Session, study: Study, files: Mapping[str, str], *, depth: int = 20
) -> list[str]:
    named_data = [(name, text.encode()) for name, text in files.items()]
    read = results.read_files("results", named_data, Choices(depth=depth))
    stored = stored_results.store(session, study, read, NOW)
    session.flush()
    return [run.id for run in stored.runs]


@made_once
def seeds(database: Database) -> list[str]:
    """The runs of the seeds, their first ten ranks judged by two raters."""
    names = ["corpus.jsonl", "queries.jsonl", "runs/bm25.run", "runs/lsa.run"]
    names += ["ratings-dewi.csv", "ratings-rafi.csv"]
    files = {name: (SEEDS / name).read_text("utf-8") for name in names}
    with open_study(database) as (session, study):
        return imported(session, study, files, depth=10)


@pytest.fixture(name="seeded")
def _seeded(request: pytest.FixtureRequest, database: Database) -> list[str]:
    return seeds(database) if "runs" in request.fixturenames else []


@pytest.fixture(name="session")
def _session(seeded: list[str], session: Session) -> Session:
    """A session that begins once the seeds, if they are asked for, are stored."""
    assert seeded is not None
    return session


@pytest.fixture(name="runs")
def _runs(seeded: list[str]) -> list[str]:
    return seeded


def exported(session: Session, study: Study, run: str, form: str, rule: Rule = MERGED) -> bytes:
    return exports.export(session, study, run, rule, form).data


def grades(session: Session, study: Study, run: str, by_text: bool = False) -> Grades:
    return {
        (item.question if by_text else item.query_id, item.identity): item.verdict
        for item in rated_runs.judged(RatedRun(session, study, run, MERGED))
        if isinstance(item.verdict, int)
    }


def read_again(name: str, data: bytes, by_text: bool = False) -> Grades:
    result = formats.read([(name, data)])
    assert result.problems == () or all(item.severity == "warning" for item in result.problems)
    return {
        (item.question if by_text else item.external_id or "", item.identity): int(item.verdict)
        for item in result.judged
        if item.verdict != "unsure"
    }


MEASURES = {
    "nDCG@10": "nDCG@10",
    "AP": "AP",
    "RR": "RR",
    "R-precision": "Rprec",
    "recall@10": "R@10",
    "bpref": "Bpref",
    "success@5": "Success@5",
    "P@5 (trec_eval)": "P@5",
}


def test_ir_measures_finds_our_figures_in_the_files(
    session: Session, study: Study, runs: list[str]
) -> None:
    """Ranks below the judged ones, and items that only the other run lists, are in them too."""
    ours = reports.report(session, study, runs[0], MERGED, figures=tuple(MEASURES))
    qrels = exported(session, study, runs[0], "qrels").decode()
    ranked = exported(session, study, runs[0], "run").decode()
    theirs = {
        (result.query_id, str(result.measure)): result.value
        for result in ir_measures.iter_calc(
            [ir_measures.parse_measure(name) for name in MEASURES.values()],
            list(ir_measures.read_trec_qrels(qrels)),  # type: ignore[no-untyped-call]
            list(ir_measures.read_trec_run(ranked)),  # type: ignore[no-untyped-call]
        )
    }

    compared = 0
    for row in ours.rows:
        for name, their_name in MEASURES.items():
            value = row.summary.figures[name].value
            if value is not None:
                assert theirs[str(row.external_id), their_name] == pytest.approx(value), name
                compared += 1
    assert compared > 150


def test_judgments_come_in_again_as_they_went_out(
    session: Session, study: Study, runs: list[str]
) -> None:
    by_id, by_text = (grades(session, study, runs[0], way) for way in (False, True))
    assert len(by_id) == len(by_text) > 100
    assert set(by_id.values()) == {0, 1, 2, 3}

    assert read_again("qrels.txt", exported(session, study, runs[0], "qrels")) == by_id
    assert read_again("beir.zip", exported(session, study, runs[0], "beir")) == by_id
    assert read_again("srw.json", exported(session, study, runs[0], "srw"), True) == by_text
    assert read_again("quepid.csv", exported(session, study, runs[0], "quepid"), True) == by_text


def test_the_long_form_and_a_book_come_in_again_with_the_verdicts_of_each_rater(
    session: Session, study: Study, runs: list[str]
) -> None:
    """The book names questions by their texts, the long form lists what the run showed."""
    raters = [item for item in studies.raters(session, study) if item.name in ("dewi", "rafi")]
    verdicts = {
        rater.name: {
            (item.question, item.identity): item.verdict
            for item in rated_runs.judged(
                RatedRun(session, study, runs[0], reports.of_rater(rater))
            )
            if item.verdict is not None and item.rank and not item.is_below
        }
        for rater in raters
    }
    book = formats.read([("book.csv", exported(session, study, runs[0], "quepid-book"))])
    again: dict[str, dict[tuple[str, str], int | str]] = {rater.name: {} for rater in raters}
    for item in book.judged:
        again[item.rater][item.question, item.identity] = int(item.verdict)
    for rater in raters:
        numbers = {key: grade for key, grade in verdicts[rater.name].items() if grade != "unsure"}
        assert numbers.items() <= again[rater.name].items()
        rule = reports.of_rater(rater)
        long = formats.read([("j.csv", exported(session, study, runs[0], "long-csv", rule))])
        assert {item.rater for item in long.judged} == {rater.name}
        assert len(long.judged) == len(verdicts[rater.name])


def test_reasons_come_in_again_with_the_long_form(
    session: Session, study: Study, rater: Rater
) -> None:
    columns = "run,rater,query_id,rank,document,content,title,relevance,provenance,reason"
    lines = [columns, "r,Ani,q1,1,d1,1,,0,,partly", "r,Ani,q1,2,d2,1,,1,,", "r,Ani,q1,3,d3,1,,0,,"]
    files = {"run.txt": "q1 Q0 d1 1 3 r\nq1 Q0 d2 2 2 r\nq1 Q0 d3 3 1 r\n"}
    assert rater
    imported(session, study, files | {"judgments.csv": "\n".join(lines) + "\n"})

    stored = session.execute(select(Judgment.verdict, Judgment.reason)).all()
    assert sorted(map(str, stored)) == ["('0', 'partly')", "('0', None)", "('1', None)"]


def test_a_run_comes_in_again_as_json_with_its_lists_texts_and_verdicts(
    session: Session, study: Study, runs: list[str]
) -> None:
    file = exports.export(session, study, runs[0], MERGED, "json", texts=True)
    again = formats.read([("run.json", file.data)])
    [run] = again.runs
    stored = session.scalars(select(Query).where(Query.run_id == runs[0]).order_by(Query.id)).all()

    assert [query.external_id for query in run.queries] == [
        query.question.external_id for query in stored
    ]
    for query, before in zip(run.queries[:5], stored[:5], strict=True):
        assert [(card.doc_id, card.text) for card in query.cards] == [
            (result.judged_item.card["doc_id"], result.judged_item.card["text"])
            for result in before.results
            if result.judged_item.card
        ]
    shown_by_run = {
        (item.query_id, item.identity): item.verdict
        for item in rated_runs.judged(RatedRun(session, study, runs[0], MERGED))
        if isinstance(item.verdict, int) and item.rank and not item.is_below
    }
    assert {
        (item.external_id, item.identity): int(item.verdict)
        for item in again.judged
        if item.verdict != "unsure"
    } == shown_by_run


@pytest.mark.parametrize("form", ["csv", "wide-csv", "xlsx"])
def test_a_table_of_figures_is_refused_beside_its_results_too(
    session: Session, study: Study, runs: list[str], form: str
) -> None:
    """It has no verdicts: what is refused names the formats that have."""
    file = exports.export(session, study, runs[0], MERGED, form)
    for beside in ([], [("a.run", b"q01 Q0 d7 1 1 bm25\n")]):
        imports = file_formats.together([(file.name, file.data), *beside])
        opened = [file_formats.read_file(*file) for file in imports]
        codes = {problem.code for file in opened for problem in file.content.problems}
        assert "results_of_figures" in codes


def test_a_run_comes_in_again_with_its_order(
    session: Session, study: Study, runs: list[str]
) -> None:
    plain = exports.export(session, study, runs[0], MERGED, "run").data.decode()
    of_run = select(Query).where(Query.run_id == runs[0]).order_by(Query.id)
    first = session.scalars(of_run).first()
    assert first is not None

    lines = [line.split() for line in plain.splitlines()]
    for above, below in pairwise(lines):
        assert above[0] != below[0] or float(above[4]) > float(below[4])
    assert len([line for line in lines if line[0] == "q01"]) == 20  # the tail is appended
    (again,) = formats.read([("again.run", plain.encode())], Choices(depth=10)).runs
    assert list(again.queries[0].tail) == first.extra["tail"]


def test_unjudged_results_are_minus_one_on_request(
    session: Session, study: Study, runs: list[str]
) -> None:
    file = exports.export(session, study, runs[0], MERGED, "qrels", unjudged=True)
    ours = reports.report(session, study, runs[0], MERGED, figures=("infAP",))
    ranked = exported(session, study, runs[0], "run").decode()

    text = file.data.decode()
    assert {line.split()[3] for line in text.splitlines()} == {"-1", "0", "1", "2", "3"}
    measured = ir_measures.iter_calc(
        [ir_measures.parse_measure("infAP")],
        list(ir_measures.read_trec_qrels(text)),  # type: ignore[no-untyped-call]
        list(ir_measures.read_trec_run(ranked)),  # type: ignore[no-untyped-call]
    )
    theirs = {result.query_id: result.value for result in measured}
    for row in ours.rows:
        value = row.summary.figures["infAP"].value
        assert value is None or theirs[str(row.external_id)] == pytest.approx(value, abs=1e-4)


def test_beir_has_every_item_of_the_pool_and_a_card(
    session: Session, study: Study, runs: list[str]
) -> None:
    with zipfile.ZipFile(io.BytesIO(exported(session, study, runs[0], "beir"))) as packed:
        files = {name: packed.read(name).decode() for name in packed.namelist()}

    assert set(files) == {"README.md", "corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}
    corpus = {
        document["_id"]: document
        for document in map(json.loads, files["corpus.jsonl"].splitlines())
    }
    header, *lines = (line.split("\t") for line in files["qrels/test.tsv"].splitlines())
    assert header == ["query-id", "corpus-id", "score"]
    assert {line[1] for line in lines} <= set(corpus)
    listed = rated_runs.judged(RatedRun(session, study, runs[0], MERGED))
    assert all(corpus[item.docno]["text"] for item in listed if item.rank and not item.is_below)
    assert "dewi, rafi" in files["README.md"]


def test_a_book_has_a_column_for_each_rater(
    session: Session, study: Study, runs: list[str]
) -> None:
    data = exported(session, study, runs[0], "quepid-book").decode()
    rows = list(csv.DictReader(io.StringIO(data)))

    verdicts = session.execute(
        select(Rater.name, Judgment.verdict).join(Rater, Rater.id == Judgment.rater_id)
    ).all()
    for name in ("dewi", "rafi"):
        written = sorted(row[name] for row in rows if row[name])
        assert written == sorted(v for who, v in verdicts if who == name and v and v != "unsure")


def test_long_form_names_documents_and_the_time_of_each_verdict(
    session: Session, study: Study, runs: list[str]
) -> None:
    dewi = session.scalars(select(Rater).where(Rater.name == "dewi")).one()
    items = session.scalars(
        select(Result.judged_item_id).join(Query).where(Query.run_id == runs[0]).limit(3)
    ).all()
    seconds = (0, 7, 400)
    for number, (item, after) in enumerate(zip(items, seconds, strict=True)):
        at = NOW + timedelta(hours=1, seconds=after)
        session.add(
            Event(rater_id=dewi.id, event_id=f"c{number}", field="verdict", judged_item_id=item,
                  new="2", cause="click", device="d", sequence=number, client_time=at,
                  received_at=at)
        )  # fmt: skip
    session.flush()

    own_csv = exported(session, study, runs[0], "long-csv", reports.of_rater(dewi)).decode()
    merged = exported(session, study, runs[0], "long-csv").decode()

    rows = list(csv.DictReader(io.StringIO(own_csv)))
    assert [row["seconds"] for row in rows[:3]] == ["", "7", ""]  # the third came after a break
    assert rows[0]["query_id"] == "q01"
    assert rows[0]["document"].startswith("k")
    assert {row["rater"] for row in csv.DictReader(io.StringIO(merged))} == {"median"}
    assert reports.paces(session, study, Query.run_id == runs[0]) == {"dewi": (7.0, 1)}


def test_grades_are_merged_by_the_study_s_rule(
    session: Session, study: Study, runs: list[str]
) -> None:
    def provenances() -> list[str]:
        text = exported(session, study, runs[0], "long-csv").decode()
        return [row["provenance"] for row in csv.DictReader(io.StringIO(text)) if row["relevance"]]

    by_median = provenances()
    study.merging = "majority"
    by_majority = provenances()

    assert set(by_median) == {"unanimous", "median"}
    assert set(by_majority) == {"unanimous"}  # of two raters who differ a grade stays open
    assert len(by_majority) < len(by_median)


def test_annotations_go_back_to_the_spans_they_came_from(
    session: Session, study: Study, rater: Rater
) -> None:
    def span(name: str, query: str, *ids: str) -> str:
        documents = {
            f"retrieval.documents.{n}.document.{key}": value
            for n, doc_id in enumerate(ids)
            for key, value in (("id", doc_id), ("content", f"Text {doc_id}"))
        }
        about = {"openinference.span.kind": "RETRIEVER", "input.value": query}
        span_json = {
            "name": "r",
            "context": {"span_id": name},
            "attributes": {**about, **documents},
        }
        return json.dumps(span_json)

    spans = "\n".join((span("s1", "red dress", "d7", "d2"), span("s2", "hat", "d9")))
    (run,) = imported(session, study, {"spans.jsonl": spans})
    for rank, verdict in ((1, "1"), (2, "unsure")):
        judgments.judge(session, rater, run, 1, rank, verdict, Click(f"c{rank}", NOW))

    rule = reports.of_rater(rater)
    data = json.loads(exported(session, study, run, "phoenix", rule))["data"]

    assert [(row["span_id"], row["document_position"], row["result"]) for row in data] == [
        ("s1", 0, {"label": "1", "score": 1.0}),
        ("s1", 1, {"label": "cannot tell"}),
    ]


def test_ratings_go_back_to_the_index_they_came_from(
    session: Session, study: Study, rater: Rater
) -> None:
    assert rater
    examples = formats.EXAMPLES
    (run,) = imported(
        session, study, {"rank_eval.json": (examples / "rank_eval.json").read_text("utf-8")}
    )

    decoded = json.loads(exported(session, study, run, "rank-eval"))

    assert decoded["requests"][0]["ratings"] == [{"_index": "shop", "_id": "d7", "rating": 1}]
    assert decoded["metric"]["precision"]["relevant_rating_threshold"] == 1


def test_a_format_that_cannot_hold_a_study_is_refused(
    session: Session, study: Study, runs: list[str]
) -> None:
    with pytest.raises(NotOfSpans):
        exported(session, study, runs[0], "phoenix")
    with pytest.raises(IndexUnknown):
        exported(session, study, runs[0], "rank-eval")
    for query in session.scalars(select(Query).where(Query.run_id == runs[0])):
        query.question.text = "the same"
    session.flush()
    for form in ("srw", "quepid", "quepid-book"):
        with pytest.raises(EqualTexts):
            exported(session, study, runs[0], form)


def test_a_study_of_properties_has_none_of_these_formats(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    for form in tool_files.TOOLS:
        with pytest.raises(ForCollections):
            exported(session, study, rated_run, form, reports.of_rater(rater))


def packed(session: Session, study: Study, run: str) -> bytes:
    return packs.pack(session, study, run, MERGED).data


def test_a_pack_of_documents_speaks_of_documents(
    session: Session, study: Study, runs: list[str]
) -> None:
    """Its README and its definitions name no property; sources and columns keep their names."""
    speak_of(study.kind)
    with zipfile.ZipFile(io.BytesIO(packed(session, study, runs[0]))) as pack:
        readme, manifest = (pack.read(name).decode() for name in ("README.md", "manifest.json"))
    definitions = [{**entry, "source": ""} for entry in json.loads(manifest)["definitions"]]

    assert "document" in readme
    assert "propert" not in readme.lower()
    assert "propert" not in json.dumps(definitions).lower()


def test_a_pack_of_a_graded_study_verifies_and_one_with_a_grade_above_its_scale_does_not(
    session: Session, study: Study, runs: list[str]
) -> None:
    data = packed(session, study, runs[0])
    above = changed(data, "study/judgments.json", lambda file: file.replace(b': "3"', b': "4"', 1))

    assert verified(data).equal
    assert {difference.file for difference in verified(above).differences} == {
        "study/judgments.json"
    }


def test_all_runs_have_the_same_pool(session: Session, study: Study, runs: list[str]) -> None:
    first, second = (grades(session, study, run) for run in runs)

    assert first == second
