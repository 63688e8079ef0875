"""Claims about agreement that hold for every table of labels."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from webapp.metrics.agreement.agreement import Agreement, Bootstrap, Coefficient, Scale, agreement
from webapp.metrics.agreement.coefficients import NoAgreement

FEW = Bootstrap(resamples=10)

Rows = list[list[int | None]]

scales = st.sampled_from(Scale)


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    raters = draw(st.integers(1, 4))
    label = st.none() | st.integers(0, draw(st.integers(0, 5)))
    return draw(st.lists(st.lists(label, min_size=raters, max_size=raters), max_size=12))


def coefficients(found: Agreement) -> list[Coefficient]:
    return [found.raw, found.cohen, found.fleiss, found.alpha, found.ac1]


@given(table=tables(), scale=scales)
def test_at_most_1_or_a_reason(table: Rows, scale: Scale) -> None:
    for found in coefficients(agreement(table, scale=scale, bootstrap=FEW)):
        assert (found.value is None) == (found.why_undefined is not None)
        if found.value is None:
            assert (found.lower, found.upper) == (None, None)
        else:
            assert found.value <= 1
            assert found.lower is None or found.lower <= (found.upper or 0) <= 1


@given(table=tables())
def test_raw_agreement_is_a_share(table: Rows) -> None:
    value = agreement(table, bootstrap=FEW).raw.value

    assert value is None or 0 <= value <= 1


@given(table=tables(), scale=scales, data=st.data())
def test_the_order_of_raters_and_of_items_changes_nothing(
    table: Rows, scale: Scale, data: st.DataObject
) -> None:
    raters = data.draw(st.permutations(range(len(table[0]) if table else 0)))
    items = data.draw(st.permutations(table))
    other = [[row[rater] for rater in raters] for row in items]

    one = agreement(table, scale=scale, bootstrap=FEW)
    assert astuple(agreement(other, scale=scale, bootstrap=FEW)) == astuple(one)


@given(
    labels=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    raters=st.integers(2, 4),
    scale=scales,
)
def test_perfect_agreement_is_1_where_it_is_defined(
    labels: list[int], raters: int, scale: Scale
) -> None:
    found = agreement([[label] * raters for label in labels], scale=scale, bootstrap=FEW)

    assert found.raw.value == found.ac1.value == 1
    for chance_by_labels in (found.fleiss, found.alpha):
        several = len(set(labels)) > 1
        assert chance_by_labels.value == (1 if several else None)
        assert several or chance_by_labels.why_undefined is NoAgreement.ONE_LABEL


@given(table=tables(), scale=scales)
def test_items_that_nobody_judged_change_nothing(table: Rows, scale: Scale) -> None:
    nobody: Rows = [[None] * len(table[0])] if table else []

    one = agreement(table, scale=scale, bootstrap=FEW)
    assert agreement(table + nobody, scale=scale, bootstrap=FEW) == one


@given(table=tables())
def test_names_of_labels_do_not_matter_on_a_nominal_scale(table: Rows) -> None:
    renamed = [[None if x is None else 5 - x for x in row] for row in table]

    for one, other in zip(
        coefficients(agreement(table, bootstrap=FEW)),
        coefficients(agreement(renamed, bootstrap=FEW)),
        strict=True,
    ):
        assert (one.value is None) == (other.value is None)
        if one.value is not None and other.value is not None:
            assert abs(one.value - other.value) < 1e-9
