"""Rooms bring what others collect: the core's first, several modules in the order of their list."""

from __future__ import annotations

from pathlib import Path

import pytest

from webapp import rooms

WEBAPP = Path(rooms.__file__).parent


def test_the_core_comes_first_and_each_room_once() -> None:
    found = [module.__name__.split(".")[2] for module in rooms.contributions("web", "pages")]

    order = [room for room in (*rooms.CORE, *rooms.WINGS) if room in found]
    assert found == order
    assert len(found) == len(set(found))


def test_a_room_with_several_lists_them() -> None:
    found = [module.__name__ for module in rooms.contributions("web", "comparison_part")]

    assert [name for name in found if ".planning." in name] == [
        "webapp.web.planning.settled_part",
        "webapp.web.planning.sample_part",
        "webapp.web.planning.machine_help_part",
    ]


def test_a_name_that_no_room_has_brings_nothing() -> None:
    assert list(rooms.contributions("web", "nowhere")) == []


@pytest.mark.parametrize("layer", ["services", "web", "exporters", "importers", "metrics", "cli"])
def test_every_folder_of_a_layer_is_a_room(layer: str) -> None:
    folders = {path.parent.name for path in (WEBAPP / layer).glob("*/__init__.py")}

    assert folders - {"frame"} <= {*rooms.CORE, *rooms.WINGS}
