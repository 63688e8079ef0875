"""Every address with every verb, and whom its door lets in: the matrix of roles.

The list of addresses is the application's own, so that none is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flask import Flask
from werkzeug.routing import AnyConverter, IntegerConverter, Rule

from webapp.web.frame import rooms
from webapp.web.frame.doors import Door

ROLES = ("owner", "rater", "participant", "stranger")
OWN_ANSWER = {"sign_in.choose", "sign_in.set_first", "sign_in.leave"}
"""Those that decide by themselves whom they answer, or end the sign-in; see test_sign_in."""
PLACES = {
    "name": "answers.csv",
    "run_id": "unknown",
    "task_id": "unknown",
    "token": "unknown",
    "filename": "frame/app.css",
}


@dataclass(frozen=True, slots=True)
class Knock:
    """One address asked for with one verb."""

    endpoint: str
    path: str
    method: str
    door: Door | None


def rules(app: Flask) -> list[Rule]:
    """Return every address of the application, always in the same order."""
    return sorted(app.url_map.iter_rules(), key=lambda rule: (rule.rule, rule.endpoint))


def knocks(app: Flask, run_id: str = "unknown") -> Iterator[Knock]:
    """Yield every address, its places filled, with every verb it takes."""
    adapter = app.url_map.bind("localhost")
    for rule in rules(app):
        values = {name: filled(rule, name, run_id) for name in rule.arguments}
        path = adapter.build(rule.endpoint, values, force_external=False)
        for method in sorted(rule.methods or ()):
            yield Knock(rule.endpoint, path, method, rooms.stated(rule.endpoint))


def filled(rule: Rule, name: str, run_id: str) -> object:
    """Return the value at a place of an address."""
    if name == "run_id":
        return run_id
    converter = rule._converters[name]
    if isinstance(converter, AnyConverter):
        return min(converter.items)
    return 1 if isinstance(converter, IntegerConverter) else PLACES.get(name, "unknown")


def is_refused(status: int, location: str) -> bool:
    """Whether nobody was let in: not signed in, not the owner, not taking part."""
    return status in {401, 403} or (status == 303 and "/sign-in?next=" in location)


def is_open_to(role: str, door: Door | None) -> bool:
    """Return the matrix itself."""
    if door == Door.GUESTS or role == "participant":
        return door == Door.ANYBODY or (door == Door.GUESTS and role == "participant")
    if door == Door.ANYBODY or role == "owner":
        return True
    return door == Door.RATERS and role == "rater"
