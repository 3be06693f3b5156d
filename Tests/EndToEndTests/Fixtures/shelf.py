#!/usr/bin/env python3
"""shelf.py FOLDER [--exchanges FILE...]: every file of a folder and of those in it, and recorded answers of GitHub.

    GET /geo/regions.json   the file, or what is packed in /geo/regions.json.gz, as it stands there
    any recorded GET        its status, headers and body, with our own address in place of api.github.com

The command `pad` has every body that is JSON end with one blank more from then on: the same records in other bytes. There are no ETags: whether anything
is new shows in what is sent. Everything else is 404."""

import argparse
import gzip
import json
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import stage

HOST = "https://api.github.com"
# Of a recorded answer these are ours to say.
OURS = {"connection", "content-length", "transfer-encoding", "date", "content-encoding", "etag", "last-modified", "cache-control"}
exchanges, padding = {}, []
folder = Path()


def place(target):
    """An address as anybody may write it: what is escaped need not be, and a query has no order."""
    url = urlsplit(target)
    return unquote(url.path), tuple(sorted(parse_qsl(url.query)))


class Handler(stage.Handler):
    def do_GET(self):
        path, query = place(self.path)
        file = (folder / path.lstrip("/")).resolve()
        packed = file.with_name(file.name + ".gz")
        if folder not in file.parents:
            self.json(404, b"{}")
        elif file.is_file():
            self.json(200, file.read_bytes() + self.pad())
        elif packed.is_file():
            self.packed(packed)
        elif (path, query) in exchanges:
            self.repeat(exchanges[path, query])
        else:
            self.json(404, b"{}")

    def json(self, status, body, headers=()):
        kind = "application/x-ndjson" if self.path.endswith(".ndjson") else "application/json; charset=utf-8"
        self.reply(status, body, [("Content-Type", kind), *headers])

    def packed(self, file):
        body = file.read_bytes()
        if padding or "gzip" not in self.headers.get("Accept-Encoding", ""):
            self.json(200, gzip.decompress(body) + self.pad())
        else:
            self.json(200, body, [("Content-Encoding", "gzip")])

    def repeat(self, exchange):
        here = f"http://127.0.0.1:{self.server.server_port}"
        headers = [(name, str(value).replace(HOST, here)) for name, value in exchange["headers"].items() if name.lower() not in OURS]
        self.reply(int(exchange["status"]), json.dumps(exchange["response"]).replace(HOST, here).encode() + self.pad(), headers)

    def pad(self):
        return b"\n" * len(padding)


def main():
    global folder
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--exchanges", nargs="*", default=[])
    options = parser.parse_args()
    folder = Path(options.folder).resolve()
    for path in options.exchanges:
        with open(path, encoding="utf-8") as file:
            for exchange in json.load(file):
                if exchange["method"].lower() == "get":
                    exchanges.setdefault(place(exchange["path"]), exchange)
    stage.serve(Handler, {"pad": lambda: padding.append(1)})


if __name__ == "__main__":
    main()
