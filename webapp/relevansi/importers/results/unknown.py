"""The refusals of files whose columns or paths have to be chosen, with what they may be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice

from msgspec.structs import replace

from relevansi.importers.results import guesses, json_lists, json_systems, shapes
from relevansi.importers.results.files import File
from relevansi.importers.results.records import at
from relevansi.importers.results.rows import Columns, Row, columns_of
from relevansi.importers.runs.problems import ImportRefused, error

MEASURE = re.compile(
    r"(?:n?dcg|[gn]?map|mrr|recip_?rank|recall|precision|bpref|hit_?rate|f1|r-?prec|"
    r"err|rbp|infap|main_score|num_(?:q|ret|rel|rel_ret)|(?:p|r|hits|success)(?=[@_]))"
    r"(?:_cut)?(?:(?:_at_|[@_.])\d+(?:\.\d+)?)?",
    re.IGNORECASE,
)
"""The name of a measure, as trec_eval, ranx, BEIR and MTEB write it."""


class UnknownNames(ImportRefused):
    """A file whose columns or paths have to be chosen.

    ``names`` has each with the beginning of a value, ``columns`` what they are guessed to be, and
    ``sample`` the first rows by that guess.
    """

    names: Mapping[str, str]
    columns: Columns
    sample: Sequence[Row] = ()


def unknown_names(file: File, names: Mapping[str, str]) -> UnknownNames:
    """The refusal of a table none of whose columns is a question beside a document."""
    columns = ", ".join(filter(None, names))[:300]
    refused = UnknownNames(error("results_columns_missing", file.name, {"columns": columns}))
    refused.names, refused.columns = names, columns_of(tuple(names), {})
    return refused


def unnamed_id(file: File, names: Mapping[str, str], column: str) -> UnknownNames:
    """The refusal of a table that has ids of its documents under a name that nobody knows."""
    details = {"columns": ", ".join(filter(None, names))[:300], "column": column}
    refused = UnknownNames(error("results_id_unnamed", file.name, details))
    refused.names, refused.columns = names, {**columns_of(tuple(names), {}), "doc_id": column}
    return refused


def unknown_json(file: File, values: Sequence[object]) -> UnknownNames:
    """The refusal of JSON of an unknown shape, with the guess in the form of the option."""
    columns, value = guesses.guess(values), values[0] if values else None
    details: dict[str, str | int] = {"keys": guesses.described(value)}
    shape = shapes.mapped(columns)
    if not shape:
        names = (path.rpartition(".")[2] for path in guesses.paths_of(value, into_lists=True))
        measures = [*filter(MEASURE.fullmatch, names)]
        code = "results_of_measures" if measures else "results_json_unknown"
        details["measures"] = ", ".join(measures[:5])
        refused = UnknownNames(error(code, file.name, details))
        refused.names, refused.columns = {}, columns
        return refused
    details["map"] = ",".join(f"{role}={path}" for role, path in columns.items())
    refused = UnknownNames(error("results_json_guessed", file.name, details))
    record = next(json_systems.records(value, shape), value)
    items = at(record, columns["items"])
    entry = items[0] if isinstance(items, list) and items else {}
    refused.names = guesses.paths_of(record, into_lists=True) | guesses.paths_of(entry)
    refused.columns = columns
    looked_at = replace(file, problems=[], counts=file.counts.copy())
    refused.sample = [*islice(json_lists.read(looked_at, [(1, value)], shape), 2)]
    return refused
