"""All pages of the app: those of the frame, and those of each room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from flask import Blueprint

from webapp import rooms
from webapp.web.frame.doors import Door


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a room: its blueprints, and the door of each blueprint or single endpoint."""

    blueprints: tuple[Blueprint, ...]
    doors: Mapping[str, Door]


def every() -> Iterator[Pages]:
    """Yield the pages of the frame and of every room."""
    from webapp.web.frame import pages  # the views of the frame ask for doors themselves

    yield pages.PAGES
    for module in rooms.contributions("web", "pages"):
        yield module.PAGES


@cache
def doors() -> dict[str, Door]:
    """Return the doors of all pages, by blueprint or endpoint."""
    return {"static": Door.ANYBODY} | {
        name: door for pages in every() for name, door in pages.doors.items()
    }


def stated(endpoint: str) -> Door | None:
    """Return the door of an endpoint, its own or its blueprint's; ``None`` if there is none."""
    return doors().get(endpoint) or doors().get(endpoint.partition(".")[0])


def door(endpoint: str | None) -> Door:
    """Return the door of an endpoint; open to anybody where no page is."""
    if endpoint is None:
        return Door.ANYBODY
    return stated(endpoint) or Door.OWNER
