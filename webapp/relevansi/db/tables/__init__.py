"""The tables, a module for each feature; each class says what a row of it means.

A judgment hangs on (rater, judged item). A judged item is a (question, item,
content), or the emptiness of a question's answer when it has no item; for a question
that depends on its conversation the run belongs to it as well.

Importing one table imports all: they refer to each other by name.
"""

from __future__ import annotations

from relevansi.db.tables import (  # noqa: F401 - they refer to each other by name
    catalogue,
    evaluations,
    judging,
    machine_judges,
    people,
    phase_3,
    planning,
    runs,
    study,
)
