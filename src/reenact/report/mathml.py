"""LaTeX formulas as MathML, which browsers draw without a script; what is not understood stays
LaTeX.

Covered is what formulas of papers are made of: letters, numbers, signs, scripts, fractions, roots,
accents, brackets, upright and bold words. Every word is escaped here.
"""

import re
from collections.abc import Iterator
from html import escape

from reenact.plain import plain

_FORMULA = re.compile(
    r"\$\$(.+?)\$\$|(?<![\\$\w])\$(?!\s)([^$\n]{1,600}?)(?<![\s\\])\$(?![\w$])",
    re.DOTALL,
)
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\d+(?:\.\d+)?|[A-Za-z]|\S", re.DOTALL)
LETTERS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ϵ",
    "varepsilon": "ε",
    "zeta": "ζ",
    "eta": "η",
    "theta": "θ",
    "vartheta": "ϑ",
    "iota": "ι",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "xi": "ξ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "upsilon": "υ",
    "phi": "ϕ",
    "varphi": "φ",
    "chi": "χ",
    "psi": "ψ",
    "omega": "ω",
    "Gamma": "Γ",
    "Delta": "Δ",
    "Theta": "Θ",
    "Lambda": "Λ",
    "Xi": "Ξ",
    "Pi": "Π",
    "Sigma": "Σ",
    "Phi": "Φ",
    "Psi": "Ψ",
    "Omega": "Ω",
    "ell": "ℓ",
    "infty": "∞",
    "partial": "∂",
    "nabla": "∇",
    "hbar": "ℏ",
    "emptyset": "∅",
    "top": "⊤",
    "prime": "′",
    "dots": "…",
    "ldots": "…",
    "cdots": "⋯",
}
SIGNS = {
    "times": "×",
    "cdot": "·",
    "pm": "±",
    "mp": "∓",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "ne": "≠",
    "neq": "≠",
    "approx": "≈",
    "sim": "∼",
    "simeq": "≃",
    "equiv": "≡",
    "propto": "∝",
    "in": "∈",
    "notin": "∉",
    "subset": "⊂",
    "subseteq": "⊆",
    "cup": "∪",
    "cap": "∩",
    "setminus": "∖",
    "to": "→",
    "rightarrow": "→",
    "leftarrow": "←",
    "mapsto": "↦",
    "Rightarrow": "⇒",
    "forall": "∀",
    "exists": "∃",
    "odot": "⊙",
    "otimes": "⊗",
    "oplus": "⊕",
    "circ": "∘",
    "star": "⋆",
    "ast": "∗",
    "mid": "|",
    "vert": "|",
    "Vert": "‖",
    "|": "‖",
    "lVert": "‖",
    "rVert": "‖",
    "langle": "⟨",
    "rangle": "⟩",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
    "ll": "≪",
    "gg": "≫",
    "sum": "∑",
    "prod": "∏",
    "int": "∫",
    "{": "{",
    "}": "}",
    "%": "%",
    "#": "#",
    "&": "&",
    "_": "_",
    "colon": ":",
    "coloneqq": "≔",
    "lbrace": "{",
    "rbrace": "}",
    "bullet": "∙",
    "perp": "⊥",
    "parallel": "∥",
}
NAMES = frozenset(
    {
        "exp",
        "log",
        "ln",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "max",
        "min",
        "argmax",
        "argmin",
        "sup",
        "inf",
        "lim",
        "det",
        "dim",
        "Pr",
        "sign",
    }
)
ACCENTS = {
    "hat": "^",
    "widehat": "^",
    "bar": "¯",
    "overline": "¯",
    "tilde": "~",
    "widetilde": "~",
    "vec": "→",
    "dot": "˙",
    "ddot": "¨",
}
VARIANTS = {
    "mathbf": "bold",
    "boldsymbol": "bold",
    "bm": "bold",
    "mathrm": "normal",
    "text": "normal",
    "operatorname": "normal",
    "textrm": "normal",
    "textbf": "bold",
    "mathcal": "script",
    "mathbb": "double-struck",
    "mathsf": "normal",
    "mathit": "italic",
    "texttt": "normal",
    "mbox": "normal",
    "textit": "italic",
}
ALPHABETS = {
    "double-struck": (0x1D538, dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True))),
    "script": (0x1D49C, dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True))),
}
SPACES = frozenset(
    [
        *",;:! ",
        "quad",
        "qquad",
        "left",
        "right",
        "big",
        "Big",
        "bigl",
        "bigr",
        "Bigl",
        "Bigr",
        "displaystyle",
        "textstyle",
        "limits",
        "nolimits",
        "label",
        "tag",
        "nonumber",
        "notag",
    ]
)


class _NotUnderstoodError(Exception):
    pass


def with_formulas(text: str) -> str:
    """Escaped text with its formulas drawn."""
    parts = []
    at = 0
    for found in _FORMULA.finditer(text := plain(text)):
        parts += [
            escape(text[at : found.start()]),
            formula(
                found[1] or found[2],
                display=bool(found[1]),
            ),
        ]
        at = found.end()
    return "".join(
        [
            *parts,
            escape(text[at:]),
        ]
    )


def formula(latex: str, *, display: bool = False) -> str:
    """MathML, or the LaTeX as code where it is not understood."""
    try:
        drawn = "".join(_Reader(_TOKEN.findall(latex)).until(""))
    except (_NotUnderstoodError, RecursionError):
        return f"<code>{escape(latex)}</code>"
    block = ' display="block"' if display else ""
    return f"<math{block}><mrow>{drawn}</mrow></math>"


class _Reader:
    """The tokens of a formula, one after the other."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def next(self) -> str:
        if self.at >= len(self.tokens):
            raise _NotUnderstoodError
        self.at += 1
        return self.tokens[self.at - 1]

    def until(self, end: str) -> Iterator[str]:
        """Atoms with their scripts, up to a piece or the end of all."""
        while self.at < len(self.tokens):
            if end and self.tokens[self.at] == end:
                self.at += 1
                return
            yield self._scripted(self._atom())
        if end:
            raise _NotUnderstoodError

    def _group(self) -> str:
        """What stands in braces, or one atom."""
        return self._atom() or "<mrow></mrow>"

    def _scripted(self, base: str) -> str:
        scripts = {"_": "", "^": ""}
        while self.at < len(self.tokens) and (sign := self.tokens[self.at]) in scripts:
            self.at += 1
            scripts[sign] = scripts[sign] or self._group()
        low = scripts["_"]
        high = scripts["^"]
        if low and high:
            tag = "msubsup"
        elif low:
            tag = "msub"
        elif high:
            tag = "msup"
        else:
            return base
        return f"<{tag}>{base or '<mrow></mrow>'}{low}{high}</{tag}>"

    def _atom(self) -> str:
        piece = self.next()
        if piece == "{":
            return f"<mrow>{''.join(self.until('}'))}</mrow>"
        if piece.startswith("\\"):
            return self._command(piece[1:])
        if piece[0].isdigit():
            return f"<mn>{piece}</mn>"
        if piece.isalpha():
            return f"<mi>{escape(piece)}</mi>"
        if piece in "}&":
            raise _NotUnderstoodError
        return f"<mo>{escape('−' if piece == '-' else piece)}</mo>"

    def _command(self, name: str) -> str:
        if name in LETTERS or name in NAMES:
            return f"<mi>{LETTERS.get(name, name)}</mi>"
        if name in SIGNS:
            return f"<mo>{escape(SIGNS[name])}</mo>"
        if name in SPACES:
            if name in ("label", "tag"):
                self._group()
            if name in ("quad", "qquad"):
                return "<mspace width='.5em'/>"
            return ""
        if name in ("frac", "dfrac", "tfrac"):
            return f"<mfrac>{self._group()}{self._group()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self._group()}</msqrt>"
        if name in ACCENTS:
            return f"<mover accent='true'>{self._group()}<mo>{escape(ACCENTS[name])}</mo></mover>"
        if name in VARIANTS:
            return self._words(VARIANTS[name])
        raise _NotUnderstoodError

    def _words(self, variant: str) -> str:
        """Letters in another form; words stay together."""
        if self.next() != "{":
            self.at -= 1
            if self.tokens[self.at].isalpha():
                return _drawn(self.next(), variant)
            return self._atom()
        inner: list[str] = []
        while (piece := self.next()) != "}":
            if piece.startswith("\\") and piece[1:] in LETTERS:
                piece = LETTERS[piece[1:]]
            elif piece in ("{", "^", "_") or piece.startswith("\\"):
                raise _NotUnderstoodError
            inner.append(piece)
        return _drawn("".join(inner), variant)


def _drawn(word: str, variant: str) -> str:
    """Words upright or bold; letters of a set or a space as characters of their own."""
    if variant in ALPHABETS:
        first, own = ALPHABETS[variant]
        letters = (
            own.get(one) or (chr(first + ord(one) - 65) if "A" <= one <= "Z" else one)
            for one in word
        )
        return f"<mi>{escape(''.join(letters))}</mi>"
    weight = ' style="font-weight:bold"' if variant == "bold" else ""
    upright = "" if variant == "italic" else ' mathvariant="normal"'
    return f"<mi{upright}{weight}>{escape(word)}</mi>"
