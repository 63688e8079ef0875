"""Rooms bring what others collect: the core's first, several modules in the order of their list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_translations import in_the_module
from tests.wings import OF_THE_WHOLE, TESTS, allowed, is_of_the_whole
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


@pytest.mark.whole
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


def test_a_test_imports_no_wing_but_its_own_and_what_that_needs() -> None:
    """So the tests of the core stay when a wing goes, and a wing's tests go with its folders."""
    strange = {
        f"{path.as_posix()}: {name}"
        for path in files_of_rooms()
        for name in imported(path)
        if set(name.split(".")).intersection(rooms.WINGS) - allowed(path)
    }

    assert strange == set()


def test_no_test_takes_from_a_suite_over_the_whole_product() -> None:
    """Those suites name wings, and are looked at by hand where one goes."""
    suites = {f"tests.{place.removesuffix('.py').replace('/', '.')}" for place in OF_THE_WHOLE}
    strange = {
        f"{path.as_posix()}: {name}"
        for path in files_of_rooms()
        for name in imported(path)
        if any(f"{name}.".startswith(f"{suite}.") for suite in suites)
    }

    assert strange == set()


@pytest.mark.whole
def test_every_suite_over_the_whole_product_is_there() -> None:
    assert [place for place in OF_THE_WHOLE if not (TESTS / place).exists()] == []


@pytest.mark.whole
@pytest.mark.parametrize(
    ("place", "wings"),
    [
        ("services/rating/test_tasks.py", set()),
        ("web/gold/test_gold.py", {"gold"}),
        ("cli/evaluations/test_scoring.py", {"evaluations", "gold"}),
        ("services/machine_judges/test_calls.py", {"machine_judges", "evaluations", "gold"}),
        ("services/planning/offline/test_left_out.py", {"planning", "offline"}),
    ],
)
def test_the_folders_of_a_test_say_which_wings_it_may_import(place: str, wings: set[str]) -> None:
    assert allowed(Path(place)) == wings


def files_of_rooms() -> Iterator[Path]:
    """Yield every file of tests/, named from there, but those that look at the whole product."""
    for file in sorted(TESTS.rglob("*.py")):
        path = file.relative_to(TESTS)
        if not is_of_the_whole(path):
            yield path


def imported(path: Path) -> Iterator[str]:
    """Yield what a file of tests/ imports from the product and from other tests."""
    for node in ast.walk(ast.parse((TESTS / path).read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{one.name}" for one in node.names]
        yield from (name for name in names if name.startswith(("webapp.", "tests.")))
