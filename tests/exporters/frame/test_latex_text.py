"""Any text is printed by LaTeX as it is, and none of it is run."""

from __future__ import annotations

import pytest

from webapp.exporters.frame.latex import escaped


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("50% & $5 #1", r"50\% \& \$5 \#1"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("a_b", r"a\_\allowbreak{}b"),
        ("a--b", "a-{}-b"),  # two hyphens would become a dash
        ("don''t", "don'{}'t"),
        ("[1] *", "{[}1{]} {*}"),
        ("10⁻⁷", "10$^{-7}$"),
        ("é ž", "é ž"),
        ("e\u0301", "é"),  # one letter, however it was typed
        ("“x”–€", "“x”–€"),
        ("混", r"\otherscript{混}"),
    ],
)
def test_a_text_is_written_as_latex_prints_it(text: str, written: str) -> None:
    assert escaped(text) == written


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\u2028b"])
def test_a_text_stays_on_one_line(text: str) -> None:
    assert len(escaped(text).splitlines()) == 1
