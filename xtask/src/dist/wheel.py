"""Writes a wheel with one program in it. The same input gives the same bytes."""

import base64
import hashlib
import json
import sys
import time
import zipfile

about = json.loads(sys.argv[1])
version = about["version"]
info = f"swarm-{version}.dist-info"
# The format knows no time before 1980.
date = max(time.gmtime(about["seconds"])[:6], (1980, 1, 1, 0, 0, 0))

with open(about["binary"], "rb") as file:
    program = file.read()

files = [
    (f"swarm-{version}.data/scripts/swarm", program, 0o755),
    (
        f"{info}/METADATA",
        f"Metadata-Version: 2.1\nName: swarm\nVersion: {version}\n"
        "Summary: Runs coding agents in parallel on one git repository and loses no work\n"
        "License: MIT OR Apache-2.0\nRequires-Python: >=3.8\n"
        f"Description-Content-Type: text/markdown\n\n{about['readme']}".encode(),
        0o644,
    ),
    (
        f"{info}/WHEEL",
        f"Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\nTag: {about['tag']}\n".encode(),
        0o644,
    ),
]
record = ""
for name, data, _ in files:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record += f"{name},sha256={digest},{len(data)}\n"
record += f"{info}/RECORD,,\n"
files.append((f"{info}/RECORD", record.encode(), 0o644))

with zipfile.ZipFile(about["out"], "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
    for name, data, mode in files:
        entry = zipfile.ZipInfo(name, date)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(entry, data)
