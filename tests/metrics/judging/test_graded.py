"""Ranking figures of graded lists: by hand, by their properties, by ir-measures and gdeval.

A list is written as one reads it: its grades, U for cannot tell, "." for unjudged.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping
from itertools import product

import ir_measures
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ir_measures import ERR, RR, Bpref, Judged, P, Rprec, Success, infAP, nDCG
from ir_measures.measures import AP, R

from relevansi.i18n import speaking
from relevansi.metrics.judging.figures import Figure, Totals, figures
from relevansi.metrics.judging.graded import FORMS, RankedGrades, UnknownFigure, ranking_figure
from relevansi.metrics.judging.queries import Span
from relevansi.metrics.judging.registry import MEASURES, RANKING, label_on, ranking_measure
from relevansi.records import BINARY, Number, Scale
from tests.metrics.judging import verdicts

GRADED = Scale(3, 2)


def grades(letters: str) -> tuple[Number, ...]:
    special: dict[str, Number] = {"U": "unsure", ".": None}
    return tuple(special[letter] if letter in special else int(letter) for letter in letters)


def ranked(listed: str, further: str = "", scale: Scale = BINARY, tail: str = "") -> RankedGrades:
    """A list whose pool is its own grades and `further` ones that it does not have."""
    pool = [grade for grade in grades(listed + tail + further) if isinstance(grade, int)]
    return RankedGrades(grades(listed), tuple(pool), scale, grades(tail))


def value(name: str, ranks: RankedGrades) -> float | None:
    return ranking_figure(name).of(ranks).value


# --- By hand ---------------------------------------------------------------------------------

BY_HAND: list[tuple[str, RankedGrades, float | None, float | None, float | None]] = [
    ("P@5", ranked(""), None, None, None),
    ("P@5", ranked("101"), 2 / 3, 2 / 3, 2 / 3),  # min(n, k) = 3
    ("P@2", ranked("101"), 1 / 2, 1 / 2, 1 / 2),
    ("P@5", ranked("1U.0"), 1 / 4, 1 / 4, 2 / 4),  # cannot tell is settled, unjudged is not
    ("P@5", ranked("000"), 0, 0, 0),
    ("P@5", ranked("123", scale=GRADED), 2 / 3, 2 / 3, 2 / 3),
    ("P@5", ranked("1.", tail="11."), 3 / 5, 3 / 5, 4 / 5),  # nobody is asked for the tail
    ("P@5 (trec_eval)", ranked(""), None, None, None),
    ("P@5 (trec_eval)", ranked("1U."), 1 / 5, None, None),
    ("success", ranked(""), 0, 0, 0),
    ("success", ranked("00U"), 0, 0, 0),
    ("success", ranked("00."), 0, 0, 1),
    ("success", ranked("0.1"), 1, 1, 1),
    ("success@2", ranked("001"), 0, 0, 0),
    ("success@2", ranked("1"), 1, 1, 1),
    ("success", ranked("11", scale=GRADED), 0, 0, 0),
    ("RR", ranked(""), 0, 0, 0),
    ("RR", ranked("U01"), 1 / 3, 1 / 3, 1 / 3),
    ("RR", ranked("0.1"), 1 / 3, 1 / 3, 1 / 2),
    ("RR", ranked("0", tail=".1"), 1 / 3, 1 / 3, 1 / 3),
    ("RR@2", ranked("001"), 0, 0, 0),
    ("RR@2", ranked("00."), 0, 0, 0),
    ("RR@5", ranked("12", scale=GRADED), 1 / 2, 1 / 2, 1 / 2),
    ("relevant@2", ranked(".11"), 1, 1, 2),
    ("relevant@5", ranked(""), 0, 0, 0),
    ("Judged@5", ranked(""), None, None, None),
    ("Judged@5", ranked("1U."), 2 / 3, 2 / 3, 2 / 3),
    ("Judged@2", ranked("1U."), 1, 1, 1),
    # RBP: weights 0.2, 0.16, 0.128; the rest of the ranks have 0.8^3 = 0.512
    ("RBP", ranked(""), 0, 0, 1),
    ("RBP", ranked("101"), 0.328, 0.328, 0.84),
    ("RBP", ranked("1U."), 0.2, 0.2, 0.2 + 0.128 + 0.512),
    ("RBP", ranked("1", tail=".1"), 0.328, 0.328, 1),
    ("RBP(0.5)", ranked("01"), 0.25, 0.25, 0.5),
    ("RBP(0.5)", ranked("12", scale=GRADED), 0.25, 0.25, 0.5),
    # ERR, g = 3: a grade of 1, 2, 3 stops 1/8, 3/8, 7/8 of the readers
    ("ERR@5", ranked(""), 0, 0, 0),
    ("ERR@5", ranked("31", scale=GRADED), 7 / 8 + 1 / 8 * 1 / 8 / 2, 113 / 128, 113 / 128),
    ("ERR@1", ranked("03", scale=GRADED), 0, 0, 0),
    ("ERR@5", ranked("U2", scale=GRADED), 3 / 16, 3 / 16, 3 / 16),
    ("ERR@5", ranked(".2", scale=GRADED), 3 / 16, 3 / 16, 7 / 8 + 1 / 8 * 3 / 8 / 2),
    ("ERR@5", ranked("01"), 1 / 4, 1 / 4, 1 / 4),
    # nDCG: discounts 1, 1/log2(3) = 0.63093, 1/2
    ("nDCG@5", ranked(""), None, None, None),
    ("nDCG@5", ranked("", "12", scale=GRADED), 0, None, None),
    ("nDCG@5", ranked("000U."), None, None, None),
    ("nDCG@5 (trec_eval)", ranked("000U."), 0, None, None),
    ("nDCG@5", ranked("203", scale=GRADED), 3.5 / (3 + 2 * 0.6309297535714575), None, None),
    ("nDCG@2", ranked("10", "31", scale=GRADED), 1 / (3 + 0.6309297535714575), None, None),
    ("nDCG@5", ranked("U.1"), 0.5, None, None),
    ("nDCG@5", ranked("1", scale=GRADED), 1, None, None),  # R is 0, the ideal is not
    (
        "nDCG@5 (exponential)",
        ranked("203", scale=GRADED),
        (3 + 7 / 2) / (7 + 3 * 0.6309297535714575),
        None,
        None,
    ),
    ("nDCG@5 (exponential)", ranked("00"), None, None, None),
    ("recall@5", ranked("", "1"), 0, None, None),
    ("recall@5", ranked("00U"), None, None, None),
    ("recall@5 (trec_eval)", ranked("00U"), 0, None, None),
    ("recall@2", ranked("101", "1"), 1 / 3, None, None),
    ("recall@9", ranked("1U.1", "1"), 2 / 3, None, None),
    ("recall@9", ranked("12", "23", scale=GRADED), 1 / 3, None, None),
    ("R-precision", ranked("00"), None, None, None),
    ("R-precision (trec_eval)", ranked("00"), 0, None, None),
    ("R-precision", ranked("1.U1", "1"), 1 / 3, None, None),
    ("R-precision", ranked("1", "1"), 1 / 2, None, None),  # shorter than R
    ("R-precision", ranked("0", "1", tail="1"), 1 / 2, None, None),
    ("AP", ranked(""), None, None, None),
    ("AP (trec_eval)", ranked("0U."), 0, None, None),
    ("AP", ranked("1.U1", "1"), (1 + 2 / 4) / 3, None, None),
    ("AP", ranked("0", "", tail="1"), 1 / 2, None, None),
    ("AP", ranked("12", scale=GRADED), 1 / 2, None, None),
    ("bpref", ranked("0"), None, None, None),
    ("bpref (trec_eval)", ranked("0"), 0, None, None),
    ("bpref", ranked("11"), 1, None, None),  # none is not relevant
    ("bpref", ranked("1.U01", "0"), (1 + 1 / 2) / 2, None, None),
    ("bpref", ranked("0001", "1"), 0, None, None),  # at most R count above
    ("bpref", ranked("12", scale=GRADED), 0, None, None),
    ("infAP", ranked("0"), None, None, None),
    ("infAP (trec_eval)", ranked("0"), 0, None, None),
    ("infAP", ranked("1", "1"), 1 / 2, None, None),
    ("infAP", ranked(".1"), (1 + 1 / 2) / 2, None, None),  # nothing judged above: one half
    ("infAP", ranked("U1"), (1 + 1 / 2) / 2, None, None),
    ("infAP", ranked("1", tail=".1"), (1 + (1 + 1.00001 / 1.00002) / 3) / 2, None, None),
    ("infAP", ranked("1", tail="U1"), (1 + (1 + 2 * 1.00001 / 1.00002) / 3) / 2, None, None),
]


@pytest.mark.parametrize(("name", "ranks", "expected", "lower", "upper"), BY_HAND)
def test_figures_worked_out_by_hand(
    name: str, ranks: RankedGrades, expected: float | None, lower: float | None, upper: float | None
) -> None:
    assert ranking_figure(name).of(ranks) == pytest.approx((expected, lower, upper), abs=1e-12)


def test_every_form_of_names_is_worked_out_by_hand() -> None:
    figures = [ranking_figure(name) for name, *_ in BY_HAND]
    assert all(any(figure.form is form for figure in figures) for form in FORMS.values())


# --- Names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "label", "needs_pool"),
    [
        ("P@5", "P@5", False),
        ("p@20", "P@20", False),
        (" P@5 (TREC_EVAL) ", "P@5 (trec_eval)", True),
        ("success", "success", False),
        ("Success@1", "success@1", False),
        ("rr", "RR", False),
        ("RR@10", "RR@10", False),
        ("ndcg@10", "nDCG@10", True),
        ("nDCG@1000 (exponential)", "nDCG@1000 (exponential)", True),
        ("err@10", "ERR@10", False),
        ("RBP", "RBP", False),
        ("rbp(0.80)", "RBP(0.8)", False),
        ("RBP(.95)", "RBP(0.95)", False),
        ("judged@10", "Judged@10", False),
        ("recall@100", "recall@100", True),
        ("r-precision", "R-precision", True),
        ("ap (trec_eval)", "AP (trec_eval)", True),
        ("bpref", "bpref", True),
        ("infap", "infAP", True),
    ],
)
def test_a_name_is_read_in_any_case_and_spelt_as_usual(
    name: str, label: str, needs_pool: bool
) -> None:
    figure = ranking_figure(name)

    assert figure.name == label
    assert figure.needs_pool is needs_pool
    assert ranking_figure(label) == figure
    assert ranking_measure(name).label == label


@pytest.mark.parametrize(
    "name",
    [
        *("", "P", "P@", "P@0", "P@05", "P@1001", "P@-1", "P@5.0", "P@٥", "P@5 (exponential)"),  # noqa: RUF001
        *("nDCG", "nDCG@10 (linear)", "nDCG@10(exponential)", "MRR", "RR (trec_eval)", "AP@5"),
        *("RBP(1)", "RBP(0)", "RBP(.0)", "RBP(1.2)", "RBP(0.12345)", "RBP@5", "P@5, RR", "K@5"),
    ],
)
def test_another_name_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(UnknownFigure) as refused:
        ranking_figure(name)
    with speaking("en"):
        assert name in refused.value.sentence()
        assert all(form in refused.value.advice() for form in FORMS)


def test_every_figure_is_explained() -> None:
    families = {
        ranking_figure(form.replace("@k", "@5").replace("(p)", "(0.5)")).family for form in FORMS
    }
    assert families == set(RANKING)


@pytest.mark.parametrize(
    ("name", "is_binary"),
    [("P@5", True), ("RR", True), ("nDCG@10", False), ("ERR@5", False), ("Judged@5", False)],
)
def test_a_figure_of_relevant_or_not_names_the_grade_of_a_graded_study(
    name: str, is_binary: bool
) -> None:
    measure = ranking_measure(name)
    with speaking("en"):
        assert label_on(measure, BINARY) == name
        assert ("2" in label_on(measure, GRADED).removeprefix(name)) is is_binary
        assert "2" in label_on(MEASURES["mean_precision_at_5"], GRADED)
        assert "2" not in label_on(MEASURES["coverage"], GRADED)


# --- Properties ------------------------------------------------------------------------------

scales = st.integers(1, 4).flatmap(lambda top: st.builds(Scale, st.just(top), st.integers(1, top)))


@st.composite
def lists(draw: st.DrawFn, *, judged: bool = False) -> RankedGrades:
    scale = draw(scales)
    grade = st.integers(0, scale.top)
    entry: st.SearchStrategy[Number] = grade
    if not judged:
        entry = st.one_of(grade, st.none(), st.just("unsure"))
    listed, tail = draw(st.lists(entry, max_size=12)), draw(st.lists(entry, max_size=4))
    pool = [verdict for verdict in (*listed, *tail) if isinstance(verdict, int)]
    pool += draw(st.lists(grade, max_size=6))
    return RankedGrades(tuple(listed), tuple(pool), scale, tuple(tail))


NAMES = (
    *("P@3", "P@3 (trec_eval)", "success", "success@2", "RR", "RR@3", "nDCG@3"),
    *("nDCG@3 (trec_eval)", "nDCG@3 (exponential)", "ERR@3", "RBP", "RBP(0.5)", "Judged@3"),
    *("relevant@3", "recall@3", "recall@3 (trec_eval)", "R-precision", "R-precision (trec_eval)"),
    *("AP", "AP (trec_eval)", "bpref", "bpref (trec_eval)", "infAP", "infAP (trec_eval)"),
)
FILLED = tuple(name for name in NAMES if not ranking_figure(name).needs_pool and name != "Judged@3")


def completions(ranks: RankedGrades) -> Iterator[RankedGrades]:
    """The list with every way in which its open results can still be judged."""
    scale = ranks.scale
    verdicts: tuple[Number, ...] = (*range(scale.top + 1), "unsure")
    ways = [verdicts if verdict is None else (verdict,) for verdict in ranks.listed]
    for listed in product(*ways):
        yield RankedGrades(listed, ranks.pool, scale, ranks.tail)


@pytest.mark.parametrize(
    ("n", "scale"),
    [*((n, BINARY) for n in range(5)), (2, Scale(2, 1)), (3, Scale(2, 1)), (3, Scale(2, 2))],
)
def test_the_bounds_are_what_the_finished_judging_can_reach(n: int, scale: Scale) -> None:
    """Every list of this length: each completion is within the bounds, and each bound is met."""
    letters: tuple[Number, ...] = (*range(scale.top + 1), "unsure", None)
    for listed in product(letters, repeat=n):
        ranks = RankedGrades(listed, scale=scale)
        finished = list(completions(ranks))
        for name in FILLED:
            result = ranking_figure(name).of(ranks)
            reached = [value(name, completion) for completion in finished]
            if result.value is None:
                assert set(reached) == {None}
                continue
            values = [number for number in reached if number is not None]
            assert len(values) == len(reached)
            assert result.lower is not None
            assert result.upper is not None
            assert result.lower <= min(values) + 1e-12
            assert max(values) <= result.upper + 1e-12
            if not name.startswith("RBP"):  # whose residual is also of ranks that are not there
                assert (min(values), max(values)) == pytest.approx((result.lower, result.upper))


@given(lists(judged=True))
def test_complete_judging_leaves_nothing_open(ranks: RankedGrades) -> None:
    for name in FILLED:
        result = ranking_figure(name).of(ranks)
        if name.startswith("RBP"):
            remainder = float(name[4:-1] or "0.8") if "(" in name else 0.8
            n = len(ranks.ranks)
            assert result.upper == pytest.approx((result.lower or 0) + remainder**n)
        else:
            assert result == Span.settled(result.value)


@pytest.mark.parametrize("scale", [BINARY, Scale(2), Scale(3)])
def test_err_never_falls_when_a_grade_rises(scale: Scale) -> None:
    """Every list up to length 5: the ground of its bounds."""
    for n in range(1, 6):
        for listed in product(range(scale.top + 1), repeat=n):
            before = value("ERR@9", RankedGrades(listed, scale=scale))
            for place, grade in enumerate(listed):
                if grade < scale.top:
                    better = (*listed[:place], grade + 1, *listed[place + 1 :])
                    after = value("ERR@9", RankedGrades(better, scale=scale))
                    assert before is not None
                    assert after is not None
                    assert after > before


@given(lists())
def test_every_figure_is_between_0_and_1(ranks: RankedGrades) -> None:
    for name in NAMES:
        result = ranking_figure(name).of(ranks)
        top = 3 if name == "relevant@3" else 1
        assert all(0 <= bound <= top + 1e-12 for bound in result if bound is not None), name


@given(lists())
def test_the_best_order_of_the_pool_has_an_ndcg_of_1(ranks: RankedGrades) -> None:
    assume(any(ranks.pool))
    best = tuple(sorted(ranks.pool, reverse=True))
    for name in ("nDCG@3", "nDCG@10", "nDCG@3 (exponential)"):
        result = value(name, RankedGrades(best, ranks.pool, ranks.scale))
        assert result == pytest.approx(1)


@given(lists(), st.sampled_from(NAMES))
def test_what_is_undefined_is_0_under_trec_evals_name(ranks: RankedGrades, name: str) -> None:
    assume(f"{name} (trec_eval)" in NAMES and not name.startswith("P@"))
    result = value(name, ranks)
    assert value(f"{name} (trec_eval)", ranks) == (0 if result is None else result)


@given(lists(), st.lists(st.none() | st.integers(0, 1), max_size=4))
def test_the_tail_is_not_in_figures_that_are_cut_above_it(
    ranks: RankedGrades, tail: list[int | None]
) -> None:
    longer = RankedGrades(ranks.listed, ranks.pool, ranks.scale, tuple(tail))
    alone = RankedGrades(ranks.listed, ranks.pool, ranks.scale)
    for name in NAMES:
        figure = ranking_figure(name)
        if figure.cutoff is not None and figure.cutoff <= len(ranks.listed):
            assert figure.of(longer) == figure.of(alone)


# --- The same by ir-measures and gdeval ------------------------------------------------------

Run = Mapping[str, list[str]]
Qrels = Mapping[str, Mapping[str, int]]


def oracle(
    measures: list[ir_measures.Measure], qrels: Qrels, run: Run
) -> dict[tuple[str, str], float]:
    """What ir-measures says of each question, by question and measure; scores fall strictly."""
    judged = [
        ir_measures.Qrel(q, doc, grade) for q, docs in qrels.items() for doc, grade in docs.items()
    ]
    scored = [
        ir_measures.ScoredDoc(q, doc, float(-rank))
        for q, docs in run.items()
        for rank, doc in enumerate(docs)
    ]
    result = ir_measures.iter_calc(measures, judged, scored)
    return {(metric.query_id, str(metric.measure)): metric.value for metric in result}


def measures_of(scale: Scale) -> dict[str, ir_measures.Measure]:
    rel = scale.relevant_from
    return {
        "P@5 (trec_eval)": P(rel=rel) @ 5,
        "success@3": Success(rel=rel) @ 3,
        "RR": RR(rel=rel),
        "RR@3": RR(rel=rel) @ 3,
        "nDCG@10 (trec_eval)": nDCG @ 10,
        "recall@10 (trec_eval)": R(rel=rel) @ 10,
        "R-precision (trec_eval)": Rprec(rel=rel),
        "AP (trec_eval)": AP(rel=rel),
        "bpref (trec_eval)": Bpref(rel=rel),
    }


def collection(
    rng: random.Random, scale: Scale, *, documents: int, questions: int, depth: int
) -> tuple[Qrels, Run]:
    """A collection with more items judged than listed, and more listed than judged."""
    names = [f"d{number}" for number in range(documents)]
    qrels, run = {}, {}
    for number in range(1, questions + 1):
        listed = rng.sample(names, rng.randint(1, depth))
        judged = {*rng.sample(names, min(documents, 3 * depth)), *listed[::2]} - {*listed[1::7]}
        chance = rng.choice((0.0, 0.2, 0.6))
        qrels[str(number)] = {
            doc: rng.randint(1, scale.top) if rng.random() < chance else 0 for doc in sorted(judged)
        }
        run[str(number)] = listed
    return qrels, run


def ours(qrels: Qrels, run: Run, q: str, scale: Scale, depth: int | None = None) -> RankedGrades:
    listed = tuple(qrels[q].get(doc) for doc in run[q])
    cut = len(listed) if depth is None else depth
    return RankedGrades(listed[:cut], tuple(qrels[q].values()), scale, listed[cut:])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("scale", [BINARY, Scale(2, 1), GRADED, Scale(4, 3)])
def test_equal_to_ir_measures(scale: Scale, seed: int) -> None:
    qrels, run = collection(random.Random(seed), scale, documents=60, questions=20, depth=15)
    measures = measures_of(scale)
    expected = oracle(list(measures.values()), qrels, run)
    for q, (name, measure) in product(run, measures.items()):
        for depth in (None, 4):
            result = value(name, ours(qrels, run, q, scale, depth))
            assert result == pytest.approx(expected[q, str(measure)], abs=1e-9), (q, name)


@pytest.mark.parametrize("seed", range(2))
def test_judged_is_equal_to_ir_measures(seed: int) -> None:
    qrels, run = collection(random.Random(seed), GRADED, documents=60, questions=20, depth=15)
    expected = oracle([Judged @ 10], qrels, run)
    for q in run:
        result = value("Judged@10", ours(qrels, run, q, GRADED))
        assert result == pytest.approx(expected[q, "Judged@10"], abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("scale", [BINARY, GRADED])
def test_inferred_ap_is_equal_to_ir_measures_where_the_qrels_name_the_unjudged(
    scale: Scale, seed: int
) -> None:
    qrels, run = collection(random.Random(seed), scale, documents=60, questions=20, depth=15)
    pooled = {q: {**dict.fromkeys(run[q][:8], -1), **qrels[q]} for q in run}
    expected = oracle([infAP(rel=scale.relevant_from)], pooled, run)
    for (q, _), their_value in expected.items():
        result = value("infAP (trec_eval)", ours(qrels, run, q, scale, 8))
        assert result == pytest.approx(their_value, abs=1e-9)


def test_precision_of_a_short_list_is_that_of_ir_measures_times_k_over_n() -> None:
    qrels, run = collection(random.Random(1), GRADED, documents=60, questions=40, depth=8)
    expected = oracle([P(rel=2) @ 5], qrels, run)
    assert any(len(listed) < 5 for listed in run.values())
    for q, listed in run.items():
        result = value("P@5", ours(qrels, run, q, GRADED))
        their_value = expected[q, "P(rel=2)@5"] * 5 / min(5, len(listed))
        assert result == pytest.approx(their_value, abs=1e-9)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script: no perl here")
@pytest.mark.parametrize("seed", range(3))
def test_err_and_exponential_ndcg_are_those_of_gdeval_on_its_scale(seed: int) -> None:
    """Gdeval fixes the highest grade at 4, wants numbers for topics and prints five decimals."""
    scale = Scale(4)
    qrels, run = collection(random.Random(seed), scale, documents=60, questions=20, depth=15)
    expected = oracle([ERR @ 10, nDCG(dcg="exp-log2") @ 10], qrels, run)
    names = {"ERR@10": "ERR@10", "nDCG@10 (exponential)": "nDCG(dcg='exp-log2')@10"}
    compared = 0
    for q, (name, theirs) in product(run, names.items()):
        ranks = ours(qrels, run, q, scale)
        result = value(name, ranks)
        if not ranks.n_relevant:  # gdeval leaves such a topic out
            assert result in {0, None}
            continue
        assert result == pytest.approx(expected[q, theirs], abs=5.1e-6)
        compared += 1
    assert compared > 10


def test_a_collection_of_the_size_of_cranfield_is_equal_to_ir_measures() -> None:
    """1,400 documents, 50 questions, two runs of 100 ranks, grades 0 to 3 relevant from 2."""
    rng = random.Random(1400)
    names = [f"d{number}" for number in range(1, 1401)]
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, list[str]]] = {"one": {}, "other": {}}
    for q in map(str, range(1, 51)):
        judged = rng.sample(names, 60)
        qrels[q] = {doc: rng.choices(range(4), (6, 2, 1, 1))[0] for doc in judged}
        for run in runs.values():
            listed = rng.sample(judged, 30) + rng.sample(names, 100)
            rng.shuffle(listed)
            run[q] = list(dict.fromkeys(listed))[:100]
    measures = measures_of(GRADED)
    compared = 0
    for run in runs.values():
        expected = oracle(list(measures.values()), qrels, run)
        for q, (name, measure) in product(qrels, measures.items()):
            result = value(name, ours(qrels, run, q, GRADED, 20))
            assert result == pytest.approx(expected[q, str(measure)], abs=1e-9), (q, name)
            compared += 1
    assert compared == 2 * 50 * len(measures) >= 500


# --- Means -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spans", "mean"),
    [
        ([], Figure(None, None, None, 0)),
        ([Span(None, None, None)], Figure(None, None, None, 0)),
        (
            [Span(0.5, None, None), Span(None, None, None), Span(1.0, None, None)],
            Figure(0.75, None, None, 2, of=2),
        ),
        (
            [Span(0.5, 0.5, 1.0), Span(None, None, None), Span(0.0, 0.0, 0.0)],
            Figure(0.25, 0.25, 0.5, 2, of=2),
        ),
    ],
)
def test_a_mean_is_over_the_questions_that_have_a_value(spans: list[Span], mean: Figure) -> None:
    questions = [verdicts.listed("R").with_figures({"AP": span}) for span in spans]

    assert figures(Totals.of(questions), ["AP"]) == {"AP": mean}
