"""The background process of `callfold up`: it owns the stack until `callfold down`."""

import sys

from pipeline import logs
from pipeline.cli import failures, flower, programs
from pipeline.errors import CallfoldError, StackError
from pipeline.ledger.migrate import migrate
from pipeline.settings import load
from pipeline.stack import Stack


def main() -> None:
    """Servers, migrations, programs; then wait for the signal to stop."""
    try:
        _serve()
    except CallfoldError as error:
        failures.report(error, as_json=False)
        sys.exit(failures.exit_code(error))


def _serve() -> None:
    settings = load()
    logs.configure(settings)
    with Stack.start(settings) as stack:
        if not stack.owned:
            raise StackError("another process has started the stack meanwhile")
        migrate(stack.urls.database)
        stack.run((*programs.workers(settings), *programs.companions(), flower.program(settings)))
        stack.wait()


if __name__ == "__main__":
    main()
