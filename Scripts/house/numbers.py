"""The house in numbers: how its files lie to each other. Read from the sources, as the rules are."""

import re
from collections import defaultdict
from statistics import median

from .source import swift_files

#: Lines that a file should have.
BAND = range(80, 401)

PUBLIC = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public|open)\s+(?:(?:static|class|final|override|convenience|required|mutating|nonisolated|indirect|lazy|weak)\s+)*"
    r"(?:func|var|let|init|subscript|struct|class|enum|protocol|actor|typealias|case)\b")


def documented(root):
    """(public declarations with a comment of their own, all of them). What overrides says what it does where it is declared first."""
    having = total = 0
    for file in swift_files(root, "Sources"):
        for index, line in enumerate(file.code_lines):
            if not PUBLIC.match(line) or re.search(r"\boverride\b", line):
                continue
            total += 1
            above = index - 1
            while above >= 0 and re.match(r"\s*@\w+", file.code_lines[above]):
                above -= 1
            having += above >= 0 and file.lines[above].strip().startswith(("///", "*/"))
    return having, total


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
