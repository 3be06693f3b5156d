#!/usr/bin/env python3
"""files.py FOLDER: every file of a folder, byte for byte, as application/json at /NAME."""

import sys
from pathlib import Path
from urllib.parse import unquote

import stage

folder = Path(sys.argv[1])


class Handler(stage.Handler):
    def do_GET(self):
        path = folder / unquote(self.path.lstrip("/"))
        if path.parent == folder and path.is_file():
            self.reply(200, path.read_bytes(), [("Content-Type", "application/json")])
        else:
            self.reply(404, b"{}", [("Content-Type", "application/json")])


stage.serve(Handler)
