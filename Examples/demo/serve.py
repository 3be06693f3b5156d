#!/usr/bin/env python3
"""serve.py --data DIR [--port N] [--port-file FILE]: a small JSON API over Debian's iso-codes, on 127.0.0.1 only.

    /countries.json      iso_3166-1.json, byte for byte
    /languages.json      iso_639-3.json, byte for byte
    /subdivisions.json   iso_3166-2.json, with two things that an API gives and the file leaves to the reader: `country`, which the
                         file has only as the first two letters of `code`, and `parent` as a whole code ("AZ-NX"), which the file
                         writes without its country ("NX") for all countries but one

It behaves as a good API does: ETag and Last-Modified, 304 to If-None-Match and If-Modified-Since, gzip to those who accept it. A file
is read again when it changes. One line a request goes to standard error."""

import argparse
import email.utils
import gzip
import hashlib
import json
import os
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def as_it_is(body):
    return body


def with_links(body):
    """Subdivisions with `country` and the whole code of `parent`."""
    document = json.loads(body)
    records = document["3166-2"]
    codes = {record["code"] for record in records}
    for record in records:
        country = record["code"].split("-")[0]
        record["country"] = country
        if "parent" in record and record["parent"] not in codes:
            record["parent"] = f"{country}-{record['parent']}"
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


ROUTES = {
    "/countries.json": ("iso_3166-1.json", as_it_is),
    "/subdivisions.json": ("iso_3166-2.json", with_links),
    "/languages.json": ("iso_639-3.json", as_it_is),
}


class Representation:
    """A body in both codings with its validators."""

    def __init__(self, path, transform):
        self.modified = path.stat().st_mtime_ns
        self.plain = transform(path.read_bytes())
        self.zipped = gzip.compress(self.plain, 6, mtime=0)
        digest = hashlib.sha256(self.plain).hexdigest()[:24]
        self.etags = {"": f'"{digest}"', "gzip": f'"{digest}-gz"'}
        self.last_modified = email.utils.formatdate(self.modified // 1_000_000_000, usegmt=True)


class Library:
    """The representations, made anew when their file has changed."""

    def __init__(self, folder):
        self.folder, self.lock, self.cache = Path(folder), threading.Lock(), {}

    def get(self, route):
        name, transform = ROUTES[route]
        path = self.folder / name
        with self.lock:
            known = self.cache.get(route)
            if known is None or known.modified != path.stat().st_mtime_ns:
                known = self.cache[route] = Representation(path, transform)
            return known


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def version_string(self):
        return "iso-codes-demo"

    def do_GET(self):
        self.answer(with_body=True)

    def do_HEAD(self):
        self.answer(with_body=False)

    def answer(self, with_body):
        route = self.path.split("?")[0]
        if route not in ROUTES:
            body = json.dumps({"error": "no such resource", "resources": sorted(ROUTES)}).encode()
            self.send(404, body, with_body, {"Content-Type": "application/json"})
            return
        representation = self.server.library.get(route)
        coding = "gzip" if accepts_gzip(self.headers.get("Accept-Encoding", "")) else ""
        headers = {
            "ETag": representation.etags[coding],
            "Last-Modified": representation.last_modified,
            "Cache-Control": "no-cache",
            "Vary": "Accept-Encoding",
        }
        if self.is_current(representation):
            self.send(304, b"", False, headers)
            return
        headers["Content-Type"] = "application/json"
        if coding:
            headers["Content-Encoding"] = coding
        self.send(200, representation.zipped if coding else representation.plain, with_body, headers)

    def is_current(self, representation):
        """If-None-Match decides when it is there; If-Modified-Since only without it (RFC 9110, 13.2.2)."""
        if (names := self.headers.get("If-None-Match")) is not None:
            known = {name.strip().removeprefix("W/") for name in names.split(",")}
            return "*" in known or bool(known & set(representation.etags.values()))
        if (since := self.headers.get("If-Modified-Since")) is not None:
            try:
                asked = email.utils.parsedate_to_datetime(since).timestamp()
            except (TypeError, ValueError):
                return False
            return representation.modified // 1_000_000_000 <= asked
        return False

    def send(self, status, body, with_body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)
        print(f"{self.command} {self.path} {status} {len(body) if with_body else 0}", file=sys.stderr, flush=True)

    def log_message(self, format, *arguments):  # the one line above says it all
        pass


def accepts_gzip(header):
    for item in header.split(","):
        name, _, parameters = item.strip().partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return parameters.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="/usr/share/iso-codes/json", help="folder of the iso_*.json files")
    parser.add_argument("--port", type=int, default=8631, help="0 takes a free one")
    parser.add_argument("--port-file", help="where to write the port once it listens")
    options = parser.parse_args()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = Server(("127.0.0.1", options.port), Handler)
    server.library = Library(options.data)
    for route in ROUTES:
        server.library.get(route)  # a missing file is noticed now, not by a client
    if options.port_file:
        Path(options.port_file + ".new").write_text(f"{server.server_port}\n")
        os.replace(options.port_file + ".new", options.port_file)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
