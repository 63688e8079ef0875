"""The tables, a module for each room; each class says what a row of it means.

A judgment hangs on (rater, judged thing). A judged thing is a (question, property,
content), or the emptiness of a question's answer when it has no property; for a question
that depends on its conversation the run belongs to it as well.

Importing one table imports all: they refer to each other by name.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from webapp import rooms

for room in (*rooms.CORE, *rooms.WINGS):
    name = f"{__name__}.{room}"
    if find_spec(name):
        import_module(name)
