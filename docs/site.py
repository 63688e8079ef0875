"""The site of the guides: their links from one language to the other, which its head has too."""

from __future__ import annotations

import re
from typing import Any

OTHER_LANGUAGE = re.compile(r"^\[[^\]]+\]\(\.\./\w+/[\w-]+\.md\)\n", re.MULTILINE)


def on_page_markdown(markdown: str, **_others: Any) -> str:
    """Return a guide without its link to the other language."""
    return OTHER_LANGUAGE.sub("", markdown, count=1)
