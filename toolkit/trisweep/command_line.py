"""The command `trisweep`."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

from . import __version__


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="trisweep", description="Trajectory optimisation for robots.")
    parser.add_argument("--version", action="version", version=f"trisweep {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demonstration = commands.add_parser("demo", help="solve a small problem and draw it")
    demonstration.add_argument("--output", type=Path, default=Path("out"), help="folder of the picture (default: out)")
    demonstration.set_defaults(run=lambda options: demo(options.output))
    options = parser.parse_args(arguments)
    return options.run(options)


def demo(output: Path) -> int:
    """Solve the slalom, say how it went and draw it."""
    from .native import level
    from .problems.slalom import plot, slalom

    problem = slalom()
    begin = perf_counter()
    solution = problem.solve()
    milliseconds = 1e3 * (perf_counter() - begin)
    print(f"{problem}")
    print(f"{solution}")
    print(f"one factorization and one solve in {milliseconds:.1f} ms, Python included (core: {level})")
    if solution.status != "solved":
        return 1
    output.mkdir(parents=True, exist_ok=True)
    picture = output / "demo.png"
    plot(solution, picture)
    print(f"picture: {picture}")
    return 0
