"""Who may open which address in which studies, and where its page is in the menus."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from relevansi.i18n import kind_of_items, mark


class Role(StrEnum):
    """The people for whom an address is open."""

    ANYBODY = "anybody"
    RATERS = "raters"
    GUESTS = "guests"
    OWNER = "owner"


ROLES: Mapping[str, Role] = {
    **dict.fromkeys(("static", "joined", "shell", "health", "telemetry", "language"), Role.ANYBODY),
    **dict.fromkeys(("ratios", "guides", "measures", "sign_in", "participants"), Role.ANYBODY),
    **dict.fromkeys(("rate", "home.show", "history"), Role.RATERS),
    "card_decisions.decide_blind": Role.RATERS,
    **dict.fromkeys(("own_questions", "questionnaires"), Role.GUESTS),
    **dict.fromkeys(("participants.rename", "participants.link"), Role.GUESTS),
    "api.openapi": Role.ANYBODY,
    **dict.fromkeys(("tokens", "api.take_task", "api.show_task"), Role.RATERS),
    **dict.fromkeys(("api.judge_card", "api.rate_task"), Role.RATERS),
    **dict.fromkeys(("sign_in.ask_to_change", "sign_in.change"), Role.OWNER),
}
"""The roles of blueprints and of single endpoints; every other address is the owner's."""

KINDS: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    (
        *("gold", "constraints", "card_decisions", "judgments.add_cards"),
        *("user_studies", "findings", "participants", "own_questions", "questionnaires"),
        "collecting",
    ),
    ("property",),
)
"""The kinds of items for which features, blueprints or endpoints are; every other is for all."""


class MenuEntry(NamedTuple):
    """A link in a menu; its ``label`` is a message id.

    It is marked on the pages of its blueprint, of the blueprints in ``also``, and on those of the
    menu under it, ``pages``.
    """

    endpoint: str
    label: str
    pages: str = ""
    also: tuple[str, ...] = ()


MENUS: Mapping[str, tuple[MenuEntry, ...]] = {
    "owner": (
        MenuEntry("home.show", mark("Home")),
        MenuEntry(
            *("runs.index", mark("Runs")),
            also=("imports", "catalogue", "judgments", "long_work", "constraints", "gold"),
        ),
        MenuEntry("comparisons.show", mark("Comparison"), also=("rated_comparisons",)),
        MenuEntry("study.show", mark("Study"), pages="study"),
    ),
    "rater": (
        MenuEntry("home.show", mark("Home")),
        MenuEntry("rate.next_one", mark("Rating")),
        MenuEntry("history.show", mark("History")),
    ),
    "study": (
        MenuEntry("study.show", mark("Settings"), also=("question_notes",)),
        MenuEntry("raters.index", mark("People"), pages="people"),
        MenuEntry("study.standing", mark("Progress")),
        MenuEntry("agreement.show", mark("Agreement")),
        MenuEntry("adjudications.show", mark("Ties")),
        MenuEntry("planning.show", mark("Planning")),
        MenuEntry("study.more", mark("More"), pages="more"),
    ),
    "people": (
        MenuEntry("raters.index", mark("Raters")),
        MenuEntry("assignments.show", mark("Who judges what")),
        MenuEntry("user_studies.show", mark("Phase 3"), pages="phase 3"),
    ),
    "phase 3": (
        MenuEntry("user_studies.show", mark("Set-up and links")),
        MenuEntry("findings.show", mark("Participants and figures")),
        MenuEntry("findings.questions", mark("Questions")),
        MenuEntry("findings.comments", mark("Comments")),
    ),
    "more": (
        MenuEntry("history.show", mark("History")),
        MenuEntry("evaluations.index", mark("Evaluation")),
        MenuEntry("machine_judges.index", mark("Machine judges")),
        MenuEntry("tokens.index", mark("Tokens")),
    ),
}
KEPT_FILES = (
    *("vendor/htmx.min.js", "frame/icon.svg", "frame/first.js"),
    *("vendor/inter-latin.woff2", "joined/frame/parts.css", "joined/frame/page.js"),
    *("joined/rating/rating.css", "joined/rating/rating.js"),
    *("gold/card_badges.css", "gold/card_badges.js"),
    "joined/rating/rating.css+phase_3/taking_part.css",
    "joined/rating/rating.js+phase_3/taking_part.js",
)
"""The static files that a browser keeps for a time without a network."""


class ShownPart(NamedTuple):
    """A part of a page that a feature adds: ``content`` is what its template shows."""

    template: str
    content: Any


def is_offered(endpoint: str | None) -> bool:
    """Whether an endpoint is for the kind of items that the study in force judges."""
    name = endpoint or ""
    kinds = KINDS.get(name) or KINDS.get(name.partition(".")[0])
    return not kinds or kind_of_items() in ("", *kinds)


OF_FOLDER = {"folder"}
IN_FOLDER = {
    *("static", "joined", "shell", "health", "telemetry", "language", "ratios", "guides"),
    *("sign_in", "measures", "home"),
}
"""The blueprints of a folder of studies alone, and those of a study that the folder has too."""
KEPT_OPEN = {"sign_in", "language", "ratios"}
"""The blueprints whose forms an archived study takes: they change none of it."""


def is_served(endpoint: str | None, *, of_folder: bool) -> bool:
    """Whether a study, or the folder of several, has the page of an endpoint."""
    section = (endpoint or "").partition(".")[0]
    return section in {"", *OF_FOLDER, *IN_FOLDER} if of_folder else section not in OF_FOLDER


def is_kept_open(endpoint: str | None) -> bool:
    """Whether the forms of an endpoint are taken even while the study is archived."""
    return (endpoint or "").partition(".")[0] in KEPT_OPEN


def menu(name: str) -> tuple[MenuEntry, ...]:
    """Return the entries of a menu that are for the kind of items of the study in force."""
    return tuple(entry for entry in MENUS[name] if is_offered(entry.endpoint))


def role_for(endpoint: str | None) -> Role:
    """Return the role that an endpoint needs; open to anybody where no page is."""
    if endpoint is None:
        return Role.ANYBODY
    return ROLES.get(endpoint) or ROLES.get(endpoint.partition(".")[0], Role.OWNER)


def current(menu: str, endpoint: str | None) -> MenuEntry | None:
    """Return the entry of a menu that is marked on the page of `endpoint`."""
    name, section = endpoint or "", (endpoint or "").partition(".")[0]
    for entry in MENUS[menu]:
        if entry.endpoint == name:
            return entry
    for entry in MENUS[menu]:
        sections = entry.endpoint.partition(".")[0], *entry.also
        if current(entry.pages, name) if entry.pages else section in sections:
            return entry
    return None
