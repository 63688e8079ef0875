"""Scripts joined into one: modules that import from each other, each in a function of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[\w./]*/[\w.]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)


def imported(source: str) -> list[str]:
    """Return the files that a script imports from, as it names them."""
    return [match[2] for match in _IMPORT.finditer(source)]


def bundled(sources: Mapping[str, str]) -> str:
    """Return scripts, by the name of the file that others import, as one module in their order."""
    parts = ["const parts = {};"]
    for name, source in sources.items():
        exported = ", ".join(match[1] for match in _EXPORT.finditer(source))
        body = _EXPORT.sub("", _IMPORT.sub(_taken_from_parts, source))
        parts.append(f'parts["{name}"] = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();')
    return "\n".join(parts)


def _taken_from_parts(match: re.Match[str]) -> str:
    names, path = match.groups()
    file = path.rpartition("/")[2]
    return f'const {{{names}}} = parts["{file}"];'
