"""Makes the wheel `phaseline-loader` of one that was built without the compiler: loader.py WHEEL OUTPUT-FOLDER

It is the same package under a name of its own, without the program. The same wheel gives the same bytes.
"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path


def main(given, output):
    given, files = Path(given), {}
    with zipfile.ZipFile(given) as wheel:
        for info in wheel.infolist():
            folder, _, rest = info.filename.partition(".dist-info/")
            if rest in ("RECORD", "entry_points.txt"):
                continue
            content = wheel.read(info)
            name = info.filename
            if rest:
                name = f"phaseline_loader-{folder.removeprefix('phaseline-')}.dist-info/{rest}"
            if rest == "METADATA":
                content = content.replace(b"Name: phaseline\n", b"Name: phaseline-loader\n", 1)
                content = content.replace(b"Summary: ", b"Summary: Loads and runs packages of Phaseline. ", 1)
            files[name] = (info, content)
    folder = next(name.split("/")[0] for name in files if ".dist-info/" in name)
    record = ""
    for name, (_, content) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    name = f"{folder}/RECORD"
    record += f"{name},,\n"
    path = Path(output) / given.name.replace("phaseline-", "phaseline_loader-", 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for each, (info, content) in files.items():
            made = zipfile.ZipInfo(each, info.date_time)
            made.external_attr, made.compress_type = info.external_attr, zipfile.ZIP_DEFLATED
            wheel.writestr(made, content)
        made = zipfile.ZipInfo(name, info.date_time)
        made.external_attr, made.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
        wheel.writestr(made, record)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
