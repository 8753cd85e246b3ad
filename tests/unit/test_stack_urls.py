"""Which URLs a stack and its programs use."""

import pytest

from pipeline.errors import StackError
from pipeline.settings import Settings
from pipeline.stack.urls import Urls, configured

URLS = Urls("postgresql://u:secret@h/d", "redis://:secret@h/0", "redis://:secret@h/1")


def test_only_what_is_set_counts_as_configured(monkeypatch):
    for name in ("DATABASE_URL", "BROKER_URL", "RESULT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BROKER_URL", "amqp://elsewhere")
    assert configured(Settings()) == {"broker": "amqp://elsewhere"}


def test_programs_find_the_stack_by_the_variables_of_the_settings():
    assert URLS.as_env() == {
        "DATABASE_URL": URLS.database,
        "BROKER_URL": URLS.broker,
        "RESULT_URL": URLS.result,
    }


def test_passwords_do_not_show_in_a_repr():
    assert "secret" not in repr(URLS)


def test_a_running_stack_on_another_database_is_refused_without_showing_either_url():
    URLS.check_agree_with({"broker": URLS.broker})
    with pytest.raises(StackError, match="another DATABASE_URL and RESULT_URL") as caught:
        URLS.check_agree_with({"database": "postgresql://other-secret", "result": "redis://other-secret"})
    assert "secret" not in str(caught.value)
