"""What a program shows while it runs and at its end: a progress bar and a table."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

BAR_WIDTH = 32
REDRAW_SECONDS = 0.1


@dataclass
class ProgressBar:
    """One line on standard error, redrawn on a terminal, printed every quarter otherwise."""

    label: str
    total: int
    done: int = 0
    _drawn_at: float = field(default=0.0, init=False)
    _printed_quarters: int = field(default=0, init=False)

    def advance(self, steps: int = 1) -> None:
        self.set(self.done + steps)

    def set(self, done: int) -> None:
        self.done = min(done, self.total)
        complete = self.done == self.total
        if sys.stderr.isatty():
            now = time.monotonic()
            if complete or now - self._drawn_at >= REDRAW_SECONDS:
                self._drawn_at = now
                filled = BAR_WIDTH * self.done // max(1, self.total)
                bar = "#" * filled + "-" * (BAR_WIDTH - filled)
                ending = "\n" if complete else ""
                self._write(f"\r{self.label} [{bar}] {self.done}/{self.total}{ending}")
            return
        quarters = 4 * self.done // max(1, self.total)
        if quarters > self._printed_quarters:
            self._printed_quarters = quarters
            self._write(f"{self.label} {self.done}/{self.total}\n")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def format_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell, the first to the left, the others to the right."""
    columns = [list(column) for column in zip(headings, *rows, strict=True)]
    widths = [max(len(cell) for cell in column) for column in columns]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        others = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return "  ".join([first, *others]).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(headings), rule, *(line(row) for row in rows)])
