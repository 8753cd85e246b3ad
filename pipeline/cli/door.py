"""How a command reaches the service: its settings, its ledger, and a stack that takes work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from pipeline import logs
from pipeline.domain.results import JobView
from pipeline.errors import StackError
from pipeline.ledger import views
from pipeline.ledger.connection import Ledger
from pipeline.settings import Settings, load
from pipeline.stack import Stack, Urls, urls_of
from pipeline.stack.urls import configured


def settings() -> Settings:
    """The settings; from here on only warnings reach the terminal, for it belongs to the command's answer."""
    loaded = load()
    level = loaded.log_level if loaded.log_level in {"DEBUG", "ERROR"} else "WARNING"
    logs.configure(loaded.model_copy(update={"log_level": level}))
    return loaded


def has_ledger(settings: Settings) -> bool:
    """Whether there is one to ask: configured, or embedded and made before."""
    return settings.database_url is not None or (settings.data_dir / "postgres").exists()


@contextmanager
def ledger(settings: Settings) -> Iterator[Ledger]:
    """The ledger, to read or to change by hand. The embedded one is started for as long as this lasts, if need be.

    Raises StackError where there is none yet: a question does not make one.
    """
    if settings.database_url is not None:
        yield Ledger(settings.database_url.get_secret_value())
        return
    if not has_ledger(settings):
        raise StackError(f"no ledger in {settings.data_dir} yet: `callfold run PATH` makes one, or set DATABASE_URL")
    with Stack.start(settings) as stack:
        yield Ledger(stack.urls.database)


def changed(job: str, change: Callable[[Ledger, UUID], object]) -> JobView:
    """Change a job by hand, and see what became of it.

    What follows is not sent: reconcile asks for it within seconds, wherever workers run.
    """
    loaded = settings()
    with ledger(loaded) as opened:
        with opened.statement() as tx:
            job_id = views.find_job(tx, job)
        change(opened, job_id)
        with opened.statement() as tx:
            return views.job(tx, job_id, loaded.lease_seconds)


def working_stack(settings: Settings) -> Urls:
    """Where a stack that takes work is reached: three configured URLs, or what `up` runs. Raises StackError."""
    given = configured(settings)
    if len(given) == len(Urls.__slots__):
        return Urls(**given)
    running = urls_of(settings)
    if running is None:
        raise StackError(
            "no stack is up to take it: `callfold up`, or set DATABASE_URL, BROKER_URL and RESULT_URL; "
            "`run`, and `retry` with --out, need none"
        )
    running.check_agree_with(given)
    return running
