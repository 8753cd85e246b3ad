"""Settings, read once per process: environment first, then `callfold.toml` beside you, then the defaults.

Every field is documented in the README's settings table (a house test holds the two together).
"""

from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationError,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from pipeline.errors import InvalidRequest, NotFound, Problem

CONFIG_FILE = "callfold.toml"


def _known_time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError(f"unknown time zone {name!r}") from error
    return name


class Profile(BaseModel):
    """How documents are summarized: which summarizer, counted with which tokenizer, up to which size."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    summarizer: str = "extractive"
    encoding: Literal["cl100k_base", "o200k_base"] = "o200k_base"
    max_input_tokens: PositiveInt = 128_000


class Schedule(BaseModel):
    """A nightly batch: the folder to read, when, in which time zone, and how accounts are named."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Path
    at: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")] = "02:00"
    time_zone: Annotated[str, AfterValidator(_known_time_zone)] = "UTC"
    account: str | None = None
    options: dict[str, str | int | float] = {}


class Settings(BaseSettings):
    """All that can be set. Times are seconds unless the name says otherwise."""

    model_config = SettingsConfigDict(frozen=True, env_prefix="CALLFOLD_", env_nested_delimiter="__", extra="forbid")

    database_url: SecretStr | None = Field(None, validation_alias="DATABASE_URL")
    broker_url: SecretStr | None = Field(None, validation_alias="BROKER_URL")
    result_url: SecretStr | None = Field(None, validation_alias="RESULT_URL")
    data_dir: Path = Path(".callfold")
    export_dir: Path | None = None
    lease_seconds: PositiveFloat = 60.0
    attempt_seconds: PositiveFloat = 600.0
    process_slots: PositiveInt = 32
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    flower_port: int = 5555
    flower_password: SecretStr | None = None
    #: Script of the `scripted` summarizer.
    script: Path | None = None
    profiles: dict[str, Profile] = {}
    schedules: dict[str, Schedule] = {}

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

    def profile(self, name: str) -> Profile:
        """The profile by its name; `extractive` is always there. Raises NotFound with the known names."""
        known = {"extractive": Profile()} | self.profiles
        if name not in known:
            raise NotFound("profile", name, sorted(known))
        return known[name]

    def schedule(self, name: str) -> Schedule:
        """The schedule by its name. Raises NotFound with the known names."""
        if name not in self.schedules:
            raise NotFound("schedule", name, sorted(self.schedules))
        return self.schedules[name]


def load() -> Settings:
    """Read the settings. Raises InvalidRequest that names each wrong field, never its value."""
    try:
        return Settings()
    except ValidationError as error:
        raise InvalidRequest(
            [Problem(".".join(map(str, fault["loc"])) or "settings", fault["msg"]) for fault in error.errors()]
        ) from None
