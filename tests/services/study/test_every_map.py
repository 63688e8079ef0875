"""The map of progress, of whatever questions and raters: no card is lost in a block or a sum."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relevansi.services.study.progress import BLOCK, QuestionProgress, map_row, map_rows

RATERS = ["Ani", "Budi", "Citra"]


@st.composite
def questions(draw: st.DrawFn) -> list[QuestionProgress]:
    """Questions of one to three sets of up to three blocks, whose positions may have gaps."""
    result: list[QuestionProgress] = []
    for size in draw(st.lists(st.integers(1, 2 * BLOCK + 1), min_size=1, max_size=3)):
        position = 0
        for _ in range(size):
            position += draw(st.integers(1, 2))
            result.append(_question(draw, len(result) + 1, position))
    return result


def _question(draw: st.DrawFn, question_id: int, position: int) -> QuestionProgress:
    n_cards = draw(st.integers(1, 9))
    judged = draw(st.dictionaries(st.sampled_from(RATERS), st.integers(0, n_cards)))
    planned_for = [name for name in RATERS if name not in judged and draw(st.booleans())]
    about = question_id, position, "Question?", "", n_cards, sorted(judged), planned_for
    return QuestionProgress(*about, len(judged), judged=judged, verdicts_left=draw(st.integers(0)))


@given(questions(), st.booleans())
def test_sums_are_those_of_the_cells_and_blocks_hold_each_question_once(
    every_question: list[QuestionProgress], is_blind: bool
) -> None:
    rows = map_rows(every_question, RATERS, is_blind=is_blind)
    total = map_row(every_question, RATERS, is_blind=is_blind)

    assert [question for row in rows for question in row.questions] == every_question
    assert total.verdicts_left == sum(row.verdicts_left for row in rows)
    for place, cell in enumerate(total.cells):
        theirs = [part for row in rows if (part := row.cells[place])]
        assert (cell is None) == (not theirs)
        if cell:
            assert cell.cards_left == sum(part.cards_left for part in theirs)
            assert cell.judged == sum(part.judged for part in theirs)
    for row in rows:
        positions = [question.position for question in row.questions]
        assert len(positions) <= BLOCK
        assert positions == sorted({*positions})  # of one set
