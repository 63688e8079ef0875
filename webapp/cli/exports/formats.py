"""The formats of ``relevansi export`` beside those of the ordinary exports."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache

from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.cli.frame.commands import AppFactory
from webapp.db.tables.study import Study
from webapp.services.runs.reports import Rule

Writer = Callable[[Session, Study, str | None, Rule], bytes]
"""Makes the file of a run, or of the whole study without one."""


class ExportFormat(Struct, frozen=True):
    """A format by its name, with what makes its files.

    ``opened`` keeps open what several files need. ``why_no_rule`` is a message id where the file
    does not depend on the rule by which several raters' judgments become one. ``takes_all`` says
    that there is one of the whole study, ``private`` that nobody else on the machine may read it.
    ``notice`` is printed for the person who asks for the
    file of a run.
    """

    name: str
    opened: Callable[[AppFactory], AbstractContextManager[Writer]]
    why_no_rule: str = ""
    takes_all: bool = False
    private: bool = False
    notice: Callable[[Session, Study, str | None], str] = lambda *_: ""


@cache
def formats() -> dict[str, ExportFormat]:
    """Return the formats of whole files that features bring, by their names."""
    from webapp.cli.offline import export_format as offline
    from webapp.cli.proof_packs import export_format as proof_packs

    return {each.FORMAT.name: each.FORMAT for each in (proof_packs, offline)}
