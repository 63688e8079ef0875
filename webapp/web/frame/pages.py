"""The pages of the frame, and who may open them."""

from __future__ import annotations

from webapp.web.frame import guides, health, joined, language, ratios, shell
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages

PAGES = Pages(
    blueprints=(
        health.blueprint,
        shell.blueprint,
        joined.blueprint,
        language.blueprint,
        ratios.blueprint,
        guides.blueprint,
    ),
    doors={
        "guides": Door.ANYBODY,
        "health": Door.ANYBODY,
        "joined": Door.ANYBODY,
        "language": Door.ANYBODY,
        "ratios": Door.ANYBODY,
        "shell": Door.ANYBODY,
    },
    kept=(
        *("vendor/htmx.min.js", "frame/icon.svg", "frame/clear.svg", "frame/first.js"),
        *("joined/frame/app.css", "joined/frame/page.js"),
    ),
)
