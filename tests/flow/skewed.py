"""The workers' app on machines whose clocks are wrong: the documents' worker ten minutes ahead, the others behind."""

import sys
import time
from datetime import datetime, timedelta

SKEW = timedelta(minutes=10) if any(word.startswith("process-") for word in sys.argv) else timedelta(minutes=-10)

_time = time.time
time.time = lambda: _time() + SKEW.total_seconds()


class _Datetime(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) + SKEW


from exports import freeze  # noqa: E402 - after the clock was moved
from tasks import nightly  # noqa: E402 - see above
from tasks.app import app  # noqa: E402, F401 - this module is an app

freeze.datetime = nightly.datetime = _Datetime
