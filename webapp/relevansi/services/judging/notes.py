"""A note that two tabs or devices wrote at the same time: neither text is lost."""

from __future__ import annotations


def merged(stored: str, base: str, text: str) -> str:
    r"""Return the note after an edit from `base` to `text`, beside what was `stored` meanwhile.

    >>> merged("far", "far", "far away"), merged("dear", "", "far"), merged("dear\nfar", "far", "")
    ('far away', 'dear\nfar', 'dear')
    """
    if stored == base or _has(text, stored):
        return text
    before, found, after = _lines(stored).partition(_lines(base))
    if base and found:
        return "\n".join(filter(None, (before[1:], text, after[:-1])))
    return stored if _has(stored, text) else f"{stored}\n{text}"


def _has(whole: str, part: str) -> bool:
    """Whether `part` begins `whole`, or is some of its lines."""
    return whole.startswith(part) or _lines(part) in _lines(whole)


def _lines(text: str) -> str:
    return f"\n{text}\n"
