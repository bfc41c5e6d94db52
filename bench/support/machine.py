"""What every benchmark says of itself: machine, versions, command, date."""

import datetime
import importlib.metadata
import platform
import sys
from pathlib import Path


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def describe(*packages: str) -> str:
    """A few lines to print above a table: the packages are those whose versions matter to it."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("trisweep", *packages))
    return (
        f"{datetime.date.today()}  {processor()}, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}\n{versions}\ncommand: python {' '.join(sys.argv)}\n"
    )
