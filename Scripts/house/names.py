"""Apple's declarations: the snippets that use one each, and the table of COVERAGE.md that counts them."""

import re
from pathlib import Path

from .findings import error
from .source import swift_files

FOLDER = "Tests/CoreDataTests/Declarations"
DOCUMENT = "docs/COVERAGE.md"
HEADING = "## Names"


def marked(root):
    """(file, line, class, sign, name) of every snippet: the sign is = where it compiles here, and - where only Apple's framework has it."""
    for file in swift_files(root, FOLDER):
        owner = None
        for number, line in enumerate(file.lines, 1):
            if heading := re.match(r"\s*// MARK: (.+)$", line):
                owner = heading.group(1)
            elif mark := re.search(r"(?:^|\s)// ([=-]) (\S.*)$", line):
                yield file.relative, number, owner, mark.group(1), mark.group(2)


def counts(root):
    """How many declarations are there, and of how many."""
    signs = [sign for _, _, _, sign, _ in marked(root)]
    return signs.count("="), len(signs)


def declared_names(root):
    """The table of names counts the marked snippets class by class, and names every one that is missing."""
    path = Path(root) / DOCUMENT
    there, missing, seen = {}, {}, set()
    for file, number, owner, sign, name in marked(root):
        if owner is None:
            yield error(file, number, f"{name} stands under no // MARK: of a class")
            continue
        if (owner, name) in seen:
            yield error(file, number, f"{owner} has {name} twice")
        seen.add((owner, name))
        there.setdefault(owner, set())
        missing.setdefault(owner, set())
        (there if sign == "=" else missing)[owner].add(name)
    if not seen or not path.is_file():
        return
    lines, listed, inside = path.read_text(encoding="utf-8").split("\n"), set(), False
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            inside = line == HEADING
        if not inside:
            continue
        if total := re.match(r"(\d+) of (\d+) declarations, (\d+\.\d) %", line):
            having, all_of_them = counts(root)
            right = f"{having} of {all_of_them} declarations, {100 * having / all_of_them:.1f} %"
            if total.group() != right:
                yield error(DOCUMENT, number, f"says {total.group()}, the snippets say {right}")
            listed.add(HEADING)
        row = re.match(r"\| ([^|]+?) \| (\d+) of (\d+) \| ([^|]*) \|$", line)
        if not row:
            continue
        owner, having, of, cell = row.groups()
        listed.add(owner)
        if owner not in there:
            yield error(DOCUMENT, number, f"no snippet is of {owner}")
            continue
        if (int(having), int(of)) != (len(there[owner]), len(there[owner]) + len(missing[owner])):
            yield error(DOCUMENT, number, f"{owner} has {len(there[owner])} of {len(there[owner]) + len(missing[owner])}")
        named = set(re.findall(r"`([^`]+)`", cell))
        for name in sorted(missing[owner] - named):
            yield error(DOCUMENT, number, f"{owner} is missing {name}, too")
        for name in sorted(named - missing[owner]):
            yield error(DOCUMENT, number, f"{owner} is not missing {name}, as far as the snippets say")
    for owner in sorted(({HEADING} | set(there)) - listed):
        yield error(DOCUMENT, 1, "the share is not printed" if owner == HEADING else f"the names of {owner} are not counted")
