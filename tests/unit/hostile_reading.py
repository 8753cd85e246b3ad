"""Reads hostile files within a limit on memory, and prints what came of each: `python hostile_reading.py FOLDER LIMIT`.

Started by test_hostile_files in a process of its own, since the limit and the peak are the whole process's.
"""

import json
import resource
import sys
from pathlib import Path

from pipeline.errors import Problem
from pipeline.transcripts.batch import read_paths


def main(folder, extra):
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + extra
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for document in read_paths([folder]):
        if isinstance(document, Problem):
            raise TypeError(str(document))
        outcome = document.fault.detail if document.fault else f"{len(document.transcript.turns)} turns"
        sys.stdout.write(json.dumps([document.fields.document_id, outcome]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
