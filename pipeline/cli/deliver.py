"""`callfold deliver`: a job's export to where an importer looks for it, with a receipt."""

from dataclasses import asdict
from typing import Annotated

import typer

from exports.deliver import Delivered, check_request
from exports.deliver import deliver as deliver_export
from pipeline.cli import arguments, door, screen
from pipeline.ledger import views

To = Annotated[
    str, typer.Option("--to", metavar="URI", help="file:///absolute/folder; the export gets a folder in it.")
]
Key = Annotated[
    str | None,
    typer.Option(metavar="KEY", help="The delivery's key, else made of export and URI.", show_default=False),
]


def deliver(job: arguments.JobName, to: To, key: Key = None, as_json: arguments.Json = False) -> None:
    """Deliver a job's export and write the receipt; the same key gives the same receipt and writes nothing twice."""
    settings = door.settings()
    check_request(to, key)
    with door.ledger(settings) as ledger:
        with ledger.statement() as tx:
            job_id = views.find_job(tx, job)
        done = deliver_export(ledger, settings.exports, job_id, to, key)
    if as_json:
        screen.answer({"reason": done.reason, **asdict(done.receipt), "folder": str(done.folder)})
        return
    _print(done)


def _print(done: Delivered) -> None:
    receipt = done.receipt
    before = "" if done.reason == "delivered" else f" before, at {receipt.delivered_at:%Y-%m-%d %H:%M:%S} UTC"
    screen.line(f"delivered{before}: export {receipt.export_id}, key {receipt.key}")
    screen.line(f"{done.folder}")
