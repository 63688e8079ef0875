"""The names that a template takes from its context."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from flask import Flask
from jinja2 import Environment, meta
from msgspec import Struct

from webapp.config import resource

FOLDER = resource("templates")

FRAME = {"url_for", "range", "loop"}


def used(app: Flask, name: str, seen: set[str]) -> set[str]:
    """Return the names that a template and those it includes take from their context."""
    seen.add(name)
    taken, others, own = read(app.jinja_env, name)
    found = set(taken)
    for other in others:
        if other not in seen:
            found |= used(app, other, seen)
    return found - own


@cache
def read(environment: Environment, name: str) -> tuple[set[str], set[str], set[str]]:
    """Return what one template takes from its context, includes, and gives itself."""
    source = (FOLDER / name).read_text("utf-8")
    tree = environment.parse(source)
    others = {other for other in meta.find_referenced_templates(tree) if other}
    return meta.find_undeclared_variables(tree), others, given(source)


def given(source: str) -> set[str]:
    """Return the names that a template sets or imports for itself and its parts."""
    listed = re.findall(r"\{%-? (?:set|for) ([\w, ]+?) (?:=|in|%)", source)
    aliases = re.findall(r'\{% import "[^"]+" as (\w+)', source)
    return {name.strip() for group in listed for name in group.split(",")} | set(aliases)


def unknown(app: Flask, name: str, context: type[Struct]) -> set[str]:
    """Return the names that a page uses and its context lacks."""
    allowed = set(context.__struct_fields__) | set(app.jinja_env.globals) | FRAME
    return used(app, name, set()) - allowed


def pages(contexts: Iterable[str]) -> list[str]:
    """Return the templates that are whole pages, not parts of one."""
    return [name for name in contexts if not Path(name).name.startswith("_")]


def has_title(name: str) -> bool:
    """Whether a page has a title of its own."""
    return "{% block title %}" in (FOLDER / name).read_text("utf-8")
