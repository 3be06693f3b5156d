#!/usr/bin/env python3
"""nginx.py FOLDER WORK: nginx on a free port of 127.0.0.1, with ETag and gzip, serving FOLDER; a line of JSON for every request.

nginx cannot ask for a free port itself, so the socket is opened here and handed down. It ends when standard input does."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import stage

folder, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 0))
listener.listen(128)
port = listener.getsockname()[1]
work.mkdir(parents=True, exist_ok=True)
# Its workers would otherwise be a user who may not look into the test's folder.
user = "user root;" if os.geteuid() == 0 else ""
(work / "nginx.conf").write_text(f"""{user}
daemon off;
worker_processes 1;
error_log stderr warn;
pid {work}/nginx.pid;
events {{ worker_connections 64; }}
http {{
    types {{ application/json json; }}
    log_format event escape=json
        '{{"event":"request","path":"$request_uri","status":$status,"bytes":$body_bytes_sent,"coding":"$sent_http_content_encoding"}}';
    access_log /dev/stdout event;
    client_body_temp_path {work}/body;
    proxy_temp_path {work}/proxy;
    fastcgi_temp_path {work}/fastcgi;
    uwsgi_temp_path {work}/uwsgi;
    scgi_temp_path {work}/scgi;
    etag on;
    gzip on;
    gzip_static on;
    gzip_vary on;
    gzip_types application/json;
    server {{
        listen 127.0.0.1:{port};
        root {folder};
    }}
}}
""")
os.set_inheritable(listener.fileno(), True)
program = next((p for p in ("/usr/sbin/nginx", "/usr/local/sbin/nginx") if os.access(p, os.X_OK)), "nginx")
nginx = subprocess.Popen(
    # However we end, it ends too.
    ["setpriv", "--pdeathsig", "TERM", program, "-e", "stderr", "-p", str(work), "-c", str(work / "nginx.conf")],
    stdin=subprocess.DEVNULL, pass_fds=[listener.fileno()], env={**os.environ, "NGINX": f"{listener.fileno()};"})
stage.tell("listening", port=port)
for line in sys.stdin:
    pass
nginx.terminate()
sys.exit(nginx.wait())
