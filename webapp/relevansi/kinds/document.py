"""Documents: the passages, chunks, pages or products that a search or RAG system lists."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, NamedTuple, Self

from msgspec import field
from msgspec.structs import replace

from relevansi.records import Item

Scalar = str | int | float | bool
WINDOW = 320
"""Characters of an excerpt."""

_LONGEST_READ = 200_000  # characters of a text in which an excerpt is looked for
_SYSTEM_WORDS = """
    score rank ranking distance similarity system retriever retrieval model index position method
    run strategy engine reranker embedding probability confidence query
"""
_TELLING = frozenset(_SYSTEM_WORDS.split())


class Document(Item, frozen=True, omit_defaults=True, tag_field="kind", tag="document"):
    """One document, or a passage of one, as a file states it.

    ``doc_id`` is the collection's own id. ``meta`` is whatever else is stated of it, in the
    file's order. ``passage`` tells the texts of one id apart where a collection's ids name
    documents of several passages. ``score`` and ``position`` (from 0, in the file's list) are
    what one run says of it; they never decide identity and are never shown to a rater.
    """

    kind: ClassVar[str] = "document"
    columns: ClassVar[tuple[str, ...]] = ("doc_id", "title", "url", "text", "meta", "score")
    seen_blind: ClassVar[tuple[str, ...]] = ("title", "url", "text", "meta")
    of_one_run: ClassVar[tuple[str, ...] | None] = ("score", "position")
    headlines: ClassVar[tuple[str, ...]] = ("nDCG@10", "P@5", "RR@10", "success@10", "Judged@10")
    of_collection: ClassVar[bool] = True
    is_text: ClassVar[bool] = True
    reasons: ClassVar[tuple[str, ...]] = (
        *("other_topic", "partly", "outdated", "duplicate", "untrusted", "other"),
    )

    text: str = ""
    doc_id: str | None = None
    meta: Mapping[str, Scalar] = field(default_factory=dict)
    passage: str | None = None
    score: float | None = None
    position: int | None = None

    @property
    def name(self) -> str:
        """Its title, else the beginning of its text, else its address or its id."""
        words = " ".join(self.text[:200].split())[:100]
        return self.title or words or self.url or self.doc_id or "-"

    @property
    def identity(self) -> str:
        """Its identity in every run: by its id, else its text, its address or its title.

        >>> Document(doc_id="d7", text="Long red dress").identity
        'doc:d7'
        """
        if self.doc_id:
            return f"doc:{self.doc_id}" + (f"#{self.passage}" if self.passage else "")
        if self.text.strip() or not (self.url or self.title):
            return f"text:{text_hash(self.text)}"
        return f"url:{self.url}" if self.url else f"title:{text_hash(self.title)}"

    @classmethod
    def docno(cls, identity: str, content: int) -> str:
        """Return the collection's own id, with the number of every version but the first.

        >>> Document.docno("doc:d7", 1), Document.docno("doc:d7", 2)
        ('d7', 'd7/2')
        """
        doc_id = identity.removeprefix("doc:")
        return doc_id if content == 1 else f"{doc_id}/{content}"

    def differences(self, version: Document) -> tuple[str, ...]:
        """Return "text" where both state one and neither begins with the other, else ().

        Runs cut texts at different lengths, and may put an ellipsis there. Titles are compared
        in the same way where there are not two texts.
        """
        if (self.text, self.title) == (version.text, version.title):
            return ()  # as most are, and comparing them otherwise is slow
        for name in ("text", "title"):
            ours, theirs = beginning(getattr(self, name)), beginning(getattr(version, name))
            if ours and theirs:
                return () if ours.startswith(theirs) or theirs.startswith(ours) else (name,)
        return ()

    def fullest(self, version: Document) -> Self:
        """Return this version with the longer text, and without ``meta`` that only one states.

        What one system alone says of a document would tell its lists apart. A version that is
        nothing but an id says nothing on that.
        """
        if (self.title, self.text, self.url, self.meta) == (
            *(version.title, version.text, version.url, version.meta),
        ):
            return self
        meta = self.meta
        if version.title or version.text or version.meta:
            meta = {
                name: value for name, value in self.meta.items() if version.meta.get(name) == value
            }
            if not (self.title or self.text or self.meta):
                meta = version.meta
        return replace(
            self,
            title=max(self.title, version.title, key=len),
            text=max(self.text, version.text, key=len),
            url=self.url or version.url,
            meta=meta,
        )

    def renewed(self, version: Document) -> Self:
        filled = self.fullest(version)
        return replace(filled, title=version.title or self.title, text=version.text or self.text)

    def uniform(self, _offer: str | None) -> Self:
        """Return it as blind raters see it: no score, no place, nothing named after a system."""
        meta = {name: value for name, value in self.meta.items() if not tells_system(name)}
        return replace(self, meta=meta, score=None, position=None)

    def described(self) -> str:
        """Return title and text, for a machine that judges it.

        >>> print(Document(title="Dresses", text="Long red dress").described())
        - Title: Dresses
        - Text: Long red dress
        """
        # Not gettext: the words belong to the version of a judge and must not change with ours.
        texts = (("Title", self.title), ("Text", self.text))
        lines = [f"- {word}: {text}" for word, text in texts if text]
        return "\n".join(lines) or f"- Title: {self.url or self.doc_id or '-'}"


def tells_system(name: str) -> bool:
    """Whether a key of ``meta`` is named after a score, a rank or a system.

    >>> [tells_system(name) for name in ("vector_score", "bm25Rank", "author")]
    [True, True, False]
    """
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())
    return not _TELLING.isdisjoint(words)


def normalised(text: str) -> str:
    """`text` in NFKC with its blanks squeezed and its case folded."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def beginning(text: str) -> str:
    """`text` normalised, without the dots that show where it was cut."""
    return normalised(text).rstrip(" .")


def text_hash(text: str) -> str:
    """The SHA-256 of the normalised text: the same for equal texts in every run."""
    return hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()


# Words between which nothing is written: Han by character, the others by pairs (Thai to Khmer,
# kana, Hangul, whose particles join the word).
_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PAIRED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\uac00-\ud7af"
# Vowel and accent signs inside words, which \\w leaves out.
_SIGNS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff"
_WORD = re.compile(
    f"[{_HAN}]|(?P<paired>[{_PAIRED}]+)|[0-9]+(?:[.,][0-9]+)*|(?:(?![{_HAN}{_PAIRED}_])[\\w{_SIGNS}])+"
)
_SENTENCE_END = re.compile(
    "(?<=[.!?\u061f\u06d4\u0964])\\s+|(?<=[\u3002\uff01\uff1f])\\s*|\n\\s*|$(?!\n)"
)
# Fences, headings and rules of tables, which nobody reads in one line.
_MARKUP = re.compile(r"```\w*|^#{1,6} |\|?(?:\s*:?-{3,}:?\s*\|)+(?:\s*:?-{3,}:?)?", re.MULTILINE)
_STOPWORDS_EN_ID_ZH = """
    a about an and any are as at be been but by can could did do does for from had has have how i if
    in into is it its me my no not of on or our should so some such than that the their them then
    there these they this those to was we were what when where which who whom whose why will with
    would you your
    ada adalah agar akan antara apa apakah atas atau bagaimana bagi bahwa banyak berapa bisa bukan
    dalam dan dapat dari dengan di hanya harus ini itu jika juga kalau kami kamu kapan karena ke
    kenapa kepada kita lagi lebih mana mengapa mereka mungkin oleh pada para pernah saat saja saya
    sebagai secara sedang sejak semua seperti serta siapa sudah supaya tapi tentang terhadap tetapi
    tidak untuk yaitu yang
    的 了 是 在 和 与 也 吗 呢 什 么 哪 怎 谁 个 这 那
"""
_STOPWORDS = frozenset(_STOPWORDS_EN_ID_ZH.split())


class Excerpt(NamedTuple):
    """A part of a text: whether text comes before and after it, and its pieces in order.

    Each piece is its text and whether it is a word of the question.
    """

    before: bool
    after: bool
    pieces: list[tuple[str, bool]]


def excerpt(text: str, question: str, *, window: int = WINDOW) -> Excerpt:
    """The part of `text`, up to `window` characters, with most distinct words of `question`.

    It begins and ends with a sentence where that fits, the earliest of equal ones is taken.
    Words are compared without case and accents by their first five letters; English and
    Indonesian stopwords do not count, unless the question has no other words.

    >>> excerpt("Blue shirts. Long red dresses, in linen. Hats.", "a red dress?", window=30)
    Excerpt(before=True, after=True, pieces=[('Long ', False), ('red', True), (' ', False),
    ('dresses', True), (', in linen.', False)])
    """
    text = text[:_LONGEST_READ]
    keys = _keys_of(question)
    hits = [(start, end, key) for start, end, key in _words(text) if key in keys]
    start, end = _best(list(_segments(text, window // 2)), hits, window)
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    end = start + len(part.strip())
    before, after = bool(text[:start].strip()), bool(text[end:].strip())
    pieces: list[tuple[str, bool]] = []
    at = start
    for first, last in _joined((s, e) for s, e, _ in hits if start <= s and e <= end):
        pieces += [(text[at:first], False), (text[first:last], True)]
        at = last
    pieces.append((text[at:end], False))
    plain = ((re.sub(r"\s+", " ", _MARKUP.sub(" ", piece)), marked) for piece, marked in pieces)
    return Excerpt(before, after, [(piece, marked) for piece, marked in plain if piece])


def word_count(text: str) -> int:
    """How many words a text has; where nothing stands between them, Han characters and runs.

    >>> word_count("Long red dresses"), word_count("\u7ea2\u88d9")
    (3, 2)
    """
    return sum(1 for _ in _WORD.finditer(text))


def content_words(question: str) -> str:
    """The words of a question that are no stopwords, each once and as they are written.

    >>> content_words("Apakah ada gudang yang disewa di KIM, atau gudang lain?")
    'gudang disewa KIM lain'
    """
    words: dict[str, str] = {}
    for match in _WORD.finditer(question):
        words.setdefault(match[0].casefold(), match[0])
    return " ".join(word for key, word in words.items() if key not in _STOPWORDS)


def _keys_of(question: str) -> frozenset[str]:
    words = [(question[start:end].casefold(), key) for start, end, key in _words(question)]
    telling = frozenset(key for word, key in words if word not in _STOPWORDS)
    return telling or frozenset(key for _, key in words)


def _words(text: str) -> Iterator[tuple[int, int, str]]:
    """Every word as its place and what it is compared by; pairs of unspaced characters."""
    for match in _WORD.finditer(text):
        start, word = match.start(), match[0]
        if match["paired"]:
            for at in range(max(len(word) - 1, 1)):
                pair = word[at : at + 2]
                yield start + at, start + at + len(pair), pair
        else:
            letters = unicodedata.normalize("NFKD", word.casefold())
            stem = "".join(sign for sign in letters if not unicodedata.combining(sign))[:5]
            yield start, match.end(), stem or word


def _segments(text: str, longest: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text`, those longer than `longest` cut between words."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        end = match.end()
        while end - start > longest:
            blank = text.rfind(" ", start + longest // 2, start + longest)
            cut = blank + 1 if blank > 0 else start + longest
            yield start, cut
            start = cut
        if end > start:
            yield start, end
            start = end


def _best(
    segments: list[tuple[int, int]], hits: list[tuple[int, int, str]], window: int
) -> tuple[int, int]:
    """The earliest run of segments within `window` characters that has most distinct keys."""
    best, most = (0, 0), -1
    inside: Counter[str] = Counter()
    entered = passed = last = 0
    for start, _ in segments:
        while last < len(segments) and segments[last][1] - start <= window:
            last += 1
        end = segments[last - 1][1]
        while entered < len(hits) and hits[entered][1] <= end:
            inside[hits[entered][2]] += 1
            entered += 1
        while passed < entered and hits[passed][0] < start:
            inside[hits[passed][2]] -= 1
            passed += 1
        distinct = sum(count > 0 for count in inside.values())
        if distinct > most:
            best, most = (start, end), distinct
    return best


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans with those joined that overlap."""
    span: tuple[int, int] | None = None
    for start, end in spans:
        if span and start < span[1]:
            span = span[0], max(end, span[1])
        else:
            if span:
                yield span
            span = start, end
    if span:
        yield span
