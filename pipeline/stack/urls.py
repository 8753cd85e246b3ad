"""Where the three parts of the stack are reached."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from pipeline.errors import StackError
from pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Urls:
    """SQLAlchemy and Celery URLs. They hold passwords, so they never show themselves in a repr."""

    database: str = field(repr=False)
    broker: str = field(repr=False)
    result: str = field(repr=False)

    def as_env(self) -> dict[str, str]:
        """The variables by which a child process finds the same stack."""
        return {_variable(part): url for part, url in self.as_parts().items()}

    def as_parts(self) -> dict[str, str]:
        """The URLs by part: database, broker, result."""
        return asdict(self)

    def check_agree_with(self, configured: Mapping[str, str]) -> None:
        """Raises StackError when this running stack uses another URL than one that is configured."""
        differing = [_variable(part) for part, url in configured.items() if getattr(self, part) != url]
        if differing:
            raise StackError(
                f"the stack that runs on this data folder uses another {' and '.join(differing)}: "
                "stop it, unset the variable, or choose another CALLFOLD_DATA_DIR"
            )


def configured(settings: Settings) -> dict[str, str]:
    """The URLs that were set from outside, by part; a part that has one is not started here."""
    urls = {"database": settings.database_url, "broker": settings.broker_url, "result": settings.result_url}
    return {part: url.get_secret_value() for part, url in urls.items() if url is not None}


def _variable(part: str) -> str:
    return f"{part.upper()}_URL"
