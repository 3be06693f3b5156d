#!/usr/bin/env python3
"""variant.py IN OUT [--every N] [--removed N] [--added N] [--keep KEY]...: another state of a list of records with ids.

Every N-th record gets another population, some go, new ones come, and those without an id are gone, since nobody could tell which rows they
are; every other byte stays as it is. Records named with --keep stay.
Prints {"changed": [ids], "removed": [ids], "added": [ids]}. IN may be gzip; OUT.gz is written beside OUT, for a server of ready-made gzip."""

import argparse
import gzip
import json
import os
import re
from pathlib import Path


def spans(text):
    """The records' texts, in order."""
    decoder, position = json.JSONDecoder(), text.index("[") + 1
    while True:
        while text[position] in " \t\r\n,":
            position += 1
        if text[position] == "]":
            return
        value, end = decoder.raw_decode(text, position)
        yield value, text[position:end]
        position = end


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--removed", type=int, default=20)
    parser.add_argument("--added", type=int, default=20)
    parser.add_argument("--keep", type=int, nargs="*", default=[])
    options = parser.parse_args()
    raw = Path(options.source).read_bytes()
    text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
    records = list(spans(text))
    largest = max(value["id"] for value, _ in records if "id" in value)
    kept = set(options.keep) | {value.get("parent_id") for value, _ in records}
    result, out = {"changed": [], "removed": [], "added": []}, []
    for index, (value, raw_record) in enumerate(records):
        identifier = value.get("id")
        if identifier is None:
            continue
        if index % options.every == 7:
            changed, count = re.subn(
                r'("population"\s*:\s*)(null|-?[0-9]+)', lambda match: match[1] + str((value["population"] or 0) + 1), raw_record, count=1)
            if count:
                result["changed"].append(identifier)
                raw_record = changed
        elif index % 53 == 11 and len(result["removed"]) < options.removed and identifier not in kept:
            result["removed"].append(identifier)
            continue
        out.append(raw_record)
    for number in range(1, options.added + 1):
        value = {**next(value for value, _ in records if "id" in value), "id": largest + number, "name": f"New {number}", "parent_id": None}
        result["added"].append(largest + number)
        out.append(json.dumps(value, ensure_ascii=False))
    body = ("[" + ",\n".join(out) + "]").encode("utf-8")
    for path, content in ((options.target, body), (options.target + ".gz", gzip.compress(body, 1, mtime=0))):
        Path(path + ".new").write_bytes(content)
        os.replace(path + ".new", path)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
