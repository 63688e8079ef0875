"""The names that a template takes from its context."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
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


def files_named(name: str) -> set[str]:
    """Return the files below /static/ that a template asks for, joined as it joins them."""
    source = (FOLDER / name).read_text("utf-8")
    blocks = re.findall(r"{% block (?:styles|scripts) %}([^{]+){% endblock %}", source)
    alone = re.findall(r"static\('([^']+\.\w+)'\)", source)
    return {*alone, *(f"joined/{block}" for block in blocks)}


def of_titles(contexts: Iterable[str]) -> Callable[..., None]:
    """Return the test that every whole page among the templates has a title of its own."""

    @pytest.mark.parametrize(
        "name", [one for one in contexts if not Path(one).name.startswith("_")]
    )
    def has_title(name: str) -> None:
        assert "{% block title %}" in (FOLDER / name).read_text("utf-8")

    return has_title


def of_names(contexts: Mapping[str, Any]) -> Callable[..., None]:
    """Return the test that every template uses only what its context has."""

    @pytest.mark.parametrize(("name", "context"), contexts.items())
    def uses_only_its_context(app: Flask, name: str, context: type[Struct]) -> None:
        assert unknown(app, name, context) == set()

    return uses_only_its_context
