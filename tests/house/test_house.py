"""The house's own rules: what must stay true of the repository as a whole."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from pipeline.cli import programs
from pipeline.domain import failure, lifecycle
from pipeline.ledger import schema
from pipeline.settings import Settings
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


def test_every_error_code_that_the_code_names_has_a_policy():
    raised = re.compile(r'ItemFailure\(\s*"([a-z_]+)"')
    named = {code for path in modules() for code in raised.findall(path.read_text())}
    assert named
    assert named <= set(failure.POLICIES)


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
    assert {queue.name for queue in queues.ALL} - {queue.name for queue in queues.CONTROL} == {queues.PROCESS.name}


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
