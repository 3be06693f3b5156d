"""What the fixture servers share. A server tells what happens as one line of JSON each on standard output, and takes commands as lines of
JSON on standard input; when standard input ends, so does the server: it never outlives the test that started it."""

import gzip
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_lock = threading.Lock()


def tell(event, **facts):
    """One line for the test to wait for."""
    line = json.dumps({"event": event, **facts})
    with _lock:
        print(line, flush=True)


class Handler(BaseHTTPRequestHandler):
    """Answers with ETag, gzip and 304, and tells of every request."""

    protocol_version = "HTTP/1.1"
    # Head and body are one packet each; without this they would wait for one another.
    wbufsize = -1

    def version_string(self):
        return "fixture"

    def log_message(self, format, *arguments):  # `tell` says it all
        pass

    def reply(self, status, body=b"", headers=(), etag=None):
        """Sends an answer. With `etag` the request may be conditional."""
        sent = list(headers)
        if etag is not None:
            sent.append(("ETag", etag))
            if self.headers.get("If-None-Match") == etag:
                status, body = 304, b""
        isCoded = any(name == "Content-Encoding" for name, _ in sent)
        if status == 200 and not isCoded and len(body) > 1000 and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, 1, mtime=0)
            sent.append(("Content-Encoding", "gzip"))
        self.send_response(status)
        for name, value in sent:
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        tell("request", path=self.path, status=status, bytes=len(body))
        self.send_body(body)

    def send_body(self, body):
        self.wfile.write(body)
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def serve(handler, commands=None, port=0):
    """Serves on 127.0.0.1 until standard input ends. `commands` are functions by name; each line names one in `do`, the rest are arguments."""
    server = Server(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tell("listening", port=server.server_port)
    for line in sys.stdin:
        arguments = json.loads(line)
        name = arguments.pop("do")
        (commands or {})[name](**arguments)
        tell("done", what=name)
    os._exit(0)
