"""Modules joined into one script keep their names apart and find what they import."""

from __future__ import annotations

from webapp.exporters.frame.scripts import as_one, imported


def test_each_module_is_a_function_that_returns_its_exports() -> None:
    first = "const own = 1;\nexport function keep(name) {}\nexport const LIMIT = own;"
    second = 'import { keep, LIMIT } from "../frame/memory.js";\nkeep(LIMIT);'

    assert imported(second) == ["../frame/memory.js"]
    assert as_one({"memory.js": first, "page.js": second}) == (
        "const parts = {};\n"
        'parts["memory.js"] = (() => {\nconst own = 1;\nfunction keep(name) {}\n'
        "const LIMIT = own;\nreturn { keep, LIMIT };\n})();\n"
        'parts["page.js"] = (() => {\nconst { keep, LIMIT } = parts["memory.js"];\nkeep(LIMIT);\n'
        "return {  };\n})();"
    )
