"""The meaning of every figure and column: one place for pages, command line, exports and docs.

The texts are in ``meanings.toml`` of each feature. All of them are English message ids, to be
passed through ``gettext`` where they are shown; citations and symbols stay as they are.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct, convert
from msgspec.structs import replace

from relevansi.i18n import gettext
from relevansi.metrics.judging.graded import ranking_figure
from relevansi.metrics.judging.queries import MEANS
from relevansi.records import Scale

Unit = Literal[
    "ratio",
    "grade 0-5",
    "score 0-100",
    "coefficient",
    "difference",
    "probability",
    "count",
    "rank",
    "tokens",
    "ms",
    "text",
]


class Measure(Struct, frozen=True):
    """A headline figure or a column, explained.

    ``name`` is the key in ``figures()``, else the column's name. ``denominator``
    says what the headline figure is a share or mean of; it is empty for a column that is not a
    figure, as ``formula`` and ``source`` may be. ``reading`` says how to read the number, where
    a reader needs that. ``binary``: it depends on the grade from which a study calls a result
    relevant.
    """

    name: str
    label: str
    meaning: str
    unit: Unit = "ratio"
    formula: str = ""
    denominator: str = ""
    edge_cases: tuple[str, ...] = ()
    source: str = ""
    reading: str = ""
    binary: bool = False


class ReadTogether(Struct, frozen=True):
    """Figures that say more side by side, with what a pattern in them means."""

    figures: tuple[str, ...]
    pattern: str
    meaning: str


class MeasureGroup(Struct, frozen=True):
    """Measures that belong together, with how to read them in pairs, and rules of thumb.

    ``place`` is the group's place among those of all features; ``name`` is for addresses.
    """

    name: str
    title: str
    measures: Mapping[str, Measure]
    place: int
    advice: tuple[ReadTogether, ...] = ()
    rules: tuple[str, ...] = ()


Groups = Mapping[str, MeasureGroup]


FEATURES = ["judging", "agreement", "comparisons", "gold", "evaluations", "phase_3", "planning"]
"""The features whose folders have ``meanings.toml``."""


@cache
def read_groups(feature: str) -> Groups:
    """The groups by name in ``meanings.toml`` of a feature."""
    return _groups(_tables(feature))


def _tables(feature: str) -> dict[str, Any]:
    path = Path(__file__).parents[1] / feature / "meanings.toml"
    return tomllib.loads(path.read_text("utf-8"))


def _groups(tables: Mapping[str, Any]) -> Groups:
    phrases = _phrases(tables)
    names = (name for name in tables if name not in {"phrases", "citations", "references"})
    return MappingProxyType({name: _group(name, tables[name], phrases) for name in names})


def _phrases(tables: Mapping[str, Any]) -> dict[str, str]:
    return {**tables.get("phrases", {}), **tables.get("citations", {})}


def _group(name: str, table: dict[str, Any], phrases: Mapping[str, str]) -> MeasureGroup:
    measures = {}
    for figure, fields in table["measures"].items():
        texts = {field: _spelled(value, phrases) for field, value in fields.items()}
        # A symbol is the same in every language.
        label = texts.pop("symbol", None) or texts["label"]
        measures[figure] = convert({**texts, "name": figure, "label": label}, Measure)
    return convert({**table, "name": name, "measures": measures}, MeasureGroup)


def _spelled(value: Any, phrases: Mapping[str, str]) -> Any:
    """A value with its phrases in full: "@name" means the phrase or citation of that name."""
    if isinstance(value, list):
        return [_spelled(text, phrases) for text in value]
    if isinstance(value, str) and value.startswith("@"):
        return " ".join(phrases[name.removeprefix("@")] for name in value.split())
    return value


_TABLES, _GROUPS = _tables("judging"), read_groups("judging")
RANKING = _GROUPS["ranking"].measures
"""The ranking figures of ``graded``, by their families."""
HEADLINE_ADVICE = _GROUPS["headlines"].advice
"""Which headline figures to read in pairs."""
MEASURES: Mapping[str, Measure] = {**_GROUPS["headlines"].measures, **_GROUPS["columns"].measures}
"""All measures by name: the headline figures in their order, then the rest."""
REFERENCES: tuple[str, ...] = tuple(_spelled(_TABLES["references"], _phrases(_TABLES)))
"""The references of the method, in its order."""


def measure_of(name: str) -> Measure:
    """The measure that explains `name`: a figure by any of its names, or a column.

    Raises ``graded.UnknownFigure`` for any other name.

    >>> measure_of("overall_precision").name
    'mean_overall_precision'
    """
    averaged = (headline for headline, of_query in MEANS.items() if of_query == name)
    return MEASURES.get(next(averaged, name)) or ranking_measure(name)


def ranking_measure(name: str) -> Measure:
    """The measure that explains a ranking figure, under its own name.

    Raises ``graded.UnknownFigure``.

    >>> ranking_measure("ndcg@10").label, ranking_measure("ndcg@10").binary
    ('nDCG@10', False)
    """
    figure = ranking_figure(name)
    return replace(RANKING[figure.family], name=figure.name, label=figure.name)


def label_of(name: str, scale: Scale) -> str:
    """The label of a figure by its name; see ``label_on``."""
    return label_on(measure_of(name), scale)


def label_on(measure: Measure, scale: Scale) -> str:
    """The label of `measure` in the language in force, with the grade that it starts from.

    The grade is named in a graded study, at the figures that know relevant or not only.
    """
    label, grade = gettext(measure.label), scale.relevant_from
    if scale.top == 1 or not measure.binary:
        return label
    return gettext("%(figure)s (from grade %(grade)s)", figure=label, grade=grade)
