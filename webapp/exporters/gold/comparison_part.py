"""The comparison under V2 in the files of a comparison: a section, and an object of its JSON."""

from __future__ import annotations

from typing import Any

from webapp.exporters.comparisons.json_file import difference_json, signed_ranks_json
from webapp.exporters.frame.tables import Section
from webapp.exporters.gold import constraint_reports as tables
from webapp.exporters.gold.constraint_reports import constraints_json
from webapp.metrics.gold.constraints import PART, ConstraintComparison


def section(found: ConstraintComparison) -> Section:
    """Return the section of a report."""
    return Section(
        PART,
        tables.title(),
        (*tables.lacks(found), *tables.conclusions(found)),
        (
            tables.figures(found),
            tables.matrices(found),
            tables.differences(found),
            tables.signed_ranks(found),
        ),
    )


def part_json(found: ConstraintComparison) -> dict[str, Any]:
    """Return the comparison as plain values.

    ``{gold, version, threshold_t, runs: [{id, name, not_run, pending, decided, from_text, ...}],
    differences, signed_rank}``; the rest of a run is what ``score constraints`` prints.
    """
    return {
        "gold": found.gold,
        "version": found.version,
        "threshold_t": float(found.threshold),
        "runs": [
            {
                "id": one.run,
                "name": one.name,
                "not_run": list(one.not_run),
                "pending": {str(query_id): n for query_id, n in one.pending.items()},
                "decided": one.decided,
                "from_text": one.from_text,
                **constraints_json(one.report),
            }
            for one in found.contenders
        ],
        "differences": [difference_json(difference) for difference in found.differences],
        "signed_rank": signed_ranks_json(found.differences),
    }
