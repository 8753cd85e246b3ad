"""Real Celery workers, each a process of its own, that tests start, kill and start again."""

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from pipeline.cli import programs
from pipeline.settings import Settings

REPOSITORY = Path(__file__).parents[2]

#: Short, so that a lost lease costs a test three seconds; long enough for a machine that is busy.
LEASE_SECONDS = 3.0
#: Threads of the process worker; processes, where a test has it work so.
SLOTS, PREFORK_SLOTS = 8, 4


def wait_for(condition, seconds=40.0):
    """Wait until the condition holds and return its value; the limit only ends a test that has failed."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)
    return value


class Member:
    """One program in a session of its own, its output in a file; it can be killed and started again."""

    def __init__(self, name, argv, env, folder):
        self.name, self.log = name, folder / f"{name}.log"
        self._argv, self._env, self._folder = argv, env, folder
        self.start()

    def start(self):
        """Start the program, or start it again."""
        with self.log.open("ab") as output:
            self._running = subprocess.Popen(
                self._argv, env=self._env, cwd=self._folder, stdout=output, stderr=output, start_new_session=True
            )

    def kill(self):
        """kill -9 of the process and of its pool."""
        with suppress(ProcessLookupError):
            os.killpg(self._running.pid, signal.SIGKILL)
        self._running.wait()

    def pause(self):
        os.killpg(self._running.pid, signal.SIGSTOP)

    def resume(self):
        os.killpg(self._running.pid, signal.SIGCONT)

    def is_running(self):
        return self._running.poll() is None

    def ask_to_end(self):
        """SIGTERM to the whole group, heard when this returns: a worker finishes what it has begun."""
        before = self._times_asked()
        os.killpg(self._running.pid, signal.SIGTERM)
        wait_for(lambda: self._times_asked() > before)

    def exit_code(self):
        """How it ended; waits until it has."""
        return self._running.wait(timeout=40)

    def end(self):
        """SIGTERM, and wait until it has ended."""
        self._running.terminate()
        self.exit_code()

    def _times_asked(self):
        return self.log.read_text().count("worker: Warm shutdown")


class Crew:
    """The workers of a stack; they are kept between tests that ask for the same work."""

    def __init__(self, urls, folder):
        self.folder, self.data = folder, folder / "data"
        self._urls = urls
        self._journal = folder / "calls.ndjson"
        self._signals, self._armed, self._killed = folder / "signals", folder / "armed", folder / "killed"
        for made in (self._signals, self._armed, self._killed):
            made.mkdir()
        self._members = {}
        self._contract = None

    def work(self, script=None, *, broker=None, app="tasks.app", pool="threads", env=None):
        """Have the workers run with this script of the summarizer; a worker that was killed is started again.

        `pool` is how the worker for documents runs them.
        """
        contract = (json.dumps(script), broker, app, pool, env)
        if contract != self._contract:
            self.dismiss()
            self._contract = contract
            self.broker = broker or self._urls.broker
            self._words, self._env = {"tasks.app": app, "threads": pool}, self._environment(script, env or {})
            slots = SLOTS if pool == "threads" else PREFORK_SLOTS
            for program in programs.workers(Settings(data_dir=self.data, process_slots=slots)):
                self.run(program)
        self.tend()
        self._journal.write_text("")
        for file in (*self._signals.iterdir(), *self._armed.iterdir(), *self._killed.iterdir()):
            file.unlink()

    def give(self, signal):
        """Let the steps of the script go on that wait `until` this signal."""
        (self._signals / signal).touch()

    def arm(self, point):
        """Have the next process that comes to this point be killed there, once; it needs the app `crashing`."""
        (self._armed / point.slug).touch()

    def killed_at(self, point):
        """When a process was killed at this point, in epoch seconds; None where that has not happened."""
        killed = self._killed / point.slug
        return killed.stat().st_ctime if killed.exists() else None

    def tend(self):
        """Start again what has ended, as `up` does, and after what it left behind was killed."""
        for member in self._members.values():
            if not member.is_running():
                member.kill()
                member.start()

    def run(self, program):
        """Run a program of the stack, with this contract's app and environment."""
        argv = [self._words.get(word, word) for word in program.argv]
        member = Member(program.name, argv, {**self._env, **program.env}, self.folder)
        self._members[program.name] = member
        return member

    def dismiss(self):
        """End every program at once: after a test there is nothing to finish."""
        self._contract = None
        while self._members:
            self._members.popitem()[1].kill()

    def let_go(self, name):
        """End one program for good, if it is still there."""
        if name in self._members:
            self._members.pop(name).kill()

    @property
    def process(self):
        """The worker that works on documents."""
        return self._members["process"]

    @property
    def alone(self):
        """The worker for suspects."""
        return self._members["alone"]

    @property
    def control(self):
        """The worker for all other hops."""
        return self._members["control"]

    @property
    def logs(self):
        """The log files of all programs that ever ran."""
        return sorted(self.folder.glob("*.log"))

    def calls(self):
        """What the scripted summarizer was asked, in order."""
        return [json.loads(line) for line in self._journal.read_text().splitlines()]

    def _environment(self, script, extra):
        path = self.folder / "script.json"
        path.write_text(json.dumps({"journal": str(self._journal), **(script or {})}))
        return {
            **os.environ,
            **self._urls.as_env(),
            "BROKER_URL": self.broker,
            "PYTHONPATH": os.pathsep.join((str(REPOSITORY), str(Path(__file__).parent))),
            "CALLFOLD_DATA_DIR": str(self.data),
            "CALLFOLD_LEASE_SECONDS": str(LEASE_SECONDS),
            "CALLFOLD_PROCESS_SLOTS": str(SLOTS),
            "CALLFOLD_PROFILES": '{"scripted": {"summarizer": "scripted"}}',
            "CALLFOLD_SCRIPT": str(path),
            **extra,
        }
