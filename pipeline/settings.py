"""Settings, read once per process: environment first, then `callfold.toml` beside you, then the defaults.

Every field is documented in the README's settings table (a house test holds the two together).
"""

import re
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Annotated, Final, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from pipeline import file_uri
from pipeline.errors import InvalidRequest, NotFound, Problem

CONFIG_FILE = "callfold.toml"


#: As SQLAlchemy reads it, so that a password may hold anything but `@`.
_POSTGRESQL = re.compile(
    r"postgresql(\+psycopg)?://([^:/]*(:[^@]*)?@)?(\[[^/?]+\]|[^/:?@]*)(:\d{0,5})?(/[^?]*)?(\?.*)?", re.DOTALL
)
_REDIS = re.compile(r"(rediss?|redis\+socket|sentinel)://.")
_BROKER = re.compile(rf"(amqps?|pyamqp)://.|{_REDIS.pattern}")


def _known_time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: a part of a name is a folder
        raise ValueError("unknown time zone: write one such as Europe/Berlin") from error
    return name


def _postgresql(url: SecretStr) -> SecretStr:
    """Checked here because what the libraries say of a wrong URL may quote it, password included."""
    if not url.get_secret_value().isprintable() or not _POSTGRESQL.fullmatch(url.get_secret_value()):
        raise ValueError("not a URL of PostgreSQL: write postgresql+psycopg://user:password@host:5432/database")
    return url


def _broker(url: SecretStr) -> SecretStr:
    """Celery takes an empty URL for its own default: a server that nobody named."""
    if not url.get_secret_value().isprintable() or not _BROKER.match(url.get_secret_value()):
        raise ValueError("not a URL of a broker: write amqp://user:password@host:5672// or redis://host:6379/0")
    return url


def _redis(url: SecretStr) -> SecretStr:
    if not url.get_secret_value().isprintable() or not _REDIS.match(url.get_secret_value()):
        raise ValueError("not a URL of Redis: write redis://:password@host:6379/1")
    return url


#: More than our prompts and the marks of any chat template take of a call, in tokens.
PROMPT_TOKENS: Final = 700


class Prices(BaseModel):
    """What a provider takes, in US dollars for a million tokens; cached input costs as other input unless told."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: NonNegativeFloat
    output: NonNegativeFloat
    cached_input: NonNegativeFloat | None = None

    @property
    def cached(self) -> float:
        """Of cached input."""
        return self.input if self.cached_input is None else self.cached_input


class Profile(BaseModel):
    """How documents are summarized: which summarizer, counted with which tokenizer, up to which size and how fast.

    The rates are those that the provider grants; all workers together keep to them. What follows `tokens_per_minute` is
    for `openai_chat`: `context_tokens` holds one call's input and output, `output_tokens` caps its output, and a call
    ends after `call_seconds`, or after `idle_seconds` without a byte. What is None is not sent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    summarizer: str = "extractive"
    encoding: Literal["cl100k_base", "o200k_base"] = "o200k_base"
    max_input_tokens: Annotated[int, Field(ge=1, le=100_000_000)] = 128_000
    requests_per_minute: PositiveFloat | None = None
    tokens_per_minute: PositiveFloat | None = None

    #: its query may hold a secret
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s@]+$")] | None = Field(None, repr=False)
    api_key: SecretStr | None = None
    model: Annotated[str, Field(min_length=1)] | None = None
    context_tokens: Annotated[int, Field(ge=2_000, le=100_000_000)] = 128_000
    output_tokens: Annotated[int, Field(ge=64)] = 1_500
    output_cap: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    structured_output: Literal["json_schema", "json_object_schema", "json_object", "none"] = "json_schema"
    call_seconds: PositiveFloat = 180.0
    connect_seconds: PositiveFloat = 5.0
    idle_seconds: PositiveFloat = 60.0
    prices: Prices | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    service_tier: Annotated[str, Field(min_length=1)] | None = None

    @property
    def usable_tokens(self) -> int:
        """A context but for a fiftieth: a tokenizer that is not quite the server's may count too few."""
        return self.context_tokens - self.context_tokens // 50

    @property
    def address(self) -> str | None:
        """Its URL without a query, which may hold a secret."""
        return self.base_url and self.base_url.partition("?")[0]

    @model_validator(mode="after")
    def _can_be_called(self) -> Self:
        reaches_a_model = self.model or self.base_url or self.api_key or self.prices
        if reaches_a_model and "summarizer" not in self.model_fields_set:
            raise ValueError(
                'says how a model is reached, but not summarizer = "openai_chat": '
                "is it all of the profile, and its name the same everywhere?"
            )
        if self.summarizer != "openai_chat":
            return self
        if self.model is None:
            raise ValueError("openai_chat needs a model: name one")
        longest = (self.usable_tokens - PROMPT_TOKENS) // 6
        if self.output_tokens > longest:
            raise ValueError(
                f"context_tokens must hold six times output_tokens, {PROMPT_TOKENS} for the prompts and a fiftieth to "
                f"spare: lower output_tokens to {longest}, or a long call's parts cannot be united"
            )
        return self


def _told_apart(profiles: dict[str, Profile]) -> dict[str, Profile]:
    """The environment has no case: CALLFOLD_PROFILES__NIGHTLY__API_KEY is of `nightly`, and never of Nightly."""
    if len({name.lower() for name in profiles}) < len(profiles):
        raise ValueError(
            "two names differ in case alone: write a profile's name in lower case, as the environment does"
        )
    return profiles


class Schedule(BaseModel):
    """A nightly batch: the folder to read, when, in which time zone, how accounts are named, where its export goes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: A folder, or the URI of one: a Path would lose a slash of it.
    source: Path | str
    at: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")] = "02:00"
    time_zone: Annotated[str, AfterValidator(_known_time_zone)] = "UTC"
    account: str | None = None
    #: a file:// URI
    deliver_to: Annotated[str, AfterValidator(file_uri.checked)] | None = None
    options: dict[str, str | int | float] = {}


class Settings(BaseSettings):
    """All that can be set. Times are seconds unless the name says otherwise."""

    model_config = SettingsConfigDict(
        frozen=True, env_prefix="CALLFOLD_", env_nested_delimiter="__", extra="forbid", allow_inf_nan=False
    )

    database_url: Annotated[SecretStr, AfterValidator(_postgresql)] | None = Field(
        None, validation_alias="DATABASE_URL"
    )
    broker_url: Annotated[SecretStr, AfterValidator(_broker)] | None = Field(None, validation_alias="BROKER_URL")
    result_url: Annotated[SecretStr, AfterValidator(_redis)] | None = Field(None, validation_alias="RESULT_URL")
    data_dir: Path = Path(".callfold")
    export_dir: Path | None = None
    lease_seconds: PositiveFloat = 60.0
    attempt_seconds: PositiveFloat = 600.0
    process_slots: Annotated[int, Field(ge=1, le=1000)] = 32
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    flower_port: int = 5555
    flower_password: SecretStr | None = None
    #: Script of the `scripted` summarizer.
    script: Path | None = None
    profiles: Annotated[dict[str, Profile], AfterValidator(_told_apart)] = {}
    schedules: dict[str, Schedule] = {}
    #: Who is told that a job has ended: a command, as the list of its words, or a file that gets a line.
    on_complete: Annotated[tuple[str, ...], Field(min_length=1)] | Path | None = None

    @model_validator(mode="after")
    def _a_call_fits_its_attempt(self) -> Self:
        """Else it would be cut there, and time out each time without anybody having said so."""
        for name, profile in self.profiles.items():
            if profile.summarizer == "openai_chat" and profile.call_seconds > self.attempt_seconds:
                raise ValueError(
                    f"profile {name}: its call_seconds, {profile.call_seconds:g}, are above CALLFOLD_ATTEMPT_SECONDS, "
                    f"so its calls would be cut there, at {self.attempt_seconds:g}: lower the one or raise the other"
                )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic-settings calls by keyword
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - see above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, the environment over `callfold.toml`."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml_file=CONFIG_FILE)

    @property
    def exports(self) -> Path:
        """EXPORT_DIR: shared between hosts in production, below the data folder otherwise."""
        return self.export_dir or self.data_dir / "exports"

    @property
    def vocabularies(self) -> Path:
        """Where the tokenizers' vocabularies are laid."""
        return self.data_dir / "tiktoken"

    @property
    def all_profiles(self) -> dict[str, Profile]:
        """Those that were set by name, and `extractive`, which is always there."""
        return {"extractive": Profile()} | self.profiles

    def profile(self, name: str) -> Profile:
        """The profile by its name. Raises NotFound with the known names."""
        known = self.all_profiles
        if name not in known:
            raise NotFound("profile", name, sorted(known))
        return known[name]

    def schedule(self, name: str) -> Schedule:
        """The schedule by its name. Raises NotFound with the known names."""
        if name not in self.schedules:
            raise NotFound("schedule", name, sorted(self.schedules))
        return self.schedules[name]


_PLACE: Final = re.compile(r"at line \d+, column \d+|at end of document")


def load() -> Settings:
    """Read the settings. Raises InvalidRequest that names each wrong field, never its value."""
    try:
        return Settings()
    except ValidationError as error:
        raise InvalidRequest([_problem(fault) for fault in error.errors()]) from None
    except SettingsError as error:
        raise InvalidRequest([Problem("settings", f"{error}: write JSON")]) from None
    except (TOMLDecodeError, UnicodeDecodeError) as error:
        # The rest of what it says may quote a value.
        place = _PLACE.search(str(error))
        where = f" {place[0]}" if place else ""
        raise InvalidRequest([Problem(CONFIG_FILE, f"not valid TOML in UTF-8{where}: correct it")]) from None
    except OSError as error:
        raise InvalidRequest([Problem(CONFIG_FILE, f"cannot be read: {error.strerror}")]) from None


def _problem(fault: ErrorDetails) -> Problem:
    return Problem(".".join(map(str, fault["loc"])) or "settings", fault["msg"].removeprefix("Value error, "))
