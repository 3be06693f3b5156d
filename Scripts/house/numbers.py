"""The house in numbers: how its files lie to each other. Read from the sources, as the rules are."""

import re
from collections import defaultdict
from statistics import median

from .names import counts
from .source import swift_files

#: Lines that a file should have.
BAND = range(80, 401)

PUBLIC = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public|open)\s+(?:(?:(?:public|package|internal|private|fileprivate)\(set\)|static|class|final|override|convenience|required"
    r"|mutating|nonisolated|indirect|lazy|weak|unowned)\s+)*(?:func|var|let|init|subscript|struct|class|enum|protocol|actor|typealias)\b")
#: What is public because the enum or protocol is that it stands in.
MEMBER = {"enum": re.compile(r"^\s*(?:indirect\s+)?case\s+\w"), "protocol": re.compile(r"^\s*(?:@\w+\s+)*(?:static\s+|mutating\s+)*(?:func|var|init|subscript|associatedtype)\b")}


def public_lines(file):
    """The lines, counted from 0, on which something public is declared. What overrides says what it does where it is declared first."""
    lines = {n for n, line in enumerate(file.code_lines) if PUBLIC.match(line) and not re.search(r"\boverride\b", line)}
    for declaration in file.declarations:
        if declaration.kind in MEMBER and declaration.is_public:
            depth, opened = 0, False
            for number in range(declaration.line - 1, len(file.code_lines)):
                line = file.code_lines[number]
                if depth == 1 and MEMBER[declaration.kind].match(line):
                    lines.add(number)
                depth += line.count("{") - line.count("}")
                opened = opened or "{" in line
                if opened and depth <= 0:
                    break
    return sorted(lines)


def is_documented(file, number):
    """Whether a comment of its own stands above a declaration, over its attributes and over why a check of the compiler is switched off."""
    above = number - 1
    while above >= 0 and (re.match(r"\s*@\w+", file.code_lines[above]) or re.match(r"\s*//(?!/)", file.lines[above])):
        above -= 1
    return above >= 0 and file.lines[above].strip().startswith(("///", "*/"))


def documented(root):
    """(public declarations with a comment of their own, all of them)."""
    found = [is_documented(file, number) for file in swift_files(root, "Sources") for number in public_lines(file)]
    return sum(found), len(found)


def circles(root, target):
    """The largest sets of files of a target of which each needs, by the types that it names, all the others."""
    files = list(swift_files(root, f"Sources/{target}"))
    owner = {d.name: n for n, f in enumerate(files) for d in f.declarations if d.depth == 0 and d.access not in ("private", "fileprivate")}
    needs = defaultdict(set)
    for number, file in enumerate(files):
        local = {d.name for d in file.declarations if d.depth > 0}
        for name in set(re.findall(r"(?<![.\w])[A-Z]\w*", file.code)) - local:
            if owner.get(name, number) != number:
                needs[number].add(owner[name])
    return sorted((sorted(files[n].relative for n in circle) for circle in _components(len(files), needs) if len(circle) > 1), key=len, reverse=True)


def _components(count, needs):
    """Strongly connected ones (Tarjan), without recursion."""
    index, low, on, stack, found, clock = {}, {}, set(), [], [], 0
    for start in range(count):
        if start in index:
            continue
        work = [(start, iter(sorted(needs[start])))]
        index[start] = low[start] = clock
        clock += 1
        stack.append(start)
        on.add(start)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = []
                    while not circle or circle[-1] != node:
                        circle.append(stack.pop())
                        on.discard(circle[-1])
                    found.append(circle)
            elif following not in index:
                index[following] = low[following] = clock
                clock += 1
                stack.append(following)
                on.add(following)
                work.append((following, iter(sorted(needs[following]))))
            elif following in on:
                low[node] = min(low[node], index[following])
    return found


def lines(root):
    """What is printed."""
    sizes = sorted(len(f.lines) - (f.lines[-1] == "") for f in swift_files(root, "Sources"))
    yield f"{len(sizes)} source files, median {median(sizes):.0f} lines, {sum(s in BAND for s in sizes) / len(sizes):.0%} of them of {BAND[0]} to {BAND[-1]}"
    having, total = documented(root)
    yield f"{having / total:.0%} of {total} public declarations are documented"
    largest = next(iter(circles(root, "OpenCoreData")), [])
    yield f"{len(largest)} files of OpenCoreData need each other in a circle, by the types they name"
    there, names = counts(root)
    yield f"{there} of {names} of Apple's declarations compile as they are written there"
