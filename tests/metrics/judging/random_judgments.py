"""The strategies of random input that the property tests share."""

from __future__ import annotations

from hypothesis import strategies as st

from relevansi.metrics.judging.queries import QueryJudgments
from relevansi.records import EmptyOutcome, QueryState, Relevance

# --- Verdict lists ---------------------------------------------------------------------

Verdicts = tuple[Relevance | None, ...]

decided = st.sampled_from((Relevance.RELEVANT, Relevance.NOT_RELEVANT))
judged = st.sampled_from(tuple(Relevance))
judged_or_open = st.none() | judged


def verdict_lists(
    verdict: st.SearchStrategy[Relevance | None] = judged_or_open, min_size: int = 0
) -> st.SearchStrategy[Verdicts]:
    """Lists of up to 14 verdicts in rank order, so that many are longer than 5 and 10."""
    return st.lists(verdict, min_size=min_size, max_size=14).map(tuple)


outcomes = st.none() | st.sampled_from(tuple(EmptyOutcome))
qualities = st.none() | st.integers(0, 5)


@st.composite
def query_judgments(draw: st.DrawFn) -> QueryJudgments:
    state = draw(st.sampled_from((QueryState.RESULTS, QueryState.RESULTS, *QueryState)))
    listed = state is QueryState.RESULTS
    return QueryJudgments(
        state,
        draw(verdict_lists(min_size=1)) if listed else (),
        draw(outcomes) if state is QueryState.EMPTY else None,
        draw(qualities),
    )


runs = st.lists(query_judgments(), max_size=8)


@st.composite
def later(draw: st.DrawFn, judgments: QueryJudgments, *, finished: bool) -> QueryJudgments:
    """`judgments` after more rating (all of it when `finished`), cannot tell included."""
    verdict = judged if finished else judged_or_open
    outcome = st.sampled_from(tuple(EmptyOutcome)) if finished else outcomes
    quality = st.integers(0, 5) if finished else qualities
    empty = judgments.state is QueryState.EMPTY
    return QueryJudgments(
        judgments.state,
        tuple(draw(verdict) if v is None else v for v in judgments.verdicts),
        (judgments.empty_outcome or draw(outcome)) if empty else None,
        draw(quality) if judgments.quality is None else judgments.quality,
    )
