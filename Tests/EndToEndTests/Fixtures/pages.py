#!/usr/bin/env python3
"""pages.py [--pages N] [--records N] [--seed N] [--token TEXT] [--port N]: a listing in pages of records that refer to each other.

    GET /items?page=P     {"items": [...], "page": P, "pages": N}
    GET /tags             [{"id": ..., "name": ...}, ...]

What a page holds follows from the seed and the page's version alone: every record says which page and version it is from, and how many
records the page has. `publish` brings the next version: about half of the pages change, some of their records go, others come back.

Commands: publish version | hold page (half of that page is sent, then nothing) | release | kill pid page delay_us (SIGKILL to that process, so
many microseconds after that page was asked for)."""

import argparse
import json
import os
import signal
import threading
import zlib
from urllib.parse import parse_qs, urlsplit

import stage

TAGS, CATEGORIES = 40, 12
options = None


class Library:
    def __init__(self):
        self.lock = threading.Lock()
        self.version = 1
        self.held, self.gate = None, threading.Event()
        self.kill = None

    def publish(self, version):
        self.version = version

    def hold(self, page):
        self.gate.clear()
        self.held = page

    def release(self):
        self.held = None
        self.gate.set()

    def arm(self, pid, page, delay_us):
        with self.lock:
            self.kill = (pid, page, delay_us)

    def disarm(self):
        with self.lock:
            self.kill = None

    def asked(self, page):
        """The page was asked for: whoever is to die for it, dies."""
        with self.lock:
            if self.kill is None or self.kill[1] != page:
                return
            (pid, _, delay), self.kill = self.kill, None
        # The moment is what is random here: nothing waits for it to pass.
        threading.Timer(delay / 1_000_000, strike, (pid, page)).start()


def strike(pid, page):
    os.kill(pid, signal.SIGKILL)
    stage.tell("killed", page=page)


library = Library()


def number(*parts):
    """A number that follows from the seed and these."""
    return zlib.crc32(repr((options.seed, *parts)).encode())


def page_version(page, version):
    """The last version, up to this one, that changed the page."""
    while version > 1 and number("changes", page, version) % 10 >= 5:
        version -= 1
    return version


def record(identifier, page, version, count):
    parent = number("parent", identifier, version) % (options.pages * options.records * 5 // 4) + 1
    category = number("category", identifier) % CATEGORIES + 1
    tags = sorted({number("tag", identifier, version, k) % TAGS + 1 for k in range(number("tags", identifier, version) % 4)})
    return {
        "id": identifier,
        "name": f"Ding {identifier} · {version}",
        "page": page,
        "version": version,
        "page_count": count,
        "amount": f"{number('amount', identifier, version) % 10**9}.{identifier % 100:02}",
        "parent_id": parent if parent <= options.pages * options.records else None,
        "category": {"id": category, "name": f"Kategorie {category}"},
        "tag_ids": tags,
        "tag_count": len(tags),
    }


def page_body(page, version):
    first = (page - 1) * options.records + 1
    listed = [i for i in range(first, first + options.records) if version == 1 or number("gone", i, version) % 100 != 0]
    items = [record(i, page, version, len(listed)) for i in listed]
    return json.dumps({"items": items, "page": page, "pages": options.pages}, ensure_ascii=False).encode()


class Handler(stage.Handler):
    def do_GET(self):
        url = urlsplit(self.path)
        if options.token and self.headers.get("Authorization") != f"Bearer {options.token}":
            self.reply(401, b'{"error":"who are you?"}', [("Content-Type", "application/json")])
        elif url.path == "/items":
            self.page = int(parse_qs(url.query)["page"][0])
            version = page_version(self.page, library.version)
            library.asked(self.page)
            self.reply(200, page_body(self.page, version), [("Content-Type", "application/json")], etag=f'"p{self.page}-v{version}"')
        elif url.path == "/tags":
            self.page = None
            body = json.dumps([{"id": i, "name": f"Schild {i}"} for i in range(1, TAGS + 1)]).encode()
            self.reply(200, body, [("Content-Type", "application/json")], etag='"tags"')
        else:
            self.reply(404, b'{"error":"no such thing"}', [("Content-Type", "application/json")])

    def send_body(self, body):
        if library.held is not None and library.held == getattr(self, "page", None):
            half = len(body) // 2
            super().send_body(body[:half])
            stage.tell("held", page=self.page)
            library.gate.wait()
            body = body[half:]
        super().send_body(body)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--token")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    commands = {"publish": library.publish, "hold": library.hold, "release": library.release, "kill": library.arm, "disarm": library.disarm}
    stage.serve(Handler, commands, options.port)


if __name__ == "__main__":
    main()
