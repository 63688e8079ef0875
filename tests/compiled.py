"""Routes and templates, compiled once: most of what making another application takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import CodeType

from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from relevansi.web.frame.setup import CompiledTemplates

Builder = Callable[..., tuple[str, str]]
COMPILE = Rule._compile_builder
COMPILED: dict[tuple[object, ...], Builder] = {}
NAME = "compiled_templates"  # of the folder that an application has
TEMPLATES = "RELEVANSI_TEST_TEMPLATES"
"""The setting that names the folder which all processes of a run of the tests share."""


def compiled_once(rule: Rule, append_unknown: bool = True) -> Builder:
    """The function that builds the addresses of a rule, which is the same for every map of URLs."""
    key = rule.rule, tuple(rule._trace), repr(rule.defaults), append_unknown
    if key not in COMPILED:
        COMPILED[key] = COMPILE(rule, append_unknown)
    return COMPILED[key]


def loaded_from(folder: Path) -> Callable[[CompiledTemplates, Bucket], None]:
    """How an application loads a template: from memory, else from a folder that it fills too."""
    load = CompiledTemplates.load_bytecode
    loaded: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(templates: CompiledTemplates, bucket: Bucket) -> None:
        if Path(templates.directory).name != NAME:
            return load(templates, bucket)
        templates.directory = str(folder)
        bucket.code = loaded.get((bucket.key, bucket.checksum))
        if bucket.code is None:
            load(templates, bucket)
        if bucket.code is not None:
            loaded[bucket.key, bucket.checksum] = bucket.code
        return None

    return load_bytecode
