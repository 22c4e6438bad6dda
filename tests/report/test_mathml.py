"""Formulas of papers are drawn by the browser; what is not understood stays LaTeX, and all is
escaped.
"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from reenact.report.mathml import formula, with_formulas


@pytest.mark.parametrize(
    ("latex", "has"),
    [
        (r"t = (1 - \alpha)\, y", ["<mi>α</mi>", "<mo>−</mo>", "<mn>1</mn>"]),
        ("x_i^{2}", ["<msubsup><mi>x</mi><mi>i</mi><mrow><mn>2</mn></mrow></msubsup>"]),
        ("10^{-4}", ["<msup><mn>10</mn>"]),
        (r"\frac{1}{N} \sum_{i=1}^N \hat{y}_i", ["<mfrac>", "<mo>∑</mo>", "<mover"]),
        (r"\mathcal{L}, \mathbb{R}^d, \mathbf{x}", ["ℒ", "ℝ", "font-weight:bold"]),
        (r"\left\| \sqrt{a < b} \right\|", ["‖", "<msqrt>", "&lt;"]),
        (r"\text{softmax}(z)", ['<mi mathvariant="normal">softmax</mi>']),
    ],
)
def test_what_papers_write_is_drawn(latex: str, has: list[str]) -> None:
    drawn = formula(latex)
    assert all(part in drawn for part in has), drawn
    ElementTree.fromstring(drawn)


@pytest.mark.parametrize(
    "latex", [r"\foo{x}", "a_{1", r"\begin{cases} x \end{cases}", "}", "{" * 5000]
)
def test_what_is_not_understood_stays_as_it_is(latex: str) -> None:
    assert formula(latex).startswith("<code>")


def test_only_formulas_are_drawn_and_every_word_is_escaped() -> None:
    text = with_formulas("<b>It</b> costs $5 or $6; $x <y$ and $$\\alpha$$")
    assert "&lt;b&gt;It" in text
    assert "costs $5 or $6" in text
    assert text.count("<math") == 2
    assert '<math display="block">' in text
