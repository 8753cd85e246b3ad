"""What the command line says without any server: wrong input, exit codes, JSON, and what it costs to start."""

import json
import subprocess
import sys

import pytest
from exports_samples import completed_job, freeze
from typer.testing import CliRunner

from pipeline import logs
from pipeline.cli.main import COMMANDS, app
from pipeline.settings import load

#: None of them may be loaded before a command needs it; each costs a second.
HEAVY = {"celery", "sklearn", "alembic", "sqlalchemy", "networkx"}


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    for name in ("DATABASE_URL", "BROKER_URL", "RESULT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(logs, "configure", lambda _: None)  # the runner's streams are closed after each call
    monkeypatch.chdir(tmp_path)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_help_names_every_command():
    shown = call("--help")
    assert shown.exit_code == 0
    assert all(f" {command} " in shown.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    assert call(command, "--help").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "No such command 'nonsense'."),
        (["run"], "Missing argument 'PATH...'."),
        (["status"], "Missing argument 'JOB'."),
        (["retry"], "Missing argument 'JOB'."),
        (["run", ".", "--budget-tokens", "0"], "option budget_tokens: Input should be greater than or equal to 1"),
        (["run", ".", "--budget-usd", "1"], "option budget_usd: nobody knows what a call costs: give profile"),
        (["retry", "night", "--concurrency", "many"], "Invalid value for '--concurrency'"),
        (["retry", "night", "--strict"], "--strict: waits for the end of the job: give --out, too"),
        (["run", ".", "--require", "some"], "Invalid value for '--require'"),
        (["run", ".", "--concurrency", "0"], "option concurrency: "),
        (["run", ".", "--deadline", "soon"], "Invalid value for '--deadline'"),
        (["run", ".", "--profile", "nobody"], "no profile 'nobody'; known: extractive"),
        (["run", ".", "--language", "<German>"], "option language: write a language's name or tag, "),
        (["summarize", "call.txt"], "call.txt: "),
        (["summarize", "call.txt", "--within", "0"], "Invalid value for '--within'"),
        (["profiles", "check", "nobody"], "no profile 'nobody'; known: extractive"),
        (["estimate", ".", "--profile", "nobody"], "no profile 'nobody'; known: extractive"),
        (["tune", "nobody", "."], "no profile 'nobody'; known: extractive"),
        (["tune", "extractive", ".", "--up-to", "33"], "--up-to: a worker has fewer slots: "),
        (["tune", "extractive", ".", "--budget-usd", "1"], "option budget_usd: nobody knows what a call costs: "),
        (["resume", "nobody"], "no profile 'nobody'; known: extractive"),
        (["deliver", "night"], "Missing option '--to'."),
        (["deliver", "night", "--to", "s3://bucket"], "to: only file:// is delivered to: "),
        (["deliver", "night", "--to", "crm"], "to: only file:// is delivered to: "),
        (["deliver", "night", "--to", "file://crm/in"], "to: a file:// URI names no other host: "),
        (["deliver", "night", "--to", "file:///crm", "--key", ""], "request: a key has 1 to 512 "),
        (["nightly", "moon"], "no schedule 'moon'"),
        (["nightly", "moon", "--date", "2026-13-01"], "Invalid value for '--date'"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(arguments, said):
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"callfold: {said}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["run", "--concurrency", "x", "."], ["nightly", "moon"], ["status"]])
def test_with_json_an_error_is_the_one_value_on_standard_output(arguments):
    result = call(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (2, "")
    assert json.loads(result.stdout).keys() == {"error", "message", "problems"}


@pytest.mark.parametrize("wrong", ["many-secrets", "0", "1001"])
def test_a_wrong_setting_is_named_without_its_value(monkeypatch, wrong):
    monkeypatch.setenv("CALLFOLD_PROCESS_SLOTS", wrong)
    result = call("jobs")
    assert result.exit_code == 2
    assert "process_slots" in result.stderr
    assert "secrets" not in result.stderr


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hunter2",
        "mysql://u:hunter2@h/d",
        "postgresql+asyncpg://u:hunter2@h/d",
        "postgresql://u:hunter2@h:port/d",
        "postgresql://u:hunter2\udcff@h/d",
        "sqlite:///hunter2",
    ],
)
def test_a_database_url_that_is_none_of_postgresql_is_refused_unseen(url, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", url)
    result = call("jobs")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("callfold: DATABASE_URL: not a URL of PostgreSQL: ")
    assert "hunter2" not in result.stderr


@pytest.mark.parametrize("name", ["BROKER_URL", "RESULT_URL"])
@pytest.mark.parametrize("url", ["", "hunter2", "redis://", "junk://:hunter2@h", "redis://h\x1b"])
def test_a_server_url_that_names_none_is_refused_unseen(name, url, monkeypatch):
    monkeypatch.setenv(name, url)
    result = call("jobs")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"callfold: {name}: not a URL of ")
    assert "hunter2" not in result.stderr


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://",
        "postgresql:///d?host=/run/postgresql",
        "postgresql+psycopg://u:p%40s:/?#[]s@db.example:5432/d?sslmode=require",
        "postgresql://postgres@[::1]:5432/d",
    ],
)
def test_every_url_of_postgresql_is_a_setting(url, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", url)
    assert load().database_url.get_secret_value() == url


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a = [", "callfold.toml: not valid TOML"),
        (b"\xff", "callfold.toml: not valid TOML"),
        (b'[schedules.x]\nsource = "."\ntime_zone = "Europe"', "schedules.x.time_zone: unknown time zone"),
        (b'[schedules.x]\nsource = "."\ntime_zone = "../../etc/passwd"', "schedules.x.time_zone: unknown time zone"),
    ],
)
def test_a_settings_file_that_cannot_be_read_is_one_line(content, said, tmp_path):
    (tmp_path / "callfold.toml").write_bytes(content)
    result = call("jobs")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"callfold: {said}")


def test_a_setting_that_must_be_json_says_so_without_its_value(monkeypatch):
    monkeypatch.setenv("CALLFOLD_PROFILES", "{hunter2")
    result = call("jobs")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "profiles" in result.stderr
    assert "hunter2" not in result.stderr


def test_a_bundle_among_the_transcripts_is_refused_before_any_work(tmp_path):
    (tmp_path / "call.txt").write_text("Ann: Hello.")
    result = call("run", ".")
    assert result.exit_code == 2
    assert "out lies inside ." in result.stderr
    assert not (tmp_path / ".callfold").exists()


def test_what_the_system_refuses_is_one_line_with_its_place():
    result = call("run", "call.txt", "--out", "o" * 300)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.endswith(": File name too long\n")


def test_a_bug_is_one_line_that_quotes_nobody(monkeypatch):
    def bug(_):
        raise ValueError("what a customer said")

    monkeypatch.setattr("pipeline.cli.run.door.settings", lambda: bug(None))
    result = call("run", "call.txt")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("callfold: internal error, ValueError at ")
    assert "customer" not in result.stderr


def test_a_question_makes_no_ledger(tmp_path):
    result = call("jobs")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "no ledger in .callfold yet" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["submit", "."], ["nightly", "calls"], ["retry", "night"]])
def test_work_is_refused_where_no_stack_is_up_to_take_it(arguments, tmp_path):
    (tmp_path / "callfold.toml").write_text('[schedules.calls]\nsource = "."\n')
    result = call(*arguments)
    assert result.exit_code == 1
    assert "`callfold up`" in result.stderr


def test_doctor_works_with_nothing_running_and_says_what_to_do():
    result = call("doctor")
    assert result.exit_code == 1
    assert "`callfold up` starts it" in result.stdout
    assert [finding["part"] for finding in json.loads(call("doctor", "--json").stdout)] == ["stack"]


def test_down_with_nothing_running_says_so():
    result = call("down")
    assert (result.exit_code, result.stdout) == (0, "nothing was running\n")


def test_an_out_folder_with_other_things_is_refused_before_any_work(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    (tmp_path / "call.txt").write_text("Ann: Hello.")
    result = call("run", "call.txt", "--out", "out")
    assert result.exit_code == 2
    assert "thesis.txt" in result.stderr
    assert not (tmp_path / ".callfold").exists()


def test_a_retry_into_a_folder_with_other_things_is_refused_before_any_work(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    result = call("retry", "night", "--out", "out")
    assert (result.exit_code, "thesis.txt" in result.stderr) == (2, True)
    assert not (tmp_path / ".callfold").exists()


def test_verify_needs_the_bundle_alone(tmp_path):
    freeze(tmp_path / "bundle", completed_job())
    result = call("verify", "bundle")
    assert result.exit_code == 0
    assert "is whole" in result.stdout
    assert json.loads(call("verify", "bundle", "--json").stdout).keys() == {"rows", "actions", "quotes"}


def test_verify_lists_what_is_wrong_line_by_line_and_exits_with_1(tmp_path):
    freeze(tmp_path / "bundle", completed_job())
    (tmp_path / "bundle" / "report.md").unlink()
    (tmp_path / "bundle" / "actions.ndjson").write_text("")
    result = call("verify", "bundle")
    assert result.exit_code == 1
    assert result.stderr.count("\n") >= 2
    assert all(line.startswith("callfold: ") for line in result.stderr.splitlines())
    assert json.loads(call("verify", "bundle", "--json").stdout)["error"] == "bundle_invalid"


def test_the_command_line_starts_without_the_heavy_libraries():
    loaded = "import sys, pipeline.cli.main; print(*{name.partition('.')[0] for name in sys.modules})"
    names = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert HEAVY.isdisjoint(names)


def test_a_run_that_finds_its_job_done_never_loads_celery():
    loaded = "import sys, pipeline.cli.run; print(*{name.partition('.')[0] for name in sys.modules})"
    names = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert {"celery", "sklearn"}.isdisjoint(names)


def test_one_document_is_summarized_at_once_and_nothing_is_kept(tmp_path):
    (tmp_path / "call.txt").write_text("Ann: Hello.\nBea: I will send you the order form by Friday.\nAnn: Good.\n")
    shown = call("summarize", "call.txt", "--account", "acme")
    assert shown.exit_code == 0
    assert "follow_up, owner Bea: " in shown.stdout
    assert "  turn 1: I will send you the order form by Friday." in shown.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["call.txt"]

    [action] = json.loads(call("summarize", "call.txt", "--account", "acme", "--json").stdout)["actions"]
    assert (action["disposition"], action["evidence"][0]["turn"]) == ("proposed", 1)


def test_a_document_without_a_result_is_exit_code_4(tmp_path):
    (tmp_path / "dropped.txt").write_text("")
    result = call("summarize", "dropped.txt", "--account", "acme")
    assert (result.exit_code, result.stderr) == (4, "")
    assert result.stdout.startswith("dropped.txt: empty_input: ")
    assert json.loads(call("summarize", "dropped.txt", "--account", "acme", "--json").stdout)["state"] == "failed"


def test_several_documents_are_for_a_job(tmp_path):
    (tmp_path / "calls").mkdir()
    for name in ("a", "b"):
        (tmp_path / "calls" / f"{name}.txt").write_text("Ann: Hello.")
    result = call("summarize", "calls")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "`callfold run`" in result.stderr


def test_summarizing_one_document_loads_no_ledger():
    loaded = "import sys, pipeline.cli.summarize; print(*{name.partition('.')[0] for name in sys.modules})"
    names = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert {"celery", "alembic", "sklearn"}.isdisjoint(names)


CONFIGURED = """
[profiles.nightly]
summarizer = "openai_chat"
model = "small-1"
base_url = "http://127.0.0.1:9/v1?tenant=hunter2"
"""


def test_profiles_are_listed_without_their_keys(tmp_path, monkeypatch):
    (tmp_path / "callfold.toml").write_text(CONFIGURED)
    monkeypatch.setenv("CALLFOLD_PROFILES__NIGHTLY__API_KEY", "sk-hunter2")
    shown, listed = call("profiles"), call("profiles", "--json")
    assert (shown.exit_code, listed.exit_code) == (0, 0)
    assert "hunter2" not in shown.stdout + listed.stdout
    found = {profile["profile"]: profile for profile in json.loads(listed.stdout)}
    assert found.keys() == {"extractive", "nightly"}
    assert (found["nightly"]["model"], found["nightly"]["has_key"]) == ("small-1", True)
    assert not found["extractive"]["has_key"]


def test_a_profile_that_does_not_work_is_one_line_and_exit_code_1(tmp_path):
    (tmp_path / "callfold.toml").write_text(CONFIGURED)
    result = call("profiles", "check")
    assert (result.exit_code, result.stderr) == (1, "")
    assert [line.split(": ")[:2] for line in result.stdout.splitlines()] == [["extractive", "ok"], ["nightly", "WRONG"]]
    [checked] = json.loads(call("profiles", "check", "nightly", "--json").stdout)
    assert (checked["profile"], checked["ok"]) == ("nightly", False)
    assert call("profiles", "check", "extractive").exit_code == 0


def test_profiles_whose_names_differ_in_case_alone_are_refused(tmp_path, monkeypatch):
    """Else the key of the environment, which has no case, would make a second profile and leave the first without."""
    (tmp_path / "callfold.toml").write_text(CONFIGURED.replace("nightly", "Nightly"))
    monkeypatch.setenv("CALLFOLD_PROFILES__NIGHTLY__API_KEY", "sk-hunter2")
    result = call("profiles")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("callfold: profiles.nightly: says how a model is reached, but not summarizer = ")
    monkeypatch.setenv("CALLFOLD_PROFILES__NIGHTLY__SUMMARIZER", "openai_chat")
    monkeypatch.setenv("CALLFOLD_PROFILES__NIGHTLY__MODEL", "m")
    assert call("profiles").stderr.startswith("callfold: profiles: two names differ in case alone: ")


def test_a_key_alone_in_the_environment_makes_no_profile_that_calls_nobody(monkeypatch):
    monkeypatch.setenv("CALLFOLD_PROFILES__NIGHTLY__API_KEY", "sk-hunter2")
    result = call("profiles", "check", "nightly")
    assert result.exit_code == 2
    assert "profiles.nightly" in result.stderr
    assert "hunter2" not in result.stderr


def test_broken_toml_is_named_with_its_place(tmp_path):
    (tmp_path / "callfold.toml").write_text("[profiles.nightly]\nsummarizer = openai_chat\n")
    result = call("profiles")
    assert result.exit_code == 2
    assert "callfold.toml: not valid TOML in UTF-8 at line 2, column 14: correct it" in result.stderr


def test_an_estimate_needs_no_ledger_and_makes_none(tmp_path):
    (tmp_path / "calls" / "acme").mkdir(parents=True)
    (tmp_path / "calls" / "acme" / "call.txt").write_text("Ann: Good morning.")
    (tmp_path / "calls" / "acme" / "dropped.txt").write_text("")
    result = call("estimate", "calls")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "documents: 1, and 1 that fail before any call: 1 empty_input"
    assert "time: unknown: no call's latency is known, give --latency" in result.stdout
    found = json.loads(call("estimate", "calls", "--latency", "2.5", "--json").stdout)
    assert (found["documents"], found["faults"], found["time"]["expected"]) == (1, {"empty_input": 1}, 2.5)
    assert [path.name for path in tmp_path.iterdir()] == ["calls"]


def test_an_estimate_refuses_what_submit_refuses(tmp_path):
    line = '{"document_id": "c-1", "account_id": "acme", "transcript": "Ann: Hello."}\n'
    (tmp_path / "night.ndjson").write_text(line * 2)
    result = call("estimate", "night.ndjson")
    assert result.exit_code == 2
    assert "document_id is the same as at " in result.stderr


def test_tuning_needs_documents_that_hold_words(tmp_path):
    (tmp_path / "call.txt").write_text("")
    result = call("tune", "extractive", "call.txt")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "hand in at least one that holds words" in result.stderr


def test_what_needs_a_job_is_exit_code_5(tmp_path):
    (tmp_path / "callfold.toml").write_text(CONFIGURED + "context_tokens = 4000\noutput_tokens = 400\n")
    lines = (f"Ann: We talked about scanner {number} for a while.\n" for number in range(2_000))
    (tmp_path / "call.txt").write_text("".join(lines))
    result = call("summarize", "call.txt", "--profile", "nightly")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (5, "", 1)
    assert result.stderr.endswith(": use a job, with `callfold run` or `callfold submit`\n")
    assert json.loads(call("summarize", "call.txt", "--profile", "nightly", "--json").stdout)["error"] == "use_a_job"
