"""The coverage tables: what is simulated, on values made up so that the answer is known."""

from __future__ import annotations

import pytest

from tests.simulations.__main__ import markdown
from tests.simulations.coverage import SIMULATIONS, Coverage
from tests.simulations.recorded import RecordedValues

VALUES = RecordedValues(
    name="a - b",
    figure="mrr",
    people=tuple(((7 * i) % 30) / 15 - 1 for i in range(30)),
    machine=tuple(((7 * i) % 30) / 15 - 0.9 for i in range(30)),
    strata=tuple("ab"[i % 2] for i in range(30)),
    is_difference=True,
)


@pytest.mark.parametrize("name", SIMULATIONS)
def test_well_behaved_values_are_held_about_as_often_as_claimed(name: str) -> None:
    rows = list(SIMULATIONS[name](VALUES, 40))

    assert rows
    assert rows == list(SIMULATIONS[name](VALUES, 40))  # from a seed
    for row in rows:
        assert row.share >= row.claimed - 4 * (row.claimed * (1 - row.claimed) / 40) ** 0.5


def test_a_row_that_falls_short_is_marked() -> None:
    # 2 x sqrt(0.95 x 0.05 / 400) = 0.0218: 92.0 % is short of it, 94.0 % is not.
    short = Coverage("fixed", VALUES, 10, 30, 400, 0.92, 0.95, 0.1)
    enough = Coverage("fixed", VALUES, 20, 30, 400, 0.94, 0.95, 0.1)
    assert (short.falls_short, enough.falls_short) == (True, False)
    page = markdown({"fixed": [short, enough]}, 400)
    assert "| MRR | a - b | fixed | 10 | 30 | 92.0 % ✗ | 2.2 | 0.100 |" in page
    assert "1 of 2 rows fall short" in page
