"""The house's own rules: what must stay true of the repository as a whole."""

import ast
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipeline.cli import programs
from pipeline.domain import failure, lifecycle
from pipeline.domain.warnings import WARNINGS
from pipeline.ledger import schema
from pipeline.settings import Settings
from pipeline.summarizers.openai_chat import conditions
from pipeline.transcripts.formats import FORMATS
from tasks import queues
from tasks.app import app

REPO = Path(__file__).parents[2]
ROOMS = ("pipeline", "tasks", "exports", "benchmarks")


def modules() -> list[Path]:
    return [path for room in ROOMS for path in sorted((REPO / room).rglob("*.py"))]


def test_there_is_no_alembic_package_that_would_hide_the_library():
    assert not (REPO / "alembic" / "__init__.py").exists()


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(REPO)))
def test_every_module_opens_with_a_docstring_of_one_to_ten_lines_or_a_drawing(path: Path):
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring, "say in a few lines what this module is for"
    prose = [line for line in docstring.splitlines() if line.strip() and not line.startswith("    ")]
    assert len(prose) <= 10


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(REPO)))
def test_no_module_is_named_after_nothing(path: Path):
    assert path.stem not in {"utils", "util", "common", "helpers", "base", "manager", "misc"}


def test_every_setting_is_documented_with_its_variable():
    readme = (REPO / "README.md").read_text()
    for name, field in Settings.model_fields.items():
        variable = field.validation_alias or f"CALLFOLD_{name.upper()}"
        assert f"| `{variable}` |" in readme, f"the README's settings table lacks {variable}"


def test_the_readme_documents_no_setting_that_does_not_exist():
    known = {str(field.validation_alias or f"CALLFOLD_{name.upper()}") for name, field in Settings.model_fields.items()}
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", (REPO / "README.md").read_text(), re.MULTILINE))
    assert documented == known


#: What takes an error code, and as which of its arguments; each may also be given it by keyword.
TAKES_A_CODE = {"ItemFailure": 0, "decide": 0, "Fail": 1, "Outcome": 1, "_sweep": 4}
#: Codes that are no literal where a failure is raised: the script of the fake, checked when it is read, and the table
#: of a provider's conditions, checked below.
CHECKED_ELSEWHERE = {
    ("pipeline/summarizers/scripted.py", "self.code"),
    ("pipeline/summarizers/openai_chat/conditions.py", "code"),
}


def codes(path: Path) -> Iterator[tuple[str, ast.expr]]:
    """Every error code that a module names: who takes it, and the expression."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            place = TAKES_A_CODE.get(name)
            if place is not None and len(node.args) > place:
                yield name, node.args[place]
            yield from ((name, word.value) for word in node.keywords if word.arg == "error_code")
        elif isinstance(node, ast.Assign):
            yield from (("error_code", value) for to, value in assigned(node) if to.endswith("error_code"))


def assigned(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """What goes where, also where several go at once."""
    to, value = node.targets[0], node.value
    if isinstance(to, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from zip(map(ast.unparse, to.elts), value.elts, strict=True)
    else:
        yield ast.unparse(to), value


def test_every_error_code_that_the_code_names_has_a_policy():
    literals = {
        code.value
        for path in modules()
        for _, code in codes(path)
        if isinstance(code, ast.Constant) and code.value is not None
    }
    assert literals >= {"invalid_output", "worker_lost", "internal_error", "cancelled", "expired"}
    assert literals <= set(failure.POLICIES)


def test_a_failure_is_raised_with_a_literal_code_or_with_one_that_was_checked():
    others = {
        (str(path.relative_to(REPO)), ast.unparse(code))
        for path in modules()
        for name, code in codes(path)
        if name == "ItemFailure" and not isinstance(code, ast.Constant)
    }
    assert others == CHECKED_ELSEWHERE


def test_every_condition_of_a_provider_has_a_code_with_a_policy_and_is_met_somewhere():
    assert {code for code, _ in conditions.CONDITIONS.values()} <= set(failure.POLICIES)
    room = REPO / "pipeline" / "summarizers" / "openai_chat"
    table = re.compile(r'^    "\w+": \(', re.MULTILINE)  # where a condition is declared and not met
    written = "".join(table.sub("", path.read_text()) for path in room.glob("*.py"))
    assert {name for name in conditions.CONDITIONS if f'"{name}"' not in written} == set()


def warning_codes(path: Path) -> Iterator[ast.expr]:
    """What a module calls its warnings: `Warning(code=...)`, a cue's `doubt`, and the doubts that a reader counts."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            wanted = "code" if ast.unparse(node.func) == "Warning" else "doubt"
            yield from (word.value for word in node.keywords if word.arg == wanted)
        elif isinstance(node, ast.AugAssign) and ast.unparse(node.target).startswith("info.context["):
            yield from (part.slice for part in ast.walk(node.target) if isinstance(part, ast.Subscript))


def test_every_warning_has_its_sentence_in_the_table():
    named = {code.value for path in modules() for code in warning_codes(path) if isinstance(code, ast.Constant)}
    assert named >= {"lossy_decoding", "unreadable_timing", "text_outside_cues"}
    assert named <= set(WARNINGS)


def test_the_documents_name_every_warning_with_its_sentence_and_no_other():
    rows = (REPO / "docs" / "formats.md").read_text().partition("\n## Warnings\n")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", rows, re.MULTILINE)) == WARNINGS


def test_every_format_is_in_the_table_and_named_in_the_documents():
    folder = REPO / "pipeline" / "transcripts" / "formats"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert {form.NAME for form in FORMATS} == files
    assert files <= set(re.findall(r"`(\w+)`", (REPO / "docs" / "formats.md").read_text()))


def arrows(table: str) -> set[str]:
    """The states that the ledger's statements write: `'running'`, or `%(state)s` where a parameter says it."""
    written = re.compile(rf"UPDATE {table}\s+SET state = (\S+?),?\s")
    return {
        state for path in (REPO / "pipeline" / "ledger").glob("*.py") for state in written.findall(path.read_text())
    }


def test_every_job_state_but_the_first_has_an_arrow_that_leads_there():
    first, *others = lifecycle.JOB_STATES
    assert arrows("jobs") == {f"'{state}'" for state in others}
    assert f"'{first}'" in (REPO / "pipeline" / "ledger" / "submissions.py").read_text()


def test_every_item_state_has_an_arrow_that_leads_there():
    """A settle and a sweep write by a parameter what the rules make of a running item."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    running = lifecycle.Item("running", expires_at=at + timedelta(days=1), attempt_count=1)
    events = (
        lifecycle.Succeed(1, "ref", "hash"),
        lifecycle.Fail(1, "refused", retryable=True),
        lifecycle.Fail(1, "refused", retryable=False),
        lifecycle.Fail(1, "budget_exhausted", retryable=False, skips=True),
    )
    settled = {f"'{lifecycle.apply(running, event, at).item.state}'" for event in events}
    written = arrows("items")
    assert "%(state)s" in written
    assert (written - {"%(state)s"}) | settled == {f"'{state}'" for state in lifecycle.ITEM_STATES}


def test_every_state_is_allowed_by_its_table_and_no_other():
    for table, states in ((schema.items, lifecycle.ITEM_STATES), (schema.jobs, lifecycle.JOB_STATES)):
        (check,) = [c for c in table.constraints if c.name == "state" or str(c.name).endswith("_state_check")]
        assert set(re.findall(r"'(\w+)'", str(check.sqltext))) == set(states)


def test_every_task_has_a_queue_of_its_own_and_is_included():
    app.loader.import_default_modules()
    ours = {name for name in app.tasks if name.startswith("tasks.")}
    assert ours == set(queues.ROUTES)
    assert {f"tasks.{name.split('.')[1]}" for name in app.conf.include} == ours


def test_the_programs_that_run_and_up_start_consume_every_queue():
    assert ",".join(queue.name for queue in queues.CONTROL) == programs.CONTROL_QUEUES
    assert set(queues.ALL) - set(queues.CONTROL) == {queues.PROCESS, queues.ALONE}


def test_the_lock_pins_everything_with_hashes_and_names_no_index():
    lock = (REPO / "requirements.lock").read_text()
    assert "://" not in lock
    assert "--index-url" not in lock
    assert "--find-links" not in lock
    for entry in re.split(r"\n(?=[a-z0-9])", lock.strip()):
        assert "==" in entry.splitlines()[0], entry.splitlines()[0]
        assert "--hash=sha256:" in entry, entry.splitlines()[0]


def test_no_committed_text_names_a_path_of_a_machine_or_a_registry():
    tracked = subprocess.run(["git", "ls-files"], cwd=REPO, capture_output=True, text=True, check=True).stdout
    forbidden = re.compile(r"(/ro" + r"ot/|/home/\w+/|py" + r"pi\.org|files\.python" + r"hosted)")
    for name in tracked.splitlines():
        path = REPO / name
        if path.suffix in {".py", ".md", ".toml", ".lock", ".sh", ""} and path.is_file():
            assert not forbidden.search(path.read_text(errors="replace")), name
