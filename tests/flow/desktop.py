"""A folder in which the commands run as a person types them, on an embedded stack of its own."""

import json
import os
import subprocess
import sys

import psutil

#: As in a terminal: where the tests run in a shell's background, Ctrl-C is ignored.
CALLFOLD = """
import signal
from pipeline.cli.main import app

signal.signal(signal.SIGINT, signal.default_int_handler)
app(prog_name="callfold")
"""
CALL = """Ann: Thank you for your time today, the trial went well.
Bea: It did. I will send you the signed order form by Friday.
Ann: Wonderful, then I will set up the accounts for your team on Monday.
"""
#: Of one command, on a machine that does much else.
LIMIT_SECONDS = 150


class Desktop:
    """A folder to work in, as a user has it: `callfold` runs there, with its data below."""

    def __init__(self, folder):
        self.folder = folder
        dropped = ("DATABASE_URL", "BROKER_URL", "RESULT_URL")
        self.env = {name: value for name, value in os.environ.items() if name not in dropped}
        self.env |= {"CALLFOLD_LEASE_SECONDS": "10", "CALLFOLD_PROCESS_SLOTS": "4"}

    def write_calls(self, number):
        (self.folder / "calls" / "acme").mkdir(parents=True)
        width = max(2, len(str(number - 1)))
        for index in range(number):
            (self.folder / "calls" / "acme" / f"call-{index:0{width}}.txt").write_text(CALL)

    def write_settings(self, **settings):
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        profile = ["[profiles.scripted]", 'summarizer = "scripted"']
        (self.folder / "callfold.toml").write_text("\n".join((*lines, *profile)))

    def start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, "-c", CALLFOLD, *arguments],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *arguments, code=0):
        """Run a command to its end; returns its standard output."""
        running = self.start(*arguments)
        try:
            out, err = running.communicate(timeout=LIMIT_SECONDS)
        finally:
            running.kill()
        assert running.returncode == code, out + err
        return out

    def ask(self, *arguments, code=0):
        """The one JSON value of a command."""
        return json.loads(self.call(*arguments, "--json", code=code))

    def is_well(self):
        with self.start("doctor") as running:
            running.communicate(timeout=LIMIT_SECONDS)
        return running.returncode == 0

    def processes(self):
        """What runs on the data folder."""
        mark = str(self.folder)
        return [process for process in psutil.process_iter() if mark in _traces(process)]

    def log(self, name):
        return (self.folder / ".callfold" / "logs" / f"{name}.log").read_text()


def _traces(process):
    """The arguments and the data folder by which a process belongs to a desktop."""
    try:
        return " ".join((*process.cmdline(), process.environ().get("CALLFOLD_DATA_DIR", "")))
    except (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
        return ""
