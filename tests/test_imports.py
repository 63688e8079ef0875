"""Modules import each other in no circle, so that each can be read after those that it uses."""

from __future__ import annotations

from graphlib import TopologicalSorter

import grimp


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions count; those for annotations alone do not."""
    graph = grimp.build_graph("relevansi", exclude_type_checking_imports=True, cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}

    assert len([*TopologicalSorter(imported).static_order()]) == len(graph.modules)
