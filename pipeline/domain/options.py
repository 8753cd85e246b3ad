"""A job's options: digested as given, filled with defaults for the work itself."""

from typing import Annotated, Literal

import regex
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pipeline.domain.documents import Id
from pipeline.errors import InvalidRequest, Problem
from pipeline.settings import Profile

#: It goes into a prompt: a few words of letters, and nothing that could say more than a language.
_LANGUAGE = regex.compile(r"(?=.{2,40}\Z)\p{L}[\p{L}\p{M}]*([ -][\p{L}\p{M}\p{N}]+){0,3}")


def _a_language(name: str) -> str:
    if not _LANGUAGE.fullmatch(name):
        raise ValueError("write a language's name or tag, such as German, Brazilian Portuguese or pt-BR")
    return name


Language = Annotated[str, AfterValidator(_a_language)]


class JobOptions(BaseModel):
    """What a caller may ask of a job; `given()` is what was asked, without the defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    concurrency: int = Field(8, ge=1, le=1_000)
    require: Literal["any", "all"] = "any"
    profile: Id = "extractive"
    deadline_seconds: int = Field(86_400, ge=1, le=30 * 86_400)
    max_attempts: int = Field(12, ge=1, le=100)
    language: Language | None = None
    #: what all calls of the job may take together, as the provider counts and as the profile's prices say
    budget_tokens: int | None = Field(None, ge=1, le=2**63 - 1)
    budget_usd: float | None = Field(None, gt=0, allow_inf_nan=False)

    def given(self) -> dict[str, str | int | float]:
        """The options that were set, as they enter the digest."""
        return self.model_dump(exclude_unset=True, exclude_none=True)


def check_budget(options: JobOptions, profile: Profile) -> None:
    """A budget in money needs to know what a call costs. Raises InvalidRequest."""
    if options.budget_usd is not None and profile.prices is None:
        to_do = f"give profile {options.profile!r} its `prices` in CALLFOLD_PROFILES, or name budget_tokens"
        raise InvalidRequest([Problem("option budget_usd", f"nobody knows what a call costs: {to_do}")])


def parse(given: dict[str, str | int | float]) -> JobOptions:
    """Options from untrusted values. Raises InvalidRequest that names each wrong option."""
    try:
        return JobOptions.model_validate(given)
    except ValidationError as error:
        raise InvalidRequest(
            [
                Problem(f"option {'.'.join(map(str, fault['loc']))}", fault["msg"].removeprefix("Value error, "))
                for fault in error.errors()
            ]
        ) from None
