"""A PTX text cut into tokens and statements, for regress/ptx_mutations.py."""

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*|@@[^\n]*)
    |(?P<string>"[^"\n]*")
    |(?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?|\d+\.\d+(?:[eE][+-]?\d+)?|\d+U?(?![\w.]))
    |(?P<dot>\.[\w$]+(?:::[\w$.]+?(?=[.\s,;]))*)
    |(?P<name>[%$_A-Za-z][\w$]*)
    |(?P<mark>.)""", re.VERBOSE | re.DOTALL)


@dataclass(frozen=True)
class Token:
    kind: str  #: string, number, dot, name or mark
    text: str
    begin: int
    end: int


def tokens_of(text: str) -> list[Token]:
    return [Token(m.lastgroup, m[0], m.start(), m.end()) for m in _TOKEN.finditer(text) if m.lastgroup != "blank"]


@dataclass
class Statement:
    """Tokens up to the `;`, the brace or the colon that ends it, without that."""

    tokens: list[Token]
    kind: str  #: instruction, registers, variable, function or directive
    body: int = -1  #: offset behind the `{` of the function that it stands in; -1 outside

    @property
    def begin(self) -> int:
        return self.tokens[0].begin

    @property
    def end(self) -> int:
        return self.tokens[-1].end


@dataclass
class Instruction:
    """Parts of an instruction: guard, opcode, modifiers, and operands as ranges of offsets."""

    guard: tuple[int, int] | None
    opcode: Token
    modifiers: list[Token]
    operands: list[tuple[int, int]]
    end: int


@dataclass
class PtxText:
    text: str
    tokens: list[Token] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)

    def of_kind(self, kind: str) -> list[Statement]:
        return [s for s in self.statements if s.kind == kind]

    def changed(self, *edits: tuple[int, int, str]) -> str:
        """The text with each range replaced."""
        text = self.text
        for begin, end, new in sorted(edits, reverse=True):
            text = text[:begin] + new + text[end:]
        return text


def _kind(tokens: list[Token]) -> str:
    first = next((t for t in tokens if t.text not in (".visible", ".extern", ".weak", ".common")), tokens[0])
    if first.text == ".reg":
        return "registers"
    if first.text in (".entry", ".func"):
        return "function"
    if first.text in (".global", ".const", ".shared", ".local", ".param", ".tex"):
        return "variable"
    return "directive" if first.kind == "dot" else "instruction"


def parse(text: str) -> PtxText:
    """Statements of a text that nvcc or a person wrote; one that cannot be cut up is left out."""
    ptx = PtxText(text, tokens_of(text))
    current: list[Token] = []
    depth, vectors, body = 0, 0, -1

    def finish() -> None:
        nonlocal current
        if current:
            ptx.statements.append(Statement(current, _kind(current), body))
        current = []

    for i, t in enumerate(ptx.tokens):
        one_line = current and current[0].text in (".version", ".target", ".address_size", ".file", ".loc", ".section")
        if one_line and "\n" in text[current[-1].end:t.begin]:
            finish()
        if t.text == "{" and (not current or _kind(current) == "function" or current[0].text == ".section"):
            finish()
            depth += 1
            if depth == 1:
                body = t.end
        elif t.text == "{":
            vectors += 1
            current.append(t)
        elif t.text == "}" and vectors > 0:
            vectors -= 1
            current.append(t)
        elif t.text == "}":
            current, depth = [], max(depth - 1, 0)
            if depth == 0:
                body = -1
        elif t.text == ";":
            finish()
            vectors = 0
        elif t.text == ":" and len(current) == 1 and depth > 0:
            current = []
        else:
            current.append(t)
    return ptx


def instruction(statement: Statement) -> Instruction | None:
    tokens = statement.tokens
    guard = None
    k = 0
    if tokens[0].text == "@":
        k = 3 if len(tokens) > 2 and tokens[1].text == "!" else 2
        if len(tokens) <= k:
            return None
        guard = (tokens[0].begin, tokens[k - 1].end)
    if tokens[k].kind != "name":
        return None
    opcode = tokens[k]
    k += 1
    modifiers = []
    while k < len(tokens) and tokens[k].kind == "dot" and tokens[k].begin == tokens[k - 1].end:
        modifiers.append(tokens[k])
        k += 1
    operands = []
    depth, begin = 0, None
    for t in tokens[k:]:
        if t.text == "," and depth == 0:
            if begin is not None:
                operands.append((begin, last))
            begin = None
            continue
        depth += (t.text in "([{") - (t.text in ")]}")
        begin = t.begin if begin is None else begin
        last = t.end
    if begin is not None:
        operands.append((begin, last))
    return Instruction(guard, opcode, modifiers, operands, statement.end)
