"""Rooms bring what others collect: the core's first, several modules in the order of their list."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_translations import in_the_module
from webapp import rooms

WEBAPP = Path(rooms.__file__).parent
OF_WINGS = ("gold", "participant", "machine judge", "proof pack")
"""Words of wings, which the core's texts do without."""
NAMED = {
    "a gold file: questions with constraints, without answers",  # a file in the wrong place
    "In phase 3 participants are drawn again, not questions.",  # proof packs hold it: bytes stay
}


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


@pytest.mark.parametrize("room", [*rooms.CORE, "frame"])
def test_the_core_s_texts_name_no_wing(room: str) -> None:
    found = {
        text
        for path in WEBAPP.glob(f"*/{room}/**/*.py")
        for text in in_the_module(path)
        if any(word in text.casefold() for word in OF_WINGS)
    }

    assert found <= NAMED
