#!/usr/bin/env python3
"""replay.py --issues FILE --exchanges FILE...: what GitHub said once, said again.

    GET /repos/duckdb/duckdb/issues?per_page=N&page=P   the recorded list of issues, cut into pages, with Link headers and ETags
    any recorded GET of the exchanges                   its status, headers and body, with our own address in place of api.github.com

Everything else is 404, as GitHub words it."""

import argparse
import hashlib
import json
from urllib.parse import parse_qs, urlsplit

import stage

HOST = "https://api.github.com"
# Of a recorded answer these are ours to say.
OURS = {"connection", "content-length", "transfer-encoding", "date", "content-encoding", "etag"}
issues, exchanges = [], {}


class Handler(stage.Handler):
    def here(self, text):
        return text.replace(HOST, f"http://127.0.0.1:{self.server.server_port}")

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/repos/duckdb/duckdb/issues":
            self.list(url)
        elif self.path in exchanges:
            self.repeat(exchanges[self.path])
        else:
            body = json.dumps({"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"}).encode()
            self.reply(404, body, [("Content-Type", "application/json; charset=utf-8")])

    def list(self, url):
        query = parse_qs(url.query)
        size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
        last = -(-len(issues) // size)
        here = f"{HOST}{url.path}?per_page={size}&page="
        links = []
        if page > 1:
            links += [f'<{here}{page - 1}>; rel="prev"', f'<{here}1>; rel="first"']
        if page < last:
            links += [f'<{here}{page + 1}>; rel="next"', f'<{here}{last}>; rel="last"']
        body = self.here(json.dumps(issues[(page - 1) * size:page * size])).encode()
        headers = [("Content-Type", "application/json; charset=utf-8")]
        if links:
            headers.append(("Link", self.here(", ".join(links))))
        self.reply(200, body, headers, etag=f'W/"{hashlib.sha256(body).hexdigest()}"')

    def repeat(self, exchange):
        response = exchange["response"]
        body = b"" if response == "" else self.here(json.dumps(response)).encode()
        headers = [(name, self.here(str(value))) for name, value in exchange["headers"].items() if name.lower() not in OURS]
        self.reply(int(exchange["status"]), body, headers, etag=exchange["headers"].get("etag"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--issues", required=True)
    parser.add_argument("--exchanges", nargs="+", default=[])
    options = parser.parse_args()
    with open(options.issues, encoding="utf-8") as file:
        issues.extend(json.load(file))
    for path in options.exchanges:
        with open(path, encoding="utf-8") as file:
            for exchange in json.load(file):
                if exchange["method"].lower() == "get":
                    exchanges.setdefault(exchange["path"], exchange)
    stage.serve(Handler)


if __name__ == "__main__":
    main()
