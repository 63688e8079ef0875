"""All pages of the app: those of the frame, and those of each room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from flask import Blueprint
from msgspec import Struct, field
from sqlalchemy.orm import Session

from webapp.db.tables.study import Study
from webapp.web.frame.doors import Door

FEATURES = (
    "runs",
    "rating",
    "study",
    "people",
    "agreement",
    "comparisons",
    "workers",
    "gold",
    "evaluations",
    "machine_judges",
    "phase_3",
    "proof_packs",
    "offline",
    "planning",
)
"""The folders of pages in the order of the menus."""


class MenuEntry(Struct, frozen=True):
    """A link in a menu, at its place among the others.

    The menus are ``owner`` and ``rater`` in the header, and those under an entry, which its
    ``pages`` names: ``study`` under the owner's study, and a menu under each entry of that.
    ``label`` is a message id. The entry is marked on the pages of the blueprints in ``sections``
    that are not entries of the menu themselves, and on the pages of the menu under it. The
    entry is shown where ``needs`` is true of the study. ``about`` is a message id too: for whom
    the page is.
    """

    menu: str
    place: int
    endpoint: str
    label: str
    sections: tuple[str, ...] = ()
    needs: Callable[[Session, Study], bool] | None = None
    pages: str | None = None
    about: str = ""


class Pages(Struct, frozen=True):
    """The pages of a room: its blueprints, and the door of each of them or of one endpoint.

    ``entries`` are its links in menus, ``parts`` its templates in the pages of other rooms, by
    the name of the place where such a page includes them. ``under`` names, by blueprint, the
    entry of the owner's menu under which its pages are. ``kept`` are the static files that a
    browser keeps for a time without a network.
    """

    blueprints: tuple[Blueprint, ...]
    doors: Mapping[str, Door]
    entries: tuple[MenuEntry, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    under: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()


class ShownPart(Struct, frozen=True):
    """A part of a page that a wing brings: ``shown`` is what its template shows."""

    template: str
    shown: Any


def every() -> Iterator[Pages]:
    """Yield the pages of the frame and of every room."""
    for folder in ("frame", *FEATURES):  # late: the views ask for doors themselves
        yield import_module(f"webapp.web.{folder}.pages").PAGES


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


@cache
def menu(name: str) -> tuple[MenuEntry, ...]:
    """Return the entries of a menu, in their order."""
    found = (entry for pages in every() for entry in pages.entries if entry.menu == name)
    return tuple(sorted(found, key=lambda entry: entry.place))


@cache
def parts(place: str) -> tuple[str, ...]:
    """Return the templates that rooms bring to a place of a page, in the order of the rooms."""
    return tuple(pages.parts[place] for pages in every() if place in pages.parts)


@cache
def kept_files() -> tuple[str, ...]:
    """Return the static files that a browser keeps for a time without a network."""
    return tuple(name for pages in every() for name in pages.kept)


def is_current(entry: MenuEntry, endpoint: str | None) -> bool:
    """Whether the page of `endpoint` is the entry's, or is under it."""
    if endpoint is None or endpoint == entry.endpoint:
        return endpoint is not None
    if any(endpoint == other.endpoint for other in menu(entry.menu)):
        return False
    if entry.pages and any(is_current(page, endpoint) for page in menu(entry.pages)):
        return True
    section = endpoint.partition(".")[0]
    is_under = entry.menu == "owner" and _owner_entries().get(section) == entry.endpoint
    return section in entry.sections or is_under


@cache
def _owner_entries() -> dict[str, str]:
    """Return, by blueprint, the entry of the owner's menu under which its pages are."""
    return {name: entry for pages in every() for name, entry in pages.under.items()}
