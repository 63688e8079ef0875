"""Wide tables whose rows stand as blocks on a phone."""

from __future__ import annotations

import re


def assert_named_in_blocks(page: str) -> None:
    bodies = re.findall(r'class="figures [^"]*wide".*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    cells = [cell for body in bodies for cell in re.findall(r"<td[^>]*>", body)]

    assert len(cells) > 10
    assert all(re.search('data-label="[^"]', cell) for cell in cells)
