"""`python -m benchmarks [--quick] [--only NAME …] [--pairs N]`: measure, and print one table twice."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace

from rich.console import Console

from benchmarks.bed import Bed, bed
from benchmarks.fairness import fairness
from benchmarks.freezing import freezing
from benchmarks.machine import machine
from benchmarks.memory import memory
from benchmarks.modelling import model
from benchmarks.pairs import Finding
from benchmarks.reading import reading
from benchmarks.scale import FULL, QUICK, Scale
from benchmarks.snapshot import snapshot
from benchmarks.submitting import submitting
from benchmarks.table import markdown, rich_table
from benchmarks.throughput import cost, throughput
from benchmarks.waiting import waiting
from pipeline import logs
from pipeline.settings import load

MEASUREMENTS: dict[str, Callable[[Bed, Scale], Iterator[Finding]]] = {
    "throughput": throughput,
    "cost": cost,
    "memory": memory,
    "submit": submitting,
    "freeze": freezing,
    "waiting": waiting,
    "fairness": fairness,
    "snapshot": snapshot,
    "model": model,
    "read": reading,
}


def main() -> None:
    """Run the chosen measurements in order on a stack of their own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only show that everything runs")
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, default=list(MEASUREMENTS), metavar="NAME")
    parser.add_argument("--pairs", type=int, help="how often each pair is run")
    chosen = parser.parse_args()
    scale = QUICK if chosen.quick else FULL
    if chosen.pairs:
        scale = replace(scale, pairs=chosen.pairs)
    logs.configure(load())
    findings: list[Finding] = []
    console = Console(width=180)
    with bed() as ready:
        described = machine(ready)
        for name in chosen.only:
            for finding in MEASUREMENTS[name](ready, scale):
                findings.append(finding)
                console.print(rich_table([finding]))
    console.print(rich_table(findings))
    print(described, markdown(findings), sep="\n\n")


if __name__ == "__main__":
    main()
