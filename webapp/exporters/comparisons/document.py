"""A comparison as a document: its sections in the order in which every report prints them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from types import ModuleType

from webapp.exporters.comparisons import conclusions, difference_tables, tables, words
from webapp.exporters.frame.tables import Document, Section
from webapp.i18n import gettext
from webapp.metrics.comparisons.report import ComparisonReport


def document(report: ComparisonReport, on: date) -> Document:
    """Return `report` as a document dated `on`, in the language in force."""
    comparison = report.comparison
    missing = [*words.unasked(comparison)]
    missing += [said for contender in comparison.contenders for said in words.lacks(contender)]
    return Document(
        title=words.title(report),
        subtitle=words.subtitle(report, on),
        sections=(
            Section(
                "configuration",
                gettext("Configuration"),
                (*words.unsaid(report), *missing),
                (tables.configuration(report), tables.contenders(report)),
            ),
            Section("summary", gettext("Summary"), (), (tables.summary(report),)),
            Section(
                "categories",
                gettext("By category"),
                (),
                tuple(tables.by_category(report, figure) for figure in tables.CATEGORY_FIGURES),
            ),
            Section(
                "differences",
                gettext("Differences"),
                conclusions.every(comparison),
                (difference_tables.differences(report), difference_tables.signed_ranks(report)),
            ),
            Section(
                "stability",
                gettext("Stability"),
                (words.stability(report.stability),),
                (tables.stability(report),),
            ),
            *_parts(report),
            Section("questions", gettext("By question"), (), (tables.questions(report),)),
            Section("notes", gettext("Notes"), tuple(words.notes(report)), ()),
        ),
    )


def _parts(report: ComparisonReport) -> Iterator[Section]:
    """Yield the section of each further part that compares something of these runs."""
    for part in part_modules():
        found = report.part(part.PART)
        if found is not None:
            yield part.section(found)


def part_modules() -> tuple[ModuleType, ...]:
    """Return the modules that write the parts a comparison has beside its figures."""
    from webapp.exporters.gold import comparison_part as constraints
    from webapp.exporters.planning import machine_help_part, sample_part, settled_part

    return constraints, settled_part, sample_part, machine_help_part
