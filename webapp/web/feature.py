"""What a feature adds to the pages of the app, and who may open which address.

``webapp.web.features`` lists every feature. An address without a role is the owner's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from flask import Blueprint
from msgspec import Struct, field
from sqlalchemy.orm import Session

from webapp.db.tables.study import Study


class Role(StrEnum):
    """The people for whom an address is open."""

    ANYBODY = "anybody"
    RATERS = "raters"
    GUESTS = "guests"
    OWNER = "owner"


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


class Feature(Struct, frozen=True):
    """The pages of a feature: its blueprints with their role, or of single endpoints in ``roles``.

    ``entries`` are its links in menus, ``parts`` its templates in the pages of other features, by
    the name of the place where such a page includes them. ``under`` names, by blueprint, the
    entry of the owner's menu under which its pages are. ``kept`` are the static files that a
    browser keeps for a time without a network.
    """

    name: str
    blueprints: Mapping[Blueprint, Role]
    roles: Mapping[str, Role] = field(default_factory=dict)
    entries: tuple[MenuEntry, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    under: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()


class ShownPart(NamedTuple):
    """A part of a page that a feature adds: ``shown`` is what its template shows."""

    template: str
    shown: Any


def features() -> tuple[Feature, ...]:
    """Return every feature."""
    from webapp.web.features import FEATURES  # late: its views ask for roles and menus

    return FEATURES


@cache
def roles() -> dict[str, Role]:
    """Return the roles that pages are open to, by blueprint or endpoint."""
    found = {"static": Role.ANYBODY}
    for feature in features():
        found |= {blueprint.name: role for blueprint, role in feature.blueprints.items()}
        found |= feature.roles
    return found


def stated(endpoint: str) -> Role | None:
    """Return the role of an endpoint, its own or its blueprint's; ``None`` if there is none."""
    return roles().get(endpoint) or roles().get(endpoint.partition(".")[0])


def role_for(endpoint: str | None) -> Role:
    """Return the role that an endpoint needs; open to anybody where no page is."""
    if endpoint is None:
        return Role.ANYBODY
    return stated(endpoint) or Role.OWNER


@cache
def menu(name: str) -> tuple[MenuEntry, ...]:
    """Return the entries of a menu, in their order."""
    found = (entry for feature in features() for entry in feature.entries if entry.menu == name)
    return tuple(sorted(found, key=lambda entry: entry.place))


@cache
def parts(place: str) -> tuple[str, ...]:
    """Return the templates that features add to a place of a page, in their order."""
    return tuple(feature.parts[place] for feature in features() if place in feature.parts)


@cache
def kept_files() -> tuple[str, ...]:
    """Return the static files that a browser keeps for a time without a network."""
    return tuple(name for feature in features() for name in feature.kept)


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
    return {name: entry for feature in features() for name, entry in feature.under.items()}
