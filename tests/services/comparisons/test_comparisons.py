"""Which runs or rated CSVs are compared, what they are called, and how each rule judges them."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.metrics.comparisons.stability import VariedPart
from relevansi.records import Blindness, Relevance
from relevansi.services.agreement import adjudications
from relevansi.services.comparisons import chosen_runs, comparisons, rated_comparisons
from relevansi.services.comparisons.chosen_runs import DifferentQuestions, NothingToCompare, Side
from relevansi.services.comparisons.rated_comparisons import RatedCsv
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.judging.judgments import UnknownQuery
from relevansi.services.people import raters
from relevansi.services.runs import reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.runs.runs import UnknownRun
from relevansi.services.study import studies
from tests.cli.rated_files import HEADER
from tests.conftest import NOW
from tests.metrics.comparisons.compared import differences_of
from tests.services.comparisons.stored_runs import judge, stored
from tests.services.runs.runs import card, click, query

YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT


@pytest.fixture(name="pair")
def _pair(session: Session, study: Study, rater: Rater) -> tuple[str, str]:
    """Two runs of two questions; "same" is in both lists of the first one."""
    first = stored(session, study, "api", query(1, card("same"), card("a")), query(2, card("b")))
    second = stored(session, study, "hybrid", query(1, card("c"), card("same")), query(2))
    judge(session, rater, first, "10", "1")
    judge(session, rater, second, "0")
    return first, second


def test_a_verdict_serves_every_run_that_showed_the_property(
    session: Session, study: Study, pair: tuple[str, str]
) -> None:
    report = comparisons.report(session, study, pair, reports.rule_of(session, study))

    comparison = report.comparison
    assert [contender.run.name for contender in comparison.contenders] == ["api", "Hybrid"]
    first, second = comparison.contenders
    assert first.estimates["mean_precision_at_5"].figure.value == 0.75  # (1/2 + 1/1) / 2
    assert second.estimates["mean_precision_at_5"].figure.value == 0.5  # "same" came along
    assert second.missing.incomplete == (2,)  # its empty list is not classified
    assert [judgments for _, judgments in report.raters] == [4]  # same, a, b, c
    assert report.judged_until == NOW


def test_each_rater_is_left_out_and_every_other_rule_tried(
    session: Session, study: Study, rater: Rater, pair: tuple[str, str]
) -> None:
    owner = reports.of_rater(rater)
    alone = comparisons.report(session, study, pair, Rule("majority"))
    assert VariedPart.RATER not in {line.change for line in alone.stability.lines}

    ani = studies.add_rater(session, study, "Ani", NOW)
    judge(session, ani, pair[0], "01", "0")
    judge(session, ani, pair[1], "1")
    merged = comparisons.report(session, study, pair, Rule("majority"))
    report = comparisons.report(session, study, pair, owner)

    left_out = [line for line in merged.stability.lines if line.change is VariedPart.RATER]
    assert {(line.figure, line.tried) for line in left_out} >= {("mrr", 2)}
    # MRR: the owner has api 1, hybrid 1/2; Ani api 1/4, hybrid 1. Merged, all is a tie.
    (rules,) = [
        line
        for line in report.stability.lines
        if line.change is VariedPart.RULE and line.figure == "mrr"
    ]
    assert [moved.what for moved in rules.moved] == ["rater Ani"]
    assert rules.tried == 1


def test_an_adjudicated_verdict_counts_in_every_run(
    session: Session, study: Study, rater: Rater, pair: tuple[str, str]
) -> None:
    ani = studies.add_rater(session, study, "Ani", NOW)
    judge(session, ani, pair[0], "01", "0")
    same = next(
        dispute
        for dispute in adjudications.docket(session, study).ties
        if dispute.card is not None and dispute.card.identity[5:] == "same"
    )
    adjudications.adjudicate(session, rater, same.item_id, YES, "It is.", NOW)

    merged = comparisons.report(session, study, pair, Rule("adjudicated"))

    verdicts = [c.run.queries[0].verdicts for c in merged.comparison.contenders]
    assert verdicts == [(YES, None), (NO, YES)]


def test_the_default_of_a_phase_is_the_newest_complete_run_of_each_method(
    session: Session, study: Study, rater: Rater
) -> None:
    old = stored(session, study, "api", query(1, card("a")), hour=1)
    new = stored(session, study, "api", query(1, card("b")), hour=2)
    stored(session, study, "api", query(1, card("c")), hour=3)
    hybrid = stored(session, study, "hybrid", query(1, card("d")), hour=0)
    for rated in (old, new):
        judge(session, rater, rated, "1")

    assert chosen_runs.of_phase(session, study, 1) == (new, hybrid)
    assert chosen_runs.phases_of(session, study) == (1,)
    with pytest.raises(NothingToCompare):
        chosen_runs.of_phase(session, study, 2)


def test_the_best_method_s_run_serves_both_phases(session: Session, study: Study) -> None:
    stored(session, study, "api", query(1, card("a")), llm="gpt")
    stored(session, study, "hybrid", query(1, card("b")), llm="gpt", hour=1)
    stored(session, study, "hybrid", query(1, card("c")), llm="claude", hour=2)

    phases = {phase: chosen_runs.of_phase(session, study, phase) for phase in (1, 2)}

    labels = {
        1: [("api", "gpt"), ("hybrid", "gpt")],
        2: [("hybrid", "gpt"), ("hybrid", "claude")],  # as they were imported
    }
    for phase, chosen in phases.items():
        report = comparisons.report(session, study, chosen, Rule("majority"))
        assert report.phase == phase
        found_labels = [
            (contender.run.search_method, contender.run.llm)
            for contender in report.comparison.contenders
        ]
        assert found_labels == labels[phase]


def test_runs_of_different_questions_are_refused_with_what_differs(
    session: Session, study: Study
) -> None:
    first = stored(session, study, "api", query(1, text="Alike"), query(2, text="Only here"))
    second = stored(session, study, "hybrid", query(1, text="Alike"), query(2, text="Only there"))

    with pytest.raises(DifferentQuestions) as refused:
        comparisons.report(session, study, [first, second], Rule("majority"))

    assert refused.value.only == {"api": ((2, "Only here"),), "Hybrid": ((2, "Only there"),)}


def test_one_run_is_compared_with_nothing(session: Session, study: Study) -> None:
    run_id = stored(session, study, "api", query(1, card("a")))

    for run_ids in ([], [run_id], [run_id, run_id]):
        with pytest.raises(NothingToCompare):
            comparisons.report(session, study, run_ids, Rule("majority"))
    with pytest.raises(UnknownRun):
        comparisons.report(session, study, [run_id, "nowhere"], Rule("majority"))


def test_a_run_s_name_is_the_shortest_that_distinguishes_it(session: Session, study: Study) -> None:
    first = stored(session, study, "api", query(1, card("a")), llm="gpt")
    second = stored(session, study, "api", query(1, card("b")), llm="claude")
    third = stored(session, study, "api", query(1, card("c")), llm="claude")

    def names(*run_ids: str) -> list[str]:
        return list(chosen_runs.names_of([runs.find(session, study, r) for r in run_ids]).values())

    assert names(first, second) == ["gpt", "claude"]
    assert names(second, third) == [f"api · claude · {second}", f"api · claude · {third}"]


def rated(name: str, *lines: str, label: str | None = None) -> RatedCsv:
    """Return a rated CSV with `lines`, each from results_count on; questions 1, 2 and so on."""
    rows = (f"{n},Rumah {n}?,lokasi,{line}\n" for n, line in enumerate(lines, 1))
    return RatedCsv(name, (HEADER + "".join(rows)).encode(), label)


HYBRID = rated("hybrid/rated.csv", "5,4,1,,,,,4,", "5,3,2,,,,,3,")
API = rated("api_only/rated.csv", "5,2,1,,,,,2,", "5,3,1,,,,,3,")


def test_the_mean_difference_is_that_of_the_questions_both_have() -> None:
    report, problems = rated_comparisons.compare_files([HYBRID, API])

    (precision,) = (
        difference
        for difference in differences_of(report.comparison, "mean_precision_at_5")
        if not difference.false_negatives_at_zero
    )
    (rank,) = differences_of(report.comparison, "mrr")
    assert precision.n == rank.n == 2
    assert precision.mean == pytest.approx(0.2)  # (.8 - .4 + .6 - .6) / 2
    assert rank.mean == pytest.approx(-0.25)  # (1 - 1 + 1/2 - 1) / 2
    assert problems == []
    assert report.files == ("hybrid/rated.csv", "api_only/rated.csv")
    assert (report.raters, report.blindness) == ((), Blindness())


def test_files_that_count_cannot_tell_differently_are_compared_with_a_warning() -> None:
    as_before = rated("hybrid/rated.csv", "5,2,1,,,,,4,cannot tell: rank 5")
    as_seed = rated("api_only/rated.csv", "5,2,1,,,,,4,cannot tell (not relevant): rank 5")
    report, problems = rated_comparisons.compare_files([as_before, as_seed])

    (precision, _) = differences_of(report.comparison, "mean_precision_at_5")
    assert precision.mean == pytest.approx(2 / 4 - 2 / 5)
    assert [problem.code for problem in problems] == ["csv_cannot_tell_differs"]
    assert report.cannot_tell is None
    alike, none = rated_comparisons.compare_files([as_seed, rated("x/rated.csv", "5,2,1,,,,,4,")])
    assert (none, alike.cannot_tell) == ([], "not_relevant")


def test_files_of_equal_names_are_distinguished_by_their_paths_or_a_number() -> None:
    names = rated_comparisons.names_of([HYBRID, API, RatedCsv("old/hybrid/rated.csv", b"")])
    assert names == ["hybrid/rated.csv", "API Only", "old/hybrid/rated.csv"]
    assert rated_comparisons.names_of([HYBRID, HYBRID]) == [
        "hybrid/rated.csv",
        "hybrid/rated.csv (2)",
    ]
    labelled = RatedCsv(HYBRID.name, HYBRID.data, label="Mine")
    assert rated_comparisons.names_of([labelled, API]) == ["Mine", "API Only"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("hybrid/evaluation_rated_20260125.csv", "hybrid"),
        ("x/evaluation_rated_api_only_20260125_101500.csv", "api_only"),
        ("x/exported-vector-latest.csv", "vector"),
        ("rated.csv", "rated"),
    ],
)
def test_a_method_is_read_from_the_file_s_name_else_from_its_folder(path: str, name: str) -> None:
    assert rated_comparisons.method_name(path) == name


def test_a_file_may_lack_questions_of_the_longest_but_have_no_others() -> None:
    shorter = rated("api_only/rated.csv", "5,2,1,,,,,2,")
    assert len(rated_comparisons.compare_files([HYBRID, shorter])[0].comparison.contenders) == 2

    different = RatedCsv("x.csv", API.data.replace(b"Rumah 2?", b"Ruko 2?"))
    with pytest.raises(DifferentQuestions) as refused:
        rated_comparisons.compare_files([HYBRID, different])
    assert refused.value.only == {"Hybrid": ((2, "Rumah 2?"),), "x": ((2, "Ruko 2?"),)}


@pytest.fixture(name="lists")
def _lists(session: Session, study: Study) -> tuple[str, str]:
    """Hybrid answered questions 1 to 3; API answered 1 and 3 with lists of its own."""
    hybrid = stored(
        session, study, "hybrid", query(1, card("a"), card("b")), query(2, card("c")), query(3)
    )
    api_queries = query(1, card("b"), card("d")), query(3, card("e"))
    return hybrid, stored(session, study, "api_only", *api_queries, hour=1)


def test_a_card_of_both_lists_has_one_verdict_and_names_its_rank_in_the_other(
    session: Session, study: Study, rater: Rater, lists: tuple[str, str]
) -> None:
    judgments.judge(session, rater, lists[0], 1, 2, YES, click("b"))
    judgments.rate(session, rater, lists[1], 1, AnswerRating(notes="fine"), click("n"))

    result = chosen_runs.compared_question(session, study, lists, 1, reports.of_rater(rater))
    hybrid, api = result.sides
    hybrid_cards = [
        (item.card.identity[5:], item.verdict, item.elsewhere) for item in hybrid.results
    ]
    assert hybrid_cards == [("a", None, []), ("b", YES, [(1, 1)])]
    assert [item.verdict for item in api.results] == [YES, None]
    assert api.results[0].elsewhere == [(0, 2)]
    assert not any(item.votes for item in hybrid.results)  # one rater's verdicts are no votes
    assert (hybrid.notes, api.notes) == ("", "fine")
    assert api.answer is not None
    assert api.answer.summary.first_relevant_rank == 1


def test_a_merged_verdict_stands_beside_its_votes(
    session: Session, study: Study, rater: Rater, lists: tuple[str, str]
) -> None:
    ani = raters.add(session, study, "Ani", NOW)
    judgments.judge(session, rater, lists[0], 1, 2, YES, click("a"))
    judgments.judge(session, ani, lists[0], 1, 2, NO, click("b"))

    result = chosen_runs.compared_question(session, study, lists, 1, Rule(reports.MAJORITY))
    assert [item.votes for item in result.sides[0].results] == [(), (NO, YES)]


def test_questions_of_any_of_the_runs_can_be_walked_through(
    session: Session, study: Study, rater: Rater, lists: tuple[str, str]
) -> None:
    rule = reports.of_rater(rater)
    question = chosen_runs.compared_question(session, study, lists, 2, rule)

    assert question.positions == (1, 2, 3)
    assert question.sides[1] == Side("API Only")  # it was not asked question 2
    alone = chosen_runs.compared_question(session, study, [lists[1]], 1, rule)
    assert alone.positions == (1, 3)  # API alone was never asked question 2


def test_a_place_without_a_question_and_an_unknown_run_are_not_found(
    session: Session, study: Study, rater: Rater, lists: tuple[str, str]
) -> None:
    with pytest.raises(UnknownQuery):
        chosen_runs.compared_question(session, study, lists, 4, reports.of_rater(rater))
    with pytest.raises(UnknownRun):
        chosen_runs.compared_question(session, study, [*lists, "gone"], 1, reports.of_rater(rater))
