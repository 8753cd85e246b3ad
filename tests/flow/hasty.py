"""The workers' app, but its beat asks every half second for what is due."""

from tasks import schedules

schedules.EVERY_SECONDS = 0.5

from tasks.app import app  # noqa: E402, F401 - the app reads the schedules once
