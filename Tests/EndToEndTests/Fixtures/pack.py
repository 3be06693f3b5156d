#!/usr/bin/env python3
"""pack.py FOLDER: beside each file of the folder NAME.gz and NAME.zip, which hold it."""

import gzip
import sys
import zipfile
from pathlib import Path

for file in sorted(Path(sys.argv[1]).iterdir()):
    content = file.read_bytes()
    file.with_name(file.name + ".gz").write_bytes(gzip.compress(content, mtime=0))
    with zipfile.ZipFile(file.with_name(file.name + ".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("readme"), "x")
        archive.writestr(zipfile.ZipInfo("rows"), content, zipfile.ZIP_DEFLATED)
