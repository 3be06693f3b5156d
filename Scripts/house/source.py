"""Swift source as the rules need it: lines, code without comments and strings, and top-level declarations."""

import re
from functools import cached_property
from pathlib import Path

DECLARATION = re.compile(
    r"\b(class|struct|enum|protocol|actor)\s+(?!func\b|var\b|let\b|subscript\b|init\b)([A-Za-z_]\w*)")
ACCESS = ("open", "public", "package", "internal", "fileprivate", "private")


def blank(text):
    """The same number of characters and lines with nothing on them."""
    return re.sub(r"[^\n]", " ", text)


def strip(text):
    """The text with comments and string literals blanked, every other character where it was."""
    out, i, n = [], 0, len(text)
    while i < n:
        two = text[i:i + 2]
        if two == "//":
            end = text.find("\n", i)
            end = n if end < 0 else end
        elif two == "/*":
            end = _block_comment_end(text, i)
        elif text[i] == '"' or (text[i] == "#" and re.match(r'#+"', text[i:i + 8])):
            end = _string_end(text, i)
        else:
            out.append(text[i])
            i += 1
            continue
        out.append(blank(text[i:end]))
        i = end
    return "".join(out)


def _block_comment_end(text, i):
    depth = 0
    while i < len(text):
        two = text[i:i + 2]
        if two == "/*":
            depth, i = depth + 1, i + 2
        elif two == "*/":
            depth, i = depth - 1, i + 2
            if depth == 0:
                return i
        else:
            i += 1
    return i


def _string_end(text, i):
    """The index after the literal that starts at i; knows raw and multi-line literals and interpolations."""
    hashes = len(re.match(r"#*", text[i:]).group())
    i += hashes
    quote = '"""' if text.startswith('"""', i) else '"'
    closing, escape = quote + "#" * hashes, "\\" + "#" * hashes
    i += len(quote)
    while i < len(text):
        if text.startswith(closing, i):
            return i + len(closing)
        if text.startswith(escape + "(", i):
            i = _interpolation_end(text, i + len(escape) + 1)
        elif text.startswith(escape, i):
            i += len(escape) + 1
        elif text[i] == "\n" and quote == '"':
            return i
        else:
            i += 1
    return i


def _interpolation_end(text, i):
    depth = 1
    while i < len(text) and depth:
        if text[i] == '"':
            i = _string_end(text, i)
            continue
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        i += 1
    return i


class Declaration:
    """A type declared in a file: its kind, name, access level, line and how deep it is nested."""

    def __init__(self, kind, name, access, line, depth):
        self.kind, self.name, self.access, self.line, self.depth = kind, name, access, line, depth

    @property
    def is_public(self):
        return self.access in ("public", "open")


class SwiftFile:
    """One Swift file below the root of the package."""

    def __init__(self, root, path):
        self.path = path
        self.relative = path.relative_to(root).as_posix()
        self.parts = self.relative.split("/")
        self.stem = path.name.removesuffix(".swift")

    @cached_property
    def text(self):
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def lines(self):
        return self.text.split("\n")

    @cached_property
    def code(self):
        return strip(self.text)

    @cached_property
    def code_lines(self):
        return self.code.split("\n")

    @cached_property
    def target(self):
        """The folder below Sources or Tests (Support/X counts as X)."""
        if self.parts[:2] == ["Tests", "Support"]:
            return self.parts[2]
        return self.parts[1] if len(self.parts) > 2 else ""

    @cached_property
    def declarations(self):
        """Every type declaration, whatever its depth."""
        found, depth, statement = [], 0, ""
        for number, line in enumerate(self.code_lines, 1):
            position = 0
            for match in DECLARATION.finditer(line):
                before = line[:match.start()]
                level = depth + before.count("{") - before.count("}")
                head = (statement if not re.search(r"[{};]", before) else "") + re.split(r"[{};]", before)[-1]
                if re.search(r"[.:<,&(]\s*$", head):
                    continue  # `protocol P: class`, `is class` and their like
                access = next((a for a in ACCESS if re.search(rf"\b{a}\b(?!\()", head)), "internal")
                found.append(Declaration(match.group(1), match.group(2), access, number, level))
                position = match.end()
            depth += line.count("{") - line.count("}")
            # attributes and modifiers may stand on lines of their own above the keyword
            bare = line.strip()
            modifiers = re.fullmatch(r"(?:@?\w+(?:\([^)]*\))?(?:\s+|$))+", bare) if len(bare) < 120 else None
            statement = statement + bare + " " if modifiers and position == 0 else ""
        return found

    @cached_property
    def imports(self):
        """(line number, module) of each import."""
        result = []
        for number, line in enumerate(self.code_lines, 1):
            match = re.match(
                r"\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public|package|internal|fileprivate|private)?\s*"
                r"import\s+(?:(?:class|struct|enum|protocol|func|var|let|typealias)\s+)?(\w+)", line)
            if match:
                result.append((number, match.group(1)))
        return result


def swift_files(root, *folders):
    """Every Swift file below the folders, in a stable order."""
    for folder in folders:
        base = Path(root) / folder
        if base.is_dir():
            for path in sorted(base.rglob("*.swift")):
                if not any(part.startswith(".") for part in path.relative_to(root).parts):
                    yield SwiftFile(Path(root), path)
