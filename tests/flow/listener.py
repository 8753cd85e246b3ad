"""A command for `on_complete`: it keeps each line that it is told, and whether the bundle is there.

Its one argument is how often it fails first; `until` lets it wait for the signal `heard`.
"""

import json
import sys
import time
from pathlib import Path


def main(how):
    told = json.loads(sys.stdin.read())
    told["sealed"] = Path(told["folder"], "seal.json").exists()
    heard = Path("heard.ndjson")
    with heard.open("a") as file:
        file.write(json.dumps(told) + "\n")
    if how == "until":
        while not Path("signals/heard").exists():
            time.sleep(0.02)
    elif len(heard.read_text().splitlines()) <= int(how):
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
