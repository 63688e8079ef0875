"""Results of any system, from files to rows: what is a run, a question, an item and a grade."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, JudgedItem, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.importers.results.formats import Choices
from relevansi.importers.runs.problems import ImportRefused
from relevansi.kinds import listed_item
from relevansi.records import Relevance, Scale
from relevansi.services.judging import judgments, stored_summaries
from relevansi.services.runs import results, runs, stored_results, stored_runs
from relevansi.services.runs.results import OtherIds, OtherScale, ResultsReport
from relevansi.services.runs.stored_results import KnownRater, StoredResults
from relevansi.services.runs.stored_runs import OtherKind
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.runs.runs import card, click, count, query, run, store

ONE = "q1 Q0 d7 1 12.5 bm25\nq1 Q0 d2 2 11.0 bm25\nq2 Q0 d3 1 9.0 bm25\n"
OTHER = "q2 Q0 d9 1 3.0 dense\nq1 Q0 d7 1 0.5 dense\n"
TOPICS = "q1\tred dress\nq2\tblue shoes\n"
CORPUS = '{"_id": "d7", "text": "Long red dress"}\n{"_id": "d2", "text": "Red gown"}\n'


def look(
    session: Session, study: Study, files: dict[str, str], choices: Choices | None = None
) -> ResultsReport:
    contents = [(name, text.encode()) for name, text in files.items()]
    result = results.read("files", results.packed(contents, choices))
    remembered = results.known_choices(study, result)
    result = (
        result
        if remembered is None
        else results.read("files", results.packed(contents, remembered))
    )
    brief, remainder = results.parted(result)
    visited = results.examine(session, study, results.read(brief.name, remainder))
    looked = results.examine(session, study, brief)
    assert str(looked.refused) == str(visited.refused)
    assert (
        replace(looked, group=visited.group, files=visited.files, refused=visited.refused)
        == visited
    )
    return visited


def imported(
    session: Session, study: Study, files: dict[str, str], **decided: Any
) -> StoredResults:
    """Look at files and store them, as the page does."""
    choices = decided.pop("choices", None)
    report = look(session, study, files, choices)
    process = stored_results.store(session, study, report, NOW, **decided)
    session.flush()
    session.expire_all()
    assert stored_summaries.check(session) == []
    return process


def lists_of(session: Session, run_id: str) -> dict[str, list[str | None]]:
    """The ids of a run's items in their order, by the collection's id or the text of a question."""
    result: dict[str, list[str | None]] = {}
    for scalar in session.scalars(select(Query).where(Query.run_id == run_id).order_by(Query.id)):
        items = [listed_item(item.card, item.judged_item.card) for item in scalar.results]
        question = scalar.question.external_id or scalar.question.text
        result[question] = [getattr(item, "doc_id", None) for item in items]
    return result


def rater_named(session: Session, study: Study, name: str) -> Rater:
    return next(rater for rater in studies.raters(session, study) if rater.name == name)


def test_two_runs_of_one_collection_without_answers_are_two_runs_of_one_question_set(
    session: Session, study: Study
) -> None:
    (first,) = imported(session, study, {"one.txt": ONE, "topics.tsv": TOPICS}).runs
    (second,) = imported(session, study, {"other.txt": OTHER}).runs

    assert first.id != second.id
    assert (first.search_method, second.search_method) == ("bm25", "dense")
    assert lists_of(session, first.id) == {"q1": ["d7", "d2"], "q2": ["d3"]}
    assert lists_of(session, second.id) == {"q1": ["d7"], "q2": ["d9"]}
    assert (count(session, QuestionSet), count(session, Question)) == (1, 2)
    assert count(session, JudgedItem) == 4  # d7 under its question is one for both
    assert session.scalars(select(Question.text).order_by(Question.position)).all() == [
        "red dress",
        "blue shoes",
    ]


def test_several_systems_in_one_file_are_several_runs_and_the_file_again_is_known(
    session: Session, study: Study
) -> None:
    both = {"both.txt": ONE + OTHER, "topics.tsv": TOPICS, "qrels.txt": "q1 0 d7 1\nq2 0 d9 0\n"}
    first = imported(session, study, both, rater="people")
    before = {table: count(session, table) for table in (Run, Query, Result, JudgedItem, Event)}
    report = look(session, study, both)
    again = imported(session, study, both, rater="people", confirmed=True)

    assert [run.search_method for run in first.runs] == ["bm25", "dense"]
    assert first.grades == again.grades == {"people": 2}
    assert [run.already_imported for run in first.runs] == [False, False]
    assert [run.run_id for run in report.runs] == [run.id for run in first.runs]
    assert [run.already_imported for run in again.runs] == [True, True]
    assert {table: count(session, table) for table in before} == before


def test_a_system_may_give_the_lists_of_another_one(session: Session, study: Study) -> None:
    same = ONE.replace("bm25", "bm25-again")
    stored = imported(session, study, {"one.txt": ONE, "same.txt": same}).runs
    stored += imported(session, study, {"both.txt": (ONE + same).replace("bm", "one-file-bm")}).runs

    assert count(session, Run) == len({run.id for run in stored}) == 4
    assert [run.already_imported for run in imported(session, study, {"s.txt": same}).runs] == [
        True
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("q1,red\nq2,blue\nq3,green\n", "q3,green\nq1,red\n"),  # in another order, and a part
        ("q2,blue\n", "q1,red\nq2,blue\n"),  # more of them
        (",red\n,blue\n", ",blue\n,red\n"),  # without ids
        (",red\n,blue\n", ",Blue \n,green\n"),  # without ids, a part
    ],
)
def test_questions_are_the_same_by_id_or_by_text_in_any_order(
    session: Session, study: Study, first: str, second: str
) -> None:
    def table(lines: str, system: str) -> str:
        rows = (f"{line},{system},1,d{line[-3:].strip()}" for line in lines.splitlines())
        return "\n".join(["query_id,query,system,rank,doc_id", *rows])

    imported(session, study, {"one.csv": table(first, "a")})
    imported(session, study, {"other.csv": table(second, "b")})

    assert count(session, QuestionSet) == 1
    texts = [text.casefold() for text in session.scalars(select(Question.text))]
    assert sorted(texts) == sorted(set(texts))
    assert count(session, Run) == 2


def test_the_same_ids_with_other_questions_are_another_question_set(
    session: Session, study: Study
) -> None:
    imported(session, study, {"one.txt": ONE, "topics.tsv": TOPICS})
    law = {"two.txt": OTHER, "topics.tsv": "q1\thow to sue\nq2\twhere to sue\n"}
    imported(session, study, {**law, "qrels.txt": "q1 0 d7 1\n"}, rater="law")

    assert (count(session, QuestionSet), count(session, Question)) == (2, 4)
    assert count(session, Run) == 2
    assert session.scalars(select(Judgment).join(JudgedItem)).one().judged_item_id in {
        result.judged_item_id
        for result in session.scalars(select(Result))
        if result.query.run.search_method == "dense"
    }
    assert count(session, JudgedItem) == 3 + 2  # nothing of one collection is of the other


def test_a_deep_run_asks_for_its_top_and_keeps_the_rest_as_ids(
    session: Session, study: Study, rater: Rater
) -> None:
    lines = "".join(f"q1 Q0 d{n} {n} {2000 - n} bm25\n" for n in range(1, 1001))
    (run,) = imported(session, study, {"deep.txt": lines, "topics.tsv": TOPICS}).runs
    (deep,) = imported(
        session, study, {"d.txt": lines, "t.tsv": TOPICS}, choices=Choices(depth=30)
    ).runs

    query = session.scalars(select(Query).where(Query.run_id == run.id)).first()
    assert query is not None
    assert len(query.results) == 20
    assert query.extra["tail"] == [f"doc:d{n}" for n in range(21, 1001)]
    result = stored_summaries.by_category(session, rater.id, run.id)[""]
    assert result.open_judgments == 21  # and the empty list of the other question
    assert deep.id == run.id  # the same list, however deep it is judged
    report = look(session, study, {"d.txt": lines, "t.tsv": TOPICS}, Choices(depth=30))
    (problem,) = [problem for problem in report.problems if problem.code == "results_other_depth"]
    assert problem.details == {"system": "bm25", "stored": 20, "depth": 30}
    same_depth = look(session, study, {"d.txt": lines, "t.tsv": TOPICS})
    assert "results_other_depth" not in {problem.code for problem in same_depth.problems}
    assert not query.asks_quality


def test_ranks_are_followed_where_scores_say_otherwise(session: Session, study: Study) -> None:
    against = "q1 Q0 low 1 0.1 bm25\nq1 Q0 high 2 9.0 bm25\n"
    report = look(session, study, {"run.txt": against})
    (run,) = imported(session, study, {"run.txt": against}).runs

    assert lists_of(session, run.id) == {"q1": ["low", "high"]}
    assert "results_rank_against_score" in {problem.code for problem in report.problems}


def test_grades_above_the_scale_set_it_before_the_first_verdict_only(
    session: Session, study: Study
) -> None:
    files = {"run.txt": ONE, "topics.tsv": TOPICS, "qrels.txt": "q1 0 d7 3\nq1 0 d2 0\n"}
    assert look(session, study, files).fits == 3
    imported(session, study, files, rater="a")
    assert Scale.stored(study.scale).top == 3
    assert set(session.scalars(select(Judgment.verdict))) == {"0", "3"}

    higher = {"qrels.txt": "q1 0 d7 4\n"}
    report = look(session, study, higher)
    assert isinstance(report.refused, OtherScale)
    assert (report.fits, report.brings_something) == (None, False)
    before = count(session, Event)
    with pytest.raises(OtherScale):
        imported(session, study, higher, rater="b")
    assert (count(session, Event), Scale.stored(study.scale).top) == (before, 3)
    unfit = look(session, study, {"q.txt": "q1 0 d7 7\nq1 0 d2 1\n"})
    assert unfit.group.unfit_grades == ("1", "7")  # no scale is so high
    assert not unfit.brings_something


def test_grades_are_never_given_to_a_rater_of_the_study_without_a_word(
    session: Session, study: Study, rater: Rater
) -> None:
    imported(session, study, {"run.txt": ONE, "topics.tsv": TOPICS})
    grades = {"qrels.txt": "q1 0 d7 1\n"}
    before = count(session, Event)
    with pytest.raises(KnownRater):
        imported(session, study, grades, rater=rater.name)
    assert count(session, Event) == before

    response = imported(session, study, grades, rater=rater.name, confirmed=True)
    assert response.grades == {rater.name: 1}
    assert session.scalars(select(Judgment.rater_id)).all() == [rater.id]


def test_graders_may_be_unsure_and_be_several(session: Session, study: Study) -> None:
    rated = "query,docid,rating,rater\nred dress,d7,unsure,Ani\nred dress,d7,1,Budi\n"
    run = {"run.txt": ONE, "topics.tsv": TOPICS}
    assert imported(session, study, {**run, "ratings.csv": rated}).grades == {
        "Ani": 1,
        "Budi": 1,
    }

    verdicts = {scalar.rater_id: scalar.verdict for scalar in session.scalars(select(Judgment))}
    assert verdicts == {
        rater_named(session, study, "Ani").id: "unsure",
        rater_named(session, study, "Budi").id: "1",
    }


def test_texts_are_filled_when_the_run_comes_again_with_its_collection(
    session: Session, study: Study
) -> None:
    (run,) = imported(session, study, {"run.txt": ONE}).runs
    rater = studies.raters(session, study)[0]
    judgments.judge(session, rater, run.id, 1, 1, Relevance.RELEVANT, click("e"))
    files = {"run.txt": ONE, "topics.tsv": TOPICS, "corpus.jsonl": CORPUS}
    assert look(session, study, files).brings_something
    (again,) = imported(session, study, files).runs

    assert again.id == run.id
    query = session.scalars(select(Query).where(Query.run_id == run.id).order_by(Query.id)).first()
    assert query is not None
    assert query.question.text == "red dress"
    texts = [listed_item(result.card, result.judged_item.card).text for result in query.results]  # type: ignore[attr-defined]
    assert texts == ["Long red dress", "Red gown"]
    assert session.scalars(select(Judgment.verdict)).all() == ["1"]
    assert not look(session, study, files).brings_something


def test_ids_that_name_passages_are_remembered_for_files_that_do_not_show_it(
    session: Session, study: Study
) -> None:
    def table(system: str, *rows: str) -> str:
        lines = (f"red,{system},{n},{row}" for n, row in enumerate(rows, 1))
        return "\n".join(["query,system,rank,doc_id,text", *lines])

    two = table("a", "d7,It is long", "d7,It is red")
    content = table("b", "d7,It is red")
    assert look(session, study, {"a.csv": two}).group.has_passages
    assert not look(session, study, {"b.csv": content}).group.has_passages
    imported(session, study, {"a.csv": two})
    imported(session, study, {"b.csv": content})

    assert count(session, Result) == 3
    assert count(session, JudgedItem) == 2


def test_ids_are_not_taken_for_passages_beside_runs_where_they_were_items(
    session: Session, study: Study
) -> None:
    """Else a text that two runs list would be judged twice, and an earlier run be imported anew."""
    files = {"a.csv": "query,system,rank,doc_id,text\nred,a,1,d7,It is red\n"}
    two = {"b.csv": "query,system,rank,doc_id,text\nred,b,1,d7,It is long\nred,b,2,d7,It is red\n"}
    imported(session, study, files)
    before = {table: count(session, table) for table in (Run, Result, JudgedItem)}

    assert isinstance(look(session, study, two).refused, OtherIds)
    with pytest.raises(OtherIds):
        imported(session, study, two)
    assert {table: count(session, table) for table in before} == before
    runs.delete_run(session, study, session.scalars(select(Run.id)).one(), NOW)
    imported(session, study, {**files, **two})
    items = session.scalars(select(Result.judged_item_id).order_by(Result.id)).all()
    assert items[0] == items[2] != items[1]


def test_a_study_turns_blind_by_a_run_of_the_same_questions_only(
    session: Session, study: Study
) -> None:
    imported(session, study, {"one.txt": ONE, "topics.tsv": TOPICS})
    other_questions = {"law.txt": "l1 Q0 s1 1 1 a\n", "topics.tsv": "l1\thow to sue\n"}

    assert not look(session, study, other_questions).turns_blind
    assert look(session, study, {"other.txt": OTHER}).turns_blind
    assert not look(session, study, {"one.txt": ONE, "topics.tsv": TOPICS}).turns_blind
    assert look(session, study, {"two.txt": ONE.replace("bm25", "a") + OTHER}).turns_blind
    imported(session, study, other_questions)
    assert not studies.is_blind(session, study)


def test_columns_are_remembered_for_files_of_the_same_shape(session: Session, study: Study) -> None:
    def table(system: str) -> str:
        return f"Frage,Treffer,Weg,other\nred,Long dress {system},{system},x\n"

    chosen = Choices({"query": "Frage", "text": "Treffer", "system": "Weg"})
    assert look(session, study, {"a.csv": table("a")}).group.names == {
        "Frage": "red",
        "Treffer": "Long dress a",
        "Weg": "a",
        "other": "x",
    }
    assert not look(session, study, {"a.csv": table("a")}).brings_something
    imported(session, study, {"a.csv": table("a")}, choices=chosen)
    assert [run.search_method for run in imported(session, study, {"b.csv": table("b")}).runs] == [
        "b"
    ]
    assert count(session, Run) == 2
    assert count(session, QuestionSet) == 1


def test_broken_lines_are_refused_and_empty_lists_kept(session: Session, study: Study) -> None:
    with pytest.raises(ImportRefused) as refused:
        look(session, study, {"run.txt": ONE + "q2 Q0 d9\n"})
    assert (refused.value.problem.code, refused.value.problem.line) == ("results_word_count", 4)
    imported(session, study, {"run.txt": ONE, "topics.tsv": TOPICS + "q3\tno hits\n"})

    states = select(Query.state).order_by(Query.id)
    assert session.scalars(states).all() == ["results", "results", "empty"]


def test_a_study_of_properties_takes_no_documents(session: Session, study: Study) -> None:
    store(session, study, run(query(1, card("a"))))
    assert isinstance(look(session, study, {"run.txt": ONE}).refused, OtherKind)
    with pytest.raises(OtherKind):
        imported(session, study, {"run.txt": ONE})
    assert (count(session, Run), study.kind) == (1, "property")


def test_metadata_that_one_system_states_is_shown_only_on_demand(
    session: Session, study: Study
) -> None:
    table = "query,system,rank,doc_id,text,year,cosine\nred,a,1,d7,Dress,2019,0.4\n"
    corpus = '{"_id": "d7", "text": "Dress", "author": "Ani"}\n'
    report = look(session, study, {"a.csv": table, "corpus.jsonl": corpus})
    assert report.group.meta.get("year") is False
    imported(session, study, {"a.csv": table, "corpus.jsonl": corpus}, meta=["year"])
    card = session.scalars(select(JudgedItem.card)).one()
    assert card is not None
    assert card["meta"] == {"year": "2019"}


@pytest.mark.thorough
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_storing_holds_little_beside_what_was_read(
    session: Session, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A portion of its rows with their texts, 10 MB of which are stored."""
    monkeypatch.setattr(stored_runs, "PORTION", 100)
    monkeypatch.setattr(stored_results, "AT_ONCE", 5)
    places = ((s, q, n) for s in "ab" for q in range(100) for n in range(20))
    lines = "".join(f"q{q} Q0 d{n} {n} {99 - n} {s}\n" for s, q, n in places)
    corpus = "".join(f'{{"_id": "d{n}", "text": "{n} {"word " * 1_000}"}}\n' for n in range(20))
    qrels = "".join(f"q{q} 0 d{n} 1\n" for q in range(100) for n in range(3))
    files = [("run.txt", lines.encode()), ("corpus.jsonl", corpus.encode())]
    files += [("qrels.txt", qrels.encode())]
    report = results.read_files("files", files)
    tracemalloc.start()
    try:
        stored_results.store(session, study, report, NOW)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (count(session, Result), count(session, Judgment)) == (4_000, 300)
    assert peak < 6 * 2**20
