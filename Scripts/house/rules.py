"""One function a rule. Each yields findings: (severity, file, line, message); severity is "error" or "warning"."""

import re
from collections import defaultdict
from pathlib import Path

from . import tables
from .findings import error, warning
from .flags import configuration_flags, control_flags
from .names import declared_names
from .numbers import is_documented, public_lines
from .source import swift_files

TEXT_SUFFIXES = {
    ".swift", ".c", ".h", ".cpp", ".hpp", ".md", ".toml", ".py", ".sh", ".service", ".socket", ".catalog", ".conf", ".modulemap",
    ".sysusers", ".tmpfiles", ".1", ".5", ".8", ".yml", ".json", "",
}
TEXT_FOLDERS = ["Sources", "Tests", "Scripts", "Examples", "Benchmarks", "docs", "systemd", "etc", ".ci"]
THIS_TOOL = "Scripts/house/"


def text_files(root):
    """(relative path, lines) of every text file that belongs to the project."""
    candidates = [p for p in Path(root).iterdir() if p.is_file()]
    for folder in TEXT_FOLDERS:
        base = Path(root) / folder
        if base.is_dir():
            candidates += [p for p in base.rglob("*") if p.is_file()]
    for path in sorted(candidates):
        relative = path.relative_to(root).as_posix()
        if any(part.startswith(".build") or part == "__pycache__" for part in relative.split("/")):
            continue
        if path.name in (".git", "LICENSE", "Package.resolved") or path.suffix not in TEXT_SUFFIXES or path.stat().st_size > 2_000_000:
            continue
        try:
            yield relative, path.read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError:
            continue


def file_sizes(root):
    """Files stay small enough to be read at one sitting."""
    for relative, lines in text_files(root):
        if not re.search(r"\.(swift|c|h|cpp|hpp|py|sh)$", relative) and not relative.startswith("Scripts/"):
            continue
        count = len(lines) - (lines[-1] == "")
        if count > tables.FAIL_LINES:
            yield error(relative, count, f"{count} lines, the limit is {tables.FAIL_LINES}: divide it")
        elif count > tables.WARN_LINES:
            yield warning(relative, count, f"{count} lines, aim at {tables.WARN_LINES}")


def file_names(root):
    """One family a file, named after its chief: a type, with its small companions beside it. `Type+Verb.swift` extends Type; no attic names."""
    for file in swift_files(root, "Sources", "Tests"):
        for part in file.parts[:-1] + [file.stem]:
            if part in tables.FORBIDDEN_NAMES:
                yield error(file.relative, 1, f'"{part}" says nothing: name the thing')
        in_tests = file.parts[0] == "Tests" and file.parts[1] != "Support"
        if in_tests or file.stem == "main" or file.relative in tables.NAME_EXCEPTIONS:
            continue
        top = [d for d in file.declarations if d.depth == 0]
        public = [d for d in top if d.is_public]
        if "+" in file.stem:
            subject = file.stem.split("+")[0]
            for declaration in public:
                yield error(file.relative, declaration.line, f"public {declaration.name} belongs into a file of its own")
            if not re.search(rf"\bextension\s+(?:\w+\.)*{re.escape(subject)}\b", file.code):
                yield error(file.relative, 1, f"extends no {subject}, though its name says so")
            continue
        if public and all(d.name != file.stem for d in top if d.access not in ("private", "fileprivate")):
            yield error(file.relative, public[0].line, f"public {public[0].name} belongs into {public[0].name}.swift, or beside the type that it serves")
        visible = [d for d in top if d.access not in ("private", "fileprivate")]
        if visible and not public and all(d.name != file.stem for d in visible):
            names = ", ".join(d.name for d in visible[:4])
            yield warning(file.relative, visible[0].line, f"declares {names} but nothing named {file.stem}")


def folder_order(root):
    """Within OpenCoreData a folder names only types that are declared in folders listed before it."""
    rank = {folder: level for level, room in enumerate(tables.LAYERS) for folder in room}
    base = "Sources/OpenCoreData"
    files = [f for f in swift_files(root, base)]
    owner = {}
    for file in files:
        folder = file.parts[2] if len(file.parts) > 3 else None
        if folder is None:
            yield error(file.relative, 1, "stands outside every folder")
            continue
        if folder not in rank:
            if not folder.endswith(".docc"):
                yield error(file.relative, 1, f"folder {folder} has no place in Scripts/house/tables.py LAYERS")
            continue
        for declaration in file.declarations:
            if declaration.depth == 0 and declaration.access not in ("private", "fileprivate"):
                owner.setdefault(declaration.name, (folder, file.relative))
    used = set()
    for file in files:
        folder = file.parts[2] if len(file.parts) > 3 else None
        if folder not in rank:
            continue
        inside = "/".join(file.parts[2:])
        local = {d.name for d in file.declarations} | set(re.findall(r"\btypealias\s+(\w+)", file.code))
        allowed = {name: where for where, names, _ in tables.LAYER_EXCEPTIONS if inside.startswith(where) for name in names}
        seen = set()
        for number, line in enumerate(file.code_lines, 1):
            for match in re.finditer(r"(?<![.\w])[A-Z]\w*", line):
                name = match.group()
                if name not in owner or name in local or name in seen:
                    continue
                if rank[owner[name][0]] > rank[folder]:
                    seen.add(name)
                    if name in allowed:
                        used.add((allowed[name], name))
                        continue
                    yield error(
                        file.relative, number,
                        f"{folder}/ names {name} of the later folder {owner[name][0]}/ "
                        "(turn the arrow, or list it with a reason in Scripts/house/tables.py)")
    if not (Path(root) / "Scripts/house/tables.py").exists():
        return
    for where, names, _ in tables.LAYER_EXCEPTIONS:
        for name in sorted(names):
            if (where, name) not in used:
                yield error("Scripts/house/tables.py", 1, f"LAYER_EXCEPTIONS allows {name} in {where}, which needs it no more")


def imports(root):
    """Arrows between targets point down, and an outside module is known only where it is at home."""
    own = set(tables.OWN_IMPORTS)
    for file in swift_files(root, "Sources"):
        allowed = tables.OWN_IMPORTS.get(file.target)
        if allowed is None:
            yield error(file.relative, 1, f"target {file.target} is not in Scripts/house/tables.py OWN_IMPORTS")
            continue
        for line, module in file.imports:
            if module in own or module in tables.SYSTEM_MODULES:
                if module not in allowed:
                    yield error(file.relative, line, f"{file.target} may not import {module}: arrows point down")
            elif module in tables.OUTSIDE_IMPORTS:
                places = tables.OUTSIDE_IMPORTS[module]
                if not file.relative.startswith(places):
                    yield error(file.relative, line, f"{module} may be imported only under {', '.join(places)}")
            elif module not in tables.EVERYWHERE:
                yield error(file.relative, line, f"{module} has no home in Scripts/house/tables.py OUTSIDE_IMPORTS")
    for file in swift_files(root, "Tests"):
        for line, module in file.imports:
            if module == "XCTest":
                yield error(file.relative, line, "tests are written with Swift Testing")
            elif file.target == tables.PORTABLE_TESTS and module not in tables.PORTABLE_IMPORTS:
                yield error(file.relative, line, f"{file.target} may not import {module}: it also runs against Apple's framework")


NEEDS_REASON = [
    (re.compile(r"@unchecked\s+Sendable"), "@unchecked Sendable"),
    (re.compile(r"\bnonisolated\(unsafe\)"), "nonisolated(unsafe)"),
    (re.compile(r"\btry!"), "try!"),
    (re.compile(r"\bfatalError\s*\("), "fatalError"),
]


def reasons(root):
    """What switches a check of the compiler off says why, on the line above."""
    for file in swift_files(root, "Sources", "Tests", "Benchmarks"):
        for number, line in enumerate(file.code_lines, 1):
            for pattern, name in NEEDS_REASON:
                if pattern.search(line) and not _has_reason(file, number - 1):
                    yield error(file.relative, number, f"{name} without a reason on the line above")


def _has_reason(file, index):
    """Whether the line before the declaration or statement that holds line `index` is a comment; a function that never returns
    may carry the reason for its only statement on its own."""
    while index > 0:
        above, raw = file.code_lines[index - 1].strip(), file.lines[index - 1].strip()
        if not above:
            return bool(raw) and (raw.startswith(("//", "*", "/*")) or raw.endswith("*/"))
        continues = re.fullmatch(r"(@\w+(\([^)]*\))?\s*)+", above) or re.search(r"[,:(&|=]$", above) \
            or re.match(r"[,:&|.]|@unchecked|where\b|\)", file.code_lines[index].strip()) \
            or re.search(r"->\s*Never\s*\{$", above)
        if not continues:
            return False
        index -= 1
    return False


def bare_closures(root):
    """A function kept in a `Mutex` as it is, or in a tuple or an optional there, gains two layers each time it is touched: the generic
    storage holds it in another form, and what is read is wrapped and written back. A struct around it has one form."""
    files = list(swift_files(root, "Sources", "Tests", "Benchmarks"))
    named = {name for file in files for name in re.findall(r"\btypealias\s+(\w+)\s*=[^\n]*->", file.code)}
    for file in files:
        for match in re.finditer(r"\bMutex\s*<", file.code):
            held = _argument(file.code, match.end())
            if "->" in held or re.fullmatch(r"[\w.]+\??", held.strip()) and held.strip().rstrip("?").split(".")[-1] in named:
                line = file.code.count("\n", 0, match.start()) + 1
                yield error(file.relative, line, "a function in a Mutex as it is grows with each use: keep it in a struct")


def _argument(code, start):
    """What stands between the angle brackets that were just opened, without what is in square ones."""
    depth, square, result = 1, 0, ""
    for index in range(start, len(code)):
        character = code[index]
        if character == "[":
            square += 1
        elif character == "]":
            square -= 1
        elif character == "<":
            depth += 1
        elif character == ">" and code[index - 1] != "-":
            depth -= 1
            if depth == 0:
                break
        if square == 0:
            result += character
    return result


UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
MACHINE_PATHS = re.compile(
    r"(?<![\w.])/(?:work|Users)/\w+|(?<![\w.])/home/(?!\$)\w+|(?<![\w.])/root/\S+|shared/(?:design|seeds|tools)\b")


def leftovers(root):
    """No notes to oneself and no paths of the machine it was written on."""
    for relative, lines in text_files(root):
        if relative.startswith(THIS_TOOL):
            continue
        for number, line in enumerate(lines, 1):
            if match := UNFINISHED.search(line):
                yield error(relative, number, f"{match.group()}: finish it or write it down as an issue")
            if match := MACHINE_PATHS.search(line):
                yield error(relative, number, f"{match.group()} is a path of somebody's machine")


SLEEPS = re.compile(r"\bThread\s*\.\s*sleep|\bTask\s*(?:<[^>]*>)?\s*\.\s*sleep|(?<![.\w])(?<!func )(?:usleep|nanosleep|sleep)\s*\(|Clock\(\)\s*\.\s*sleep")


def sleeping_tests(root):
    """A test waits for an event or turns a clock by hand; it never sleeps."""
    for file in swift_files(root, "Tests"):
        if file.relative in tables.SLEEP_EXCEPTIONS:
            continue
        for number, line in enumerate(file.code_lines, 1):
            if match := SLEEPS.search(line):
                yield error(file.relative, number, f"{match.group().strip('( ')} in a test: wait for an event or use a manual clock")


LOUD = [
    (re.compile(r"(?<![.\w])(?:debugPrint|print|NSLog|dump)\s*\("), "prints"),
    (re.compile(r"(?<![.\w])(?:exit|_exit|abort)\s*\("), "ends the process"),
    (re.compile(r"(?<![.\w])(?:getenv|secure_getenv)\s*\(|processInfo\s*\.\s*environment"), "reads the environment"),
    (re.compile(r"\bURLSession\b"), "uses URLSession"),
    (re.compile(r"\bJSONSerialization\b"), "uses JSONSerialization"),
]


def quiet_libraries(root):
    """A library returns, throws or emits an event; the executable decides what the world hears."""
    for file in swift_files(root, "Sources"):
        if file.target not in tables.QUIET_TARGETS:
            continue
        if any(file.relative.startswith(prefix) for prefix in tables.QUIET_EXCEPTIONS):
            continue
        for number, line in enumerate(file.code_lines, 1):
            for pattern, what in LOUD:
                match = pattern.search(line)
                if match and not _is_own_name(file, match.group().strip("( ")):
                    yield error(file.relative, number, f"library code {what}")


def _is_own_name(file, name):
    """Whether the file itself declares a function or a parameter of that name."""
    return name.isidentifier() and bool(re.search(rf"\bfunc\s+{name}\b|[(,]\s*{name}\s*:\s*@?(?:escaping\s+)?\(|\b{name}: @", file.code))


def catalogue(root):
    """Every message id of the code is explained in the journal catalogue, and the reverse; what has a name is said by somebody under it."""
    catalog_path = Path(root) / "systemd/cisternd.catalog"
    in_catalog, in_code = {}, {}
    if catalog_path.is_file():
        lines = catalog_path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, 1):
            if match := re.match(r"--\s+([0-9a-f]{32})\s*$", line):
                if match.group(1) in in_catalog:
                    yield error("systemd/cisternd.catalog", number, f"{match.group(1)} stands here twice")
                in_catalog[match.group(1)] = number
                if not (number < len(lines) and lines[number].startswith("Subject: ")):
                    yield error("systemd/cisternd.catalog", number, "an entry starts with its Subject:")
    names, files = {}, list(swift_files(root, "Sources"))
    for file in files:
        for number, line in enumerate(file.lines, 1):
            for match in re.finditer(r'"([0-9a-f]{32})"', line):
                in_code.setdefault(match.group(1), (file.relative, number))
            if match := re.match(r'\s*case (\w+) = "[0-9a-f]{32}"', line):
                names[match.group(1)] = (file.relative, number)
    for name, (relative, number) in names.items():
        if not any(re.search(rf"\.{name}\b", file.code) for file in files if file.relative != relative):
            yield error(relative, number, f"nobody sends {name}")
    for identifier, number in in_catalog.items():
        if identifier not in in_code:
            yield error("systemd/cisternd.catalog", number, f"{identifier} is sent by no code")
    for identifier, (relative, number) in in_code.items():
        if identifier not in in_catalog:
            yield error(relative, number, f"message id {identifier} is not in systemd/cisternd.catalog")


def named_tests(root):
    """Documents that name tests name tests that exist: a row of DEVIATIONS.md, and of a table of README or RELIABILITY.md whose last column is headed Tests, at
    least one; a row of such a table of COVERAGE.md as many as it likes."""
    tests = set()
    for file in swift_files(root, "Tests"):
        tests |= set(re.findall(r"@Test\b.*?\bfunc\s+`?([A-Za-z_]\w*)", file.code, re.DOTALL))
    for document, needs_one in (("docs/DEVIATIONS.md", True), ("README.md", True), ("docs/COVERAGE.md", False), ("docs/RELIABILITY.md", True)):
        path = Path(root) / document
        if not path.is_file():
            continue
        lines = path.read_text(encoding="utf-8").split("\n")
        heading = ""
        for number, line in enumerate(lines, 1):
            if not line.startswith("|"):
                heading = ""
            if not line.startswith("|") or re.fullmatch(r"[|\s:-]+", line):
                continue
            cell = line.strip().strip("|").split("|")[-1].strip()
            if number < len(lines) and re.fullmatch(r"[|\s:-]+", lines[number] or "-x"):
                heading = cell
                continue
            if document != "docs/DEVIATIONS.md" and heading != "Tests":
                continue
            named = re.findall(r"`([A-Za-z_]\w*)(?:\(\))?`", cell)
            if needs_one and not named:
                yield error(document, number, "the last column names no test")
            for name in named:
                if name not in tests:
                    yield error(document, number, f"there is no test {name}")


STATEMENT = r"(?:[A-Z]{1,2}\d+|P-DOC|\d+\.\d+)"


def statements_of_tests(root):
    """Which tests of the object graph name a statement, by the numbers with which a line of the comment above them begins."""
    tests = defaultdict(list)
    for file in swift_files(root, "Tests/OpenCoreDataTests", "Tests/CoreDataTests"):
        for index, line in enumerate(file.lines):
            name = re.match(r"\s*(?:@\w+ )*@Test\b", line) and re.search(r"\bfunc\s+`?(\w+)", "\n".join(file.lines[index:index + 40]))
            while name and index > 0 and re.match(r"\s*(?:@|//)", file.lines[index - 1]) and "@Test" not in file.lines[index - 1]:
                index -= 1
                if numbers := re.match(rf"\s*//+ ({STATEMENT}(?:, {STATEMENT})*)(?![\w-])", file.lines[index]):
                    for number in numbers.group(1).split(", "):
                        tests[number].append(name.group(1))
    return tests


def listed_tests(root):
    """A row of a statement in COVERAGE.md names every test that names the statement, or says how many more there are."""
    path = Path(root) / "docs/COVERAGE.md"
    if not path.is_file():
        return
    tests = statements_of_tests(root)
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        row = re.match(rf"\| ({STATEMENT}) \|.*?([^|]*)\|\s*$", line)
        if not row:
            continue
        statement, cell = row.groups()
        left = [name for name in tests[statement] if f"`{name}`" not in cell]
        more = int((re.search(r"\band (\d+) more", cell) or [0, 0])[1])
        if len(left) != more:
            yield error("docs/COVERAGE.md", number, f"{statement} says {more} more, unnamed are {len(left)}: {', '.join(left)}")


def mirrored_tests(root):
    """The folders of a test target are the folders of the target it tests."""
    folders = defaultdict(set)
    for file in swift_files(root, "Sources"):
        folders[file.target].add("/".join(file.parts[2:-1]))
    for file in swift_files(root, "Tests"):
        subject = file.target.removesuffix("Tests")
        if "Support" in file.parts[1:3] or subject not in folders:  # what several tests of a target share
            continue
        inside = "/".join(file.parts[2:-1])
        if "/".join(file.parts[:-1]) in tables.MIRROR_EXCEPTIONS:
            continue
        if inside and not any(known == inside or known.startswith(inside + "/") for known in folders[subject]):
            yield error(file.relative, 1, f"there is no folder Sources/{subject}/{inside} that it would mirror")


REMOTE_TEXT_TARGETS = ("SyncPipeline", "SyncControl", "SyncDaemon", "cisternctl", "cisternd")


def remote_text(root):
    """What came from outside is printed by RemoteText: no other code cuts it into lines or writes to the terminal past the console."""
    for file in swift_files(root, *(f"Sources/{target}" for target in REMOTE_TEXT_TARGETS)):
        if file.relative in tables.REMOTE_TEXT_EXCEPTIONS:
            continue
        for number, line in enumerate(file.lines, 1):
            code = line.split("//")[0]
            # "\r\n" is one Character and equal to neither of its parts: a text that is cut so keeps its line breaks.
            if re.search(r'split\(separator: "\\[nr]"|(?:separatedBy|of): "\\[nr]"|replacing\("\\[nr]"|\$0 [!=]= "\\[nr]"', code):
                yield error(file.relative, number, "made harmless by RemoteText alone: \"\\r\\n\" is one Character, and there are more controls than one thinks of")
            if file.target == "cisternctl" and re.search(r"\bconsole\.write(?:Error)?\(|FileHandle\.standard(?:Output|Error)|\bprint\(", code):
                yield error(file.relative, number, "writes past the console: say out, block, table or json")
            if file.target == "SyncDaemon" and re.search(r"journal\.current\.send\(", code) and "JournalReporter {" not in code:
                yield error(file.relative, number, "writes past the JournalReporter, which makes entries harmless")


def documentation(root):
    """Of what is public nearly everything says what it means."""
    declared = [(file, number) for file in swift_files(root, "Sources") for number in public_lines(file)]
    silent = [(file, number) for file, number in declared if not is_documented(file, number)]
    if len(silent) > (1 - tables.LEAST_DOCUMENTED) * len(declared):
        for file, number in silent:
            yield error(file.relative, number + 1, f"public, and no comment says what it means ({len(silent)} of {len(declared)} are so)")


RULES = [
    file_sizes, file_names, folder_order, imports, reasons, bare_closures, leftovers, sleeping_tests, quiet_libraries, catalogue,
    named_tests, listed_tests, declared_names, mirrored_tests, remote_text, control_flags, configuration_flags,
    documentation,
]
