"""The one table, for a terminal and as markdown."""

from collections.abc import Iterable

from rich.table import Table

from benchmarks.pairs import Finding, Spread

_HEADS = ("what", "Callfold", "unit", "against", "its value", "ratio", "aim", "met")


def rich_table(findings: Iterable[Finding]) -> Table:
    """For people at a terminal."""
    table = Table(*_HEADS, title="Callfold against the bare thing: median (least to greatest)")
    for finding in findings:
        table.add_row(*_cells(finding))
    return table


def markdown(findings: Iterable[Finding]) -> str:
    """For docs/performance.md."""
    rows = [_HEADS, ("---",) * len(_HEADS), *map(_cells, findings)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cells(finding: Finding) -> tuple[str, ...]:
    return (
        finding.what,
        _spread(finding.ours),
        finding.unit,
        finding.against,
        _spread(finding.other),
        _spread(finding.ratio),
        str(finding.aim),
        "yes" if finding.aim.is_met(finding.ratio.middle) else "no",
    )


def _spread(spread: Spread) -> str:
    if spread.low == spread.high:
        return _number(spread.middle)
    return f"{_number(spread.middle)} ({_number(spread.low)} to {_number(spread.high)})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
