"""The sample of the questions in the files of a comparison: a section, and an object."""

from __future__ import annotations

from webapp.exporters.frame.tables import Section
from webapp.exporters.planning import sample
from webapp.exporters.planning.sample import sample_json as part_json
from webapp.i18n import gettext
from webapp.metrics.planning.samples import PART, QuestionSample

__all__ = ["PART", "part_json", "section"]


def section(found: QuestionSample) -> Section:
    """Return the section of a report."""
    tables = (sample.table(found),) if found.figures else ()
    return Section(PART, gettext("Sampled questions"), sample.sentences(found), tables)
