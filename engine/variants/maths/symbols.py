"""What the macros stand for: characters, their kinds, and alphabets."""

from __future__ import annotations

__all__ = [
    "ACCENTS",
    "ENVIRONMENTS",
    "FUNCTIONS",
    "SPACES",
    "STYLES",
    "SUBSCRIPT",
    "SUPERSCRIPT",
    "SYMBOLS",
    "styled",
]

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "ϕ", "varphi": "φ",
    "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ",
    "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
_IDENTIFIERS = {
    "infty": "∞", "partial": "∂", "nabla": "∇", "ell": "ℓ", "emptyset": "∅", "top": "⊤", "bot": "⊥",
    "ldots": "…", "dots": "…", "cdots": "⋯", "vdots": "⋮", "ddots": "⋱", "prime": "′",
}  # fmt: skip
_BINARY = {
    "cdot": "·", "times": "×", "div": "÷", "pm": "±", "mp": "∓", "ast": "∗", "star": "⋆", "circ": "∘",
    "odot": "⊙", "oplus": "⊕", "otimes": "⊗", "cup": "∪", "cap": "∩",
    "setminus": "∖", "land": "∧", "lor": "∨",
}  # fmt: skip
_RELATIONS = {
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "equiv": "≡",
    "sim": "∼", "simeq": "≃", "propto": "∝", "in": "∈", "notin": "∉", "subset": "⊂", "subseteq": "⊆",
    "to": "→", "rightarrow": "→", "leftarrow": "←", "gets": "←", "mapsto": "↦", "Rightarrow": "⇒",
    "Leftrightarrow": "⇔", "iff": "⇔", "implies": "⇒", "ll": "≪", "gg": "≫", "mid": "∣", "parallel": "∥",
    "perp": "⊥", "coloneqq": "≔", "forall": "∀", "exists": "∃",
}  # fmt: skip
_BIG = {"sum": "∑", "prod": "∏", "int": "∫", "bigcup": "⋃", "bigcap": "⋂"}
_OPENING = {
    "lbrace": "{",
    "lbrack": "[",
    "langle": "⟨",
    "lfloor": "⌊",
    "lceil": "⌈",
    "lvert": "|",
    "lVert": "‖",
}
_CLOSING = {
    "rbrace": "}",
    "rbrack": "]",
    "rangle": "⟩",
    "rfloor": "⌋",
    "rceil": "⌉",
    "rvert": "|",
    "rVert": "‖",
}

SYMBOLS: dict[str, tuple[str, str]] = {
    **{name: (char, "identifier") for name, char in {**_GREEK, **_IDENTIFIERS}.items()},
    **{name: (char, "binary") for name, char in _BINARY.items()},
    **{name: (char, "relation") for name, char in _RELATIONS.items()},
    **{name: (char, "big") for name, char in _BIG.items()},
    **{name: (char, "open") for name, char in _OPENING.items()},
    **{name: (char, "close") for name, char in _CLOSING.items()},
    "Vert": ("‖", "fence"),
    "vert": ("|", "fence"),
    "{": ("{", "open"),
    "}": ("}", "close"),
    "|": ("‖", "fence"),
    "%": ("%", "identifier"),
    "#": ("#", "identifier"),
    "&": ("&", "identifier"),
    "$": ("$", "identifier"),
    "_": ("_", "identifier"),
}

FUNCTIONS = frozenset({
    "arg", "cos", "cosh", "det", "dim", "exp", "gcd", "inf", "ker", "lim", "ln", "log", "max", "min", "sin",
    "sinh", "sup", "tan", "tanh", "Pr",
})  # fmt: skip

SPACES = {",": 0.17, ":": 0.22, ";": 0.28, " ": 0.33, "!": 0.0, "quad": 1.0, "qquad": 2.0, "enspace": 0.5}

ACCENTS = {
    "hat": ("\u0302", "^"),
    "widehat": ("\u0302", "^"),
    "bar": ("\u0304", "¯"),
    "overline": ("\u0304", "¯"),
    "tilde": ("\u0303", "~"),
    "widetilde": ("\u0303", "~"),
    "vec": ("\u20d7", "→"),
    "dot": ("\u0307", "˙"),
    "ddot": ("\u0308", "¨"),
}

# opening fence, closing fence
ENVIRONMENTS = {
    "matrix": ("", ""),
    "bmatrix": ("[", "]"),
    "pmatrix": ("(", ")"),
    "Bmatrix": ("{", "}"),
    "vmatrix": ("|", "|"),
    "Vmatrix": ("‖", "‖"),
    "cases": ("{", ""),
    "aligned": ("", ""),
}

STYLES = frozenset({"mathbf", "boldsymbol", "mathrm", "mathit", "mathbb", "mathcal", "mathsf", "mathtt"})

_EXCEPTIONS = {
    "mathbb": {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"},
    "mathcal": {"B": "ℬ", "E": "ℰ", "F": "ℱ", "H": "ℋ", "I": "ℐ", "L": "ℒ", "M": "ℳ",
                "R": "ℛ", "e": "ℯ", "g": "ℊ", "o": "ℴ"},
}  # fmt: skip
# first code points of capitals, small letters, digits, Greek capitals, Greek small letters
_ALPHABETS = {
    "mathbf": (0x1D400, 0x1D41A, 0x1D7CE, 0x1D6A8, 0x1D6C2),
    "boldsymbol": (0x1D468, 0x1D482, 0x1D7CE, 0x1D71C, 0x1D736),
    "mathbb": (0x1D538, 0x1D552, 0x1D7D8, 0, 0),
    "mathcal": (0x1D49C, 0x1D4B6, 0, 0, 0),
    "mathsf": (0x1D5A0, 0x1D5BA, 0x1D7E2, 0, 0),
    "mathtt": (0x1D670, 0x1D68A, 0x1D7F6, 0, 0),
}


def styled(style: str, character: str) -> str:
    """Return a character in a mathematical alphabet, or itself where the alphabet lacks it."""
    if character in _EXCEPTIONS.get(style, {}):
        return _EXCEPTIONS[style][character]
    starts = _ALPHABETS.get(style)
    if starts is None:
        return character
    ranges = (("A", "Z"), ("a", "z"), ("0", "9"), ("Α", "Ω"), ("α", "ω"))
    for start, (low, high) in zip(starts, ranges, strict=True):
        if start and low <= character <= high:
            return chr(start + ord(character) - ord(low))
    return character


SUPERSCRIPT = dict(
    zip(
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW⊤′",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵀ′",
        strict=True,
    )
)
SUBSCRIPT = dict(
    zip("0123456789+-=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True)
)
