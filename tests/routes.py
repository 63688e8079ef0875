"""Routes as all applications have them, compiled once: most of what making another one takes."""

from __future__ import annotations

from collections.abc import Callable

from werkzeug.routing import Rule

Builder = Callable[..., tuple[str, str]]
COMPILE = Rule._compile_builder
COMPILED: dict[tuple[object, ...], Builder] = {}


def compiled_once(rule: Rule, append_unknown: bool = True) -> Builder:
    """The function that builds the addresses of a rule, which is the same for every map of URLs."""
    key = rule.rule, tuple(rule._trace), repr(rule.defaults), append_unknown
    if key not in COMPILED:
        COMPILED[key] = COMPILE(rule, append_unknown)
    return COMPILED[key]
