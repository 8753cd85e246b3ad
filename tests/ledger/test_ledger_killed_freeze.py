"""A freeze that is killed between its rename and its row: twice, on two hosts that share the export folder."""

import os
import signal
import subprocess
import sys

import pytest
from ledger_bench import work_off
from ledger_rows import rows, submitted, value, wait_for_waiters

from exports.freeze import freeze
from exports.seal import SEAL, sha256_of
from pipeline.stages.admit import admit
from pipeline.stages.reduce import reduce

#: A host's freeze; the URL comes by standard input.
FREEZE = """
import sys
from pathlib import Path
from uuid import UUID
from exports.freeze import freeze
from pipeline.ledger.connection import Ledger
freeze(Ledger(sys.stdin.read()), Path(sys.argv[1]), UUID(sys.argv[2]))
"""


@pytest.fixture
def completed(ledger, settings, bench):
    """The id of a completed job."""
    job_id = submitted(ledger, settings, 3, concurrency=1)
    work_off(bench(), admit(ledger, job_id).released[0])
    reduce(ledger, job_id)
    return job_id


def test_two_hosts_killed_between_the_rename_and_the_row_leave_one_export(ledger, database, completed, tmp_path):
    target = tmp_path / str(completed) / "v1"
    with ledger.transaction() as tx:
        tx.exec_driver_sql("LOCK TABLE exports IN SHARE ROW EXCLUSIVE MODE")
        first = kill_before_the_row(ledger, database, tmp_path, completed, waiters=1)
        written = {path.name: (path.stat().st_ino, path.read_bytes()) for path in target.iterdir()}
        second = kill_before_the_row(ledger, database, tmp_path, completed, waiters=2)
    assert first == second == -signal.SIGKILL
    assert value(ledger, "SELECT frozen_at IS NULL FROM jobs")
    export = freeze(ledger, tmp_path, completed)
    assert rows(ledger, "SELECT export_id, sha256 FROM exports") == [(export.export_id, sha256_of(target / SEAL))]
    assert {path.name: (path.stat().st_ino, path.read_bytes()) for path in target.iterdir()} == written
    assert [path.name for path in target.parent.iterdir()] == ["v1"]
    assert value(ledger, "SELECT frozen_at IS NOT NULL FROM jobs")


def kill_before_the_row(ledger, database, folder, job_id, *, waiters):
    """kill -9 of a freeze whose folder is in its place and which waits to write the row. Returns its exit code."""
    command = [sys.executable, "-c", FREEZE, str(folder), str(job_id)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=dict(os.environ), text=True) as host:
        host.stdin.write(database)
        host.stdin.close()
        wait_for_waiters(ledger, waiters)
        assert (folder / str(job_id) / "v1" / SEAL).exists()
        host.kill()
    return host.returncode
