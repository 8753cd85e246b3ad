"""Beat's calendar: once a minute it asks whether a schedule's run is due.

A crontab in local time skips or repeats a run when the clocks change, and one that a stopped beat missed never comes
(`docs/celery.md`). Asking is idempotent: the key of a run is its schedule and business date, unique in the ledger. So
beat needs no file of its own, and a question that nobody heard within the minute is not asked again later.
"""

from typing import Any, Final

from pipeline.settings import Settings

EVERY_SECONDS: Final = 60.0


def beat_schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """One entry per schedule in the settings."""
    return {
        f"nightly {name}": {
            "task": "tasks.nightly",
            "schedule": EVERY_SECONDS,
            "args": (name,),
            "options": {"expires": EVERY_SECONDS},
        }
        for name in settings.schedules
    }
