"""Chatbot answers put together from what real ones are made of, and read, shown and timed.

Whatever a chatbot writes is read without an error, shown as HTML that does nothing, and takes
time that grows with its length and no faster.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from relevansi.importers.runs import property_cards
from relevansi.metrics.evaluations import answers
from relevansi.printable import printable
from relevansi.web.frame import markdown
from tests.fuzzing import mutations

# fmt: off
TITLES = (
    "Rumah Cemara", "Rumah [Baru] di Johor", "Dijual *cepat*", "R\\_1 \\*", "**x**", "_", "**", "",
    "Rumah (2 lantai)", "Rumah 1. **A**", "`kode`", "Rumah: murah", "x" * 300, "<b>Rumah</b>",
)
LINKS = (
    "https://x.example/properti/rumah-a", "/proyek/griya", "https://x.example/a(b)c", "http://[",
    "javascript:alert(1)", "data:text/html,x", "https://x.example/properti/%E2%80%AE", "//x", "",
    "https://x.example/properti/a?b=c&d=<e>", "HTTPS://X.EXAMPLE/PROPERTI/A",
    "x.example/properti/b",
)
DETAILS = (
    "📍 Jl. Cemara No. 1", "💰 Rp 1.670.000.000", "💰 Rp 800 jt - Rp 1,2 M (sale)", "💰 Rp 0",
    "💰 Harga: Rp 1.5 M per tahun", "💰 hubungi agen",
    "🏠 4 Kamar Tidur, 3 Kamar Mandi, LT 105.0m²",
    "🏠 3 KT | 2 KM | LB 90 m2", "🔄 Resale", "🏗️ New", "🔗 [Lihat Detail]({link})", "📐 LT: 100",
    "- **Harga:** Rp 900 jt", "* Lokasi: Medan", "+ Sertifikat: SHM", "Tipe: rumah", "🏷️ Dijual",
)
HEADS = (
    "**{t}**", "**[{t}]({l})**", "[{t}]({l})", "[**{t}**]({l})", "{t}", "__{t}__",
    "**{t}** - Rp 900 jt", "**{t}", "[{t}]({l}", "*{t}* 📍 Medan",
)
STARTS = (
    "1.", "1)", "2.", "10.", "9999.", "0.", "-", "*", "•", "##", "### 1.", "**1.", ">", "| 1 |",
    "",
)
REMARKS = (
    "Berikut **dua** rumah:", "Tidak ada rumah di sana.", "**Saran:** naikkan anggaran.", "---",
    "### Pilihan lain", "***", "| a | b |\n|---|---|\n| 1 | 2 |", "```\n1. **x**\n```",
    "    1. **y**", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "![x](https://x.example/a.png)", "[a]: javascript:alert(1) 'x'", "[a][a]",
    "<https://x.example>", "&lt;b&gt; &#x0; &#55296;", "\\", "[CIT:d1]",
    "Ya [CIT:a_b-c]. Tidak tahu!", "Apa? Ya... Hm", "\u202e", "\x00", "\ud800", "\r", "\x0b",
)
TRICKS = (
    "*", "**", "***", "_", "__", "[", "]", "](", "[]()", "![", "(", ")", "<", ">", "`", "``", "|",
    "\\", "&", "&#", "~", "~~", "#", "# ", "> ", "- ", "1. ", "1) ", "  ", "\t", "\n", "\n\n", "a",
    ".", "💰", "💰 Rp ", "Rp 1", "1.", "1,", "9", "jt", "📍", "🔗 [", "http://", "https://x/properti/",
    "[CIT:", "**a", "[a](b", "\\*", "a*", "*a_", "<a ", "<!--", "]]>", "&amp;", "\u200b", "é",
    "| a ", "--- ", "a. ", "? ", "a b ", "1. **a**\n", "💰 Rp 1 - ", "🏠 1 KT, ", "LT 1m² ", "- (",
    "(sewa) ", "\ufeff",
)
# fmt: on
PIECES = (*TRICKS, *TRICKS, *DETAILS, *TITLES, *REMARKS)
LONGEST = 20_000
"""Bytes of a spoiled answer: how time grows with length is looked at by itself."""
SLOW_FROM = 0.02
"""Seconds: below that, what is measured is the machine."""
AT_MOST = 2.5
SIZES = (2_000, 100_000)
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*:")
SHOWN_TAGS = markdown.TAGS | {"img"}
WAYS: tuple[Callable[[str], object], ...] = (
    property_cards.parse,
    lambda text: markdown.render(text, uncut=True, pictures=True),
    lambda text: markdown.render(text, uncut=True),
    printable,
    markdown.line,
    answers.sentences,
)


@given(st.randoms(use_true_random=False))
def test_any_answer_is_read_and_shown_as_html_that_does_nothing(random: Random) -> None:
    text = _answer(random)
    for way in WAYS:
        way(text)
    cards = property_cards.parse(text)
    assert len(property_cards.parse(property_cards.render(cards))) <= len(cards)
    for pictures in (False, True):
        for uncut in (False, True):
            html = _Shown(markdown.render(text, pictures=pictures, uncut=uncut))
            assert not html.harmful
    for card in cards:
        for part in (card.title, card.url or ""):
            markdown.line(part)
            markdown.link(part)
            markdown.picture(part)


@given(st.integers(0, len(WAYS) - 1), st.lists(st.sampled_from(PIECES), min_size=1, max_size=5))
def test_a_text_twice_as_long_takes_twice_as_long(way: int, parts: list[str]) -> None:
    assert _slow(WAYS[way], "".join(parts) or "x") == ()


def _answer(random: Random) -> str:
    blocks = [_block(random) for _ in range(random.randrange(1, 12))]
    text = random.choice(("\n\n", "\n", "\n", " \n", "\r\n")).join(blocks)
    if random.random() < 0.3:
        data = mutations.spoiled(text.encode("utf-8", "surrogatepass"), random)
        text = data[:LONGEST].decode("utf-8", random.choice(("replace", "ignore")))
    return text[:LONGEST]


def _slow(way: Callable[[str], object], piece: str) -> tuple[float, ...]:
    """Return how many times as long twice the text takes, twice over; empty where that is fine.

    The processor's time is measured, the least of several goes, so that what else the machine
    does counts little; a text that is read too fast to be measured is made longer.
    """
    length, longest = SIZES
    while True:
        texts = [piece * (length * factor // len(piece) + 1) for factor in (1, 2, 4)]
        once = _seconds(way, texts[0], 1)
        if once >= SLOW_FROM:
            break
        if length >= longest:
            return ()
        length *= 2 if once > SLOW_FROM / 4 else 4
    for goes in (1, 3):
        took = [_seconds(way, text, goes) for text in texts]
        ratios = tuple(after / before for before, after in pairwise(took))
        if min(ratios) <= AT_MOST:
            return ()
    return ratios


def _seconds(way: Callable[[str], object], text: str, goes: int) -> float:
    took = []
    for _ in range(goes):
        began = time.process_time()
        way(text)
        took.append(time.process_time() - began)
    return min(took)


def _block(random: Random) -> str:
    chance = random.random()
    if chance < 0.65:
        return _card(random)
    if chance < 0.9:
        return random.choice(REMARKS)
    return "".join(random.choice(TRICKS) for _ in range(random.randrange(1, 40)))


def _card(random: Random) -> str:
    title, link = random.choice(TITLES), random.choice(LINKS)
    head = random.choice(HEADS)
    lines = [f"{random.choice(STARTS)} {head.format(t=title, l=link)}"]
    for _ in range(random.randrange(5)):
        detail = random.choice(DETAILS).replace("{link}", link)
        if random.random() < 0.15:
            detail += mutations.text(random)
        lines.append(random.choice(("   ", "   - ", "", "\t", "      ", "- ")) + detail)
    return "\n".join(lines)


class _Shown(HTMLParser):
    """The harmful elements that a browser would find in the HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.harmful: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note elements and attributes that no answer may bring along."""
        if tag not in SHOWN_TAGS:
            self.harmful.append(tag)
        for name, value in attrs:
            address = "".join((value or "").split()).lower()
            scheme = _SCHEME.match(address) if name in {"href", "src"} else None
            leads_astray = scheme is not None and scheme[0] not in {"http:", "https:"}
            if name.startswith("on") or name == "style" or leads_astray:
                self.harmful.append(f"{tag} {name}={value}")
