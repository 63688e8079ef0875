"""The words of a proof pack are in one language."""

from __future__ import annotations

from tests.exporters.one_language import foreign
from webapp.exporters.proof_packs.readme import readme
from webapp.i18n import speaking


def test_a_proof_packs_readme_is_english_in_every_language() -> None:
    with speaking("id"):
        text = readme(("Ani", "Budi"), "majority", "not_relevant").decode()
    with speaking("en"):
        assert text == readme(("Ani", "Budi"), "majority", "not_relevant").decode()

    assert foreign(text, "en") == []
