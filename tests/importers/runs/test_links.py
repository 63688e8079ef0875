"""Addresses are found in links and bare, without the punctuation around them."""

from __future__ import annotations

import pytest

from relevansi.importers.runs.links import find_link, slug_and_source

SITE = "https://rumah.example/properti"


@pytest.mark.parametrize(
    ("text", "label", "url"),
    [
        (f"[Rumah A]({SITE}/a)", "Rumah A", f"{SITE}/a"),
        (f"lihat [Rumah [baru]]({SITE}/a) ya", "Rumah [baru]", f"{SITE}/a"),
        (f"[A]({SITE}/a_(1)) dan", "A", f"{SITE}/a_(1)"),
        (f'[A]({SITE}/a "judul") dan', "A", f"{SITE}/a"),
        (f"[A](<{SITE}/a>)", "A", f"{SITE}/a"),
        (f"[A]({SITE}/a", "A", f"{SITE}/a"),  # never closed
        (f"**Rumah A]({SITE}/a)**", None, None),  # never opened
        (f"![Foto]({SITE}/a.jpg)", None, None),
        ("[A](#bagian)", None, None),
        ("[A] (b)", None, None),
    ],
)
def test_a_link_has_its_label_and_its_address(
    text: str, label: str | None, url: str | None
) -> None:
    result = find_link(text)

    assert (result and result.label, result and result.url) == (label, url)


@pytest.mark.parametrize(
    ("url", "slug", "source"),
    [
        (f"{SITE}/rumah-6f31/?utm=1#foto", "rumah-6f31", "listing"),
        ("https://rumah.example/proyek/cemara", "cemara", "project"),
        ("/properti/rumah-6f31", "rumah-6f31", "listing"),
        (f"{SITE}/", None, "listing"),
        ("www.rumah.example/jual/a", "a", None),
        ("https://rumah.example", None, None),
    ],
)
def test_slug_and_source_are_parts_of_the_path(
    url: str, slug: str | None, source: str | None
) -> None:
    assert slug_and_source(url) == (slug, source)
