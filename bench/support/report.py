"""A report that is seen as it grows, and kept for a file."""

from pathlib import Path


class Report:
    """Called with a line, prints it and keeps it."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, line: str = "") -> None:
        print(line, flush=True)
        self.lines.append(line)

    def write(self, path: Path) -> None:
        """All lines so far."""
        path.write_text("\n".join(self.lines) + "\n")
