"""The pages of the frame, and who may open them."""

from __future__ import annotations

from webapp.web.frame import guides, health, language, ratios, shell
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages

PAGES = Pages(
    blueprints=(
        health.blueprint,
        shell.blueprint,
        language.blueprint,
        ratios.blueprint,
        guides.blueprint,
    ),
    doors={
        "guides": Door.ANYBODY,
        "health": Door.ANYBODY,
        "language": Door.ANYBODY,
        "ratios": Door.ANYBODY,
        "shell": Door.ANYBODY,
    },
    kept=(
        *("vendor/modern-normalize.css", "vendor/htmx.min.js"),
        *("frame/icon.svg", "frame/clear.svg", "frame/theme.js", "frame/app.css", "frame/page.js"),
        *("frame/memory.js", "frame/queue.js", "frame/outbox.js", "frame/waiting.js"),
        "frame/kept_pages.js",
    ),
)
