"""Where verdicts by hand differ from run to run, as a document and as plain values."""

from __future__ import annotations

from typing import Any

from relevansi import notation
from relevansi.exporters.frame.tables import (
    Column,
    Document,
    Section,
    Table,
    numbers,
    stacked,
    whole_number,
    word,
)
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.agreement.conflicts import ConflictReport, SignTest

UNLIKELY = 0.05
"""Below this probability chance is called an unlikely reason."""


def contradicts_itself(run: str, query: int, property_id: str) -> str:
    """Return that a run is left out of a comparison, as it has both verdicts on a property."""
    return gettext(
        "%(run)s passes and fails the same property of question %(query)s (%(property)s); "
        "it is left out of this comparison.",
        run=run,
        query=query,
        property=property_id,
    )


def conflict_document(report: ConflictReport) -> Document:
    """Return `report` as a document: the counts, which way verdicts lean, every contradiction."""
    judged = ngettext(
        "%(n)s property of a question was judged in more than one run.",
        "%(n)s properties of a question were judged in more than one run.",
        report.pairs_judged_more_than_once,
    )
    differing = ngettext(
        "On %(n)s of them the verdicts differ.",
        "On %(n)s of them the verdicts differ.",
        len(report.contradictions),
    )
    sections = [Section("found", gettext("What was found"), (judged, differing), ())]
    if report.contradictions:
        title, leans = gettext("Which way they lean"), tuple(map(_lean, report.sign_tests))
        sections.append(Section("lean", title, leans, (_favours(report, title),)))
        table = _contradictions(report)
        sections.append(Section(table.name, table.title, (), (table,)))
    return Document(gettext("Conflict report"), "", tuple(sections))


def _favours(report: ConflictReport, title: str) -> Table:
    """Return how many contradictions favour each run."""
    columns = (Column(gettext("Run")), numbers(gettext("Verdicts in favour of the run")))
    rows = tuple((word(run), whole_number(n)) for run, n in report.favours.items())
    notes = (
        gettext(
            "The number of contradictions that favour the run: the property was judged "
            "relevant there and not relevant elsewhere."
        ),
        gettext(
            "Sign test, exact and two-sided, for every two runs over the properties on which "
            "both gave a verdict and differ. Below 0.05 chance is called an unlikely reason; "
            "with several tests at once, judge more strictly."
        ),
    )
    return Table("favours", title, columns, rows, notes)


def _lean(test: SignTest) -> str:
    """Return which of two runs the contradictions favour, and whether that can be chance."""
    a, b = test.runs
    if test.favours_a + test.favours_b == 0:
        return gettext("%(a)s and %(b)s do not contradict each other.", a=a, b=b)
    leaning = gettext(
        "Between %(a)s and %(b)s, %(for_a)s favour %(a)s and %(for_b)s favour %(b)s.",
        a=a,
        b=b,
        for_a=notation.number(test.favours_a),
        for_b=notation.number(test.favours_b),
    )
    p = notation.p_value(test.p)
    if test.p >= UNLIKELY:
        return f"{leaning} {gettext('That can well be chance (p = %(p)s).', p=p)}"
    unlikely = gettext(
        "Chance hardly explains that (p = %(p)s): tossed coins come out this uneven about once in "
        "%(times)s.",
        p=p,
        times=notation.number(round(1 / test.p)),
    )
    return f"{leaning} {unlikely}"


def _contradictions(report: ConflictReport) -> Table:
    """Return each property on which the verdicts differ, with that of every run."""
    verdicts = {
        True: f"✓ {gettext('Relevant')}",
        False: f"✗ {gettext('Not relevant')}",
        None: notation.UNDEFINED,
    }
    columns = tuple(map(Column, (gettext("Question"), gettext("Property"), *report.favours)))
    rows = []
    for (query_id, identity), by_run in report.contradictions.items():
        number, question = report.questions[query_id]
        title = report.titles.get(identity)
        lines = (title, identity) if title and title != identity else (identity,)
        cells = (word(verdicts[by_run.get(run)]) for run in report.favours)
        rows.append((word(f"{number}. {question}"), stacked(lines, (identity,)), *cells))
    return Table("contradictions", gettext("Contradictions"), columns, tuple(rows), ())


def conflict_json(report: ConflictReport) -> dict[str, Any]:
    """Return `report` as plain values."""
    return {
        "pairs_judged_more_than_once": report.pairs_judged_more_than_once,
        "contradictions": [
            {
                "query_id": query_id,
                "property": property_id,
                "verdicts": {run: "pass" if passed else "fail" for run, passed in by_run.items()},
            }
            for (query_id, property_id), by_run in report.contradictions.items()
        ],
        "favours": dict(report.favours),
        "sign_tests": report.sign_tests,
    }
