"""Rules against flags that nobody reads."""

import re
from pathlib import Path

from . import tables
from .findings import error
from .source import swift_files


def control_flags(root):
    """Each parameter of a control request is read by the routes: a flag that nobody reads is a promise that nobody keeps."""
    request = Path(root) / "Sources/SyncControl/ControlRequest.swift"
    if not request.is_file():
        return
    lines = request.read_text(encoding="utf-8").split("\n")
    readers = "\n".join(file.code for file in swift_files(root, "Sources/SyncDaemon"))
    for number, line in enumerate(lines, 1):
        name = re.match(r"    public var (\w+): [^{]*$", line)
        if name and not re.search(rf"\brequest\.{name.group(1)}\b", readers):
            yield error("Sources/SyncControl/ControlRequest.swift", number, f"nobody in SyncDaemon reads request.{name.group(1)}")


def configuration_flags(root):
    """Each stored property of the configuration is read by somebody who acts on it: the reader of the files and what prints it do not count."""
    # Strings stay in: what is read inside of an interpolation is read.
    acting = [
        "\n".join(line.split("//")[0] for line in file.lines)
        for file in swift_files(root, *(f"Sources/{target}" for target in ("SyncPipeline", "SyncDaemon", "cisternctl", "cisternd", "Secrets")))]
    for file in swift_files(root, *(f"Sources/SyncConfiguration/{folder}" for folder in ("Model", "Service", "Source"))):
        open_types, depth = [], 0
        for number, line in enumerate(file.code_lines, 1):
            if declared := re.match(r"\s*public (?:struct|enum|extension) (\w+)", line):
                open_types.append((declared.group(1), depth))
            # A stored property has no body; what follows "=" is its built-in value.
            stored = re.match(r"\s*public (?:private\(set\) )?(?:var|let) (\w+)(?:\s*:[^{=]+)?(?:\s*=[^{]*)?$", line)
            if stored and open_types:
                yield from _unread(file, number, open_types[-1][0], stored.group(1), acting)
            depth += line.count("{") - line.count("}")
            while open_types and depth <= open_types[-1][1] and "}" in line:
                open_types.pop()


def _unread(file, number, of_type, name, acting):
    known = tables.CONFIGURATION_VALUES.get(of_type)
    if known is None:
        yield error(file.relative, number, f"say in tables.py under which names values of {of_type} are read")
        return
    if f"{of_type}.{name}" in tables.CONFIGURATION_EXCEPTIONS:
        return
    read = re.compile(rf"(?:\b(?:{'|'.join(sorted(known))})[?!]?|\\)\.{name}\b")
    if any(read.search(code) or (re.search(rf"\bextension {of_type}\b", code) and re.search(rf"\b{name}\b", code)) for code in acting):
        return
    yield error(file.relative, number, f"nobody acts on {of_type}.{name}: hand it on, or take it out and refuse the key")
