"""Wings bring formats to the export, each under its own name."""

from __future__ import annotations

from webapp import rooms
from webapp.cli.exports.formats import formats


def test_every_wing_s_format_is_found_under_its_name() -> None:
    brought = [module.FORMAT for module in rooms.contributions("cli", "export_format")]

    assert list(formats().values()) == brought
    assert all(name == each.name for name, each in formats().items())
