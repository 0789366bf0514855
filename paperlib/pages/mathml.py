"""TeX of short formulas as MathML, which browsers draw by themselves: a page then needs no script and no network."""

import re
from html import escape

GREEK = dict(
    zip(
        "alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi varphi chi psi omega Gamma Delta Theta Lambda Sigma Phi Psi Omega ell".split(),
        "αβγδϵεζηθκλμνξπρστϕφχψωΓΔΘΛΣΦΨΩℓ",
    )
)
SIGNS = dict(
    zip(
        "le leq ge geq ne neq approx sim to in times cdot pm infty sum prod int top mid ldots dots forall lVert rVert langle rangle lceil rceil nabla partial preceq succeq ll gg".split(),
        "≤≤≥≥≠≠≈∼→∈×·±∞∑∏∫⊤|……∀‖‖⟨⟩⌈⌉∇∂⪯⪰≪≫",
    )
) | {"{": "{", "}": "}", "|": "‖", "%": "%"}
NAMES = set("ln log exp max min sup inf det arg tr cos".split())
SPACES = {",": "0.17em", ";": "0.28em", "quad": "1em", " ": "0.25em"}
TOKEN = re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\{[^}]*\}|\\[A-Za-z]+|\\.|\d*\.?\d+|\S")
FORMULA = re.compile(r"(`+[^`]*`+)|\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL)


class _Reader:
    """Recursive descent over the tokens of a formula."""

    def __init__(self, tex: str):
        self.tokens = TOKEN.findall(tex)[::-1]

    def row(self, end: str = "") -> str:
        items = []
        while self.tokens and self.tokens[-1] != end:
            items.append(self.scripted())
        if end and not self.tokens:
            raise ValueError(f"formula ends where {end!r} is missing")
        if end:
            self.tokens.pop()
        return items[0] if len(items) == 1 else f"<mrow>{''.join(items)}</mrow>"

    def scripted(self) -> str:
        base, under, over = self.atom(), "", ""
        while self.tokens and self.tokens[-1] in ("_", "^", "'"):
            mark = self.tokens.pop()
            if mark == "_":
                under += self.atom()
            else:
                over += "<mo>′</mo>" if mark == "'" else self.atom()
        parts = [f"<mrow>{part}</mrow>" for part in (under, over) if part]
        kind = "msubsup" if len(parts) == 2 else "msub" if under else "msup"
        return f"<{kind}>{base}{''.join(parts)}</{kind}>" if parts else base

    def atom(self) -> str:
        if not self.tokens or self.tokens[-1] in ("}", "_", "^"):
            raise ValueError(
                f"formula lacks a symbol before {self.tokens[-1] if self.tokens else 'its end'!r}"
            )
        token = self.tokens.pop()
        if token == "{":
            return self.row("}")
        if not token.startswith("\\"):
            kind = "mn" if token[-1].isdigit() else "mi" if token.isalpha() else "mo"
            return f"<{kind}>{escape('−' if token == '-' else token)}</{kind}>"
        return self.command(token[1:])

    def command(self, name: str) -> str:
        if name.endswith("}") and len(name) > 1:
            return f"<mtext>{escape(name[name.index('{') + 1 : -1])}</mtext>".replace(" ", "&#160;")
        if name in ("left", "right"):
            return self.atom()
        if name == "sqrt":
            return f"<msqrt>{self.atom()}</msqrt>"
        if name == "frac":
            return f"<mfrac>{self.atom()}{self.atom()}</mfrac>"
        if name in ("hat", "bar", "tilde"):
            return f'<mover accent="true">{self.atom()}<mo>{dict(hat="^", bar="¯", tilde="~")[name]}</mo></mover>'
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"></mspace>'
        if name in GREEK or name in NAMES:
            return f"<mi>{GREEK.get(name, name)}</mi>"
        if name in SIGNS:
            return f"<mo>{escape(SIGNS[name])}</mo>"
        raise ValueError(f"unknown command \\{name}")


def mathml(tex: str, display: str = "inline") -> str:
    """A formula as a ``<math>`` element.

    Raises:
        ValueError: a command that this reader does not know, or a brace without its partner.
    """
    return f'<math display="{display}">{_Reader(tex).row()}</math>'


def formulas(markdown: str) -> str:
    """Markdown with ``$...$`` and ``$$...$$`` as MathML; what cannot be read stays as code, and code stays as it is."""

    def replace(found: re.Match) -> str:
        code, block, inline = found.groups()
        if code:
            return code
        try:
            return mathml(block or inline, "block" if block else "inline")
        except ValueError:
            return f"<code>{escape(block or inline)}</code>"

    return FORMULA.sub(replace, markdown)
