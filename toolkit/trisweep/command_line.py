"""The command `trisweep`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from . import __version__
from .errors import TrisweepError


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 solved, 1 not solved, 2 asked for something that is not there."""
    parser = argparse.ArgumentParser(prog="trisweep", description="Trajectory optimisation for robots.")
    parser.add_argument("--version", action="version", version=f"trisweep {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demonstration = commands.add_parser("demo", help="move a robot arm from pose to pose, and draw it")
    demonstration.add_argument("--output", type=Path, default=Path("out"), help="folder of the files (default: out)")
    demonstration.set_defaults(run=lambda options: demo(options.output))
    commands.add_parser("list", help="name the ready problems").set_defaults(run=lambda options: list_problems())
    ready = commands.add_parser("solve", help="solve a ready problem")
    ready.add_argument("name", help="its name; `trisweep list` shows them")
    ready.add_argument("--plot", type=Path, metavar="FILE", help="draw the solution to an image file")
    ready.add_argument("--log", action="store_true", help="print the table of iterations")
    ready.add_argument("--many", type=Path, metavar="FILE.csv", help="solve once for each row of a table of parameters")
    ready.add_argument("--out", type=Path, metavar="FILE", help="of --many: all answers (.npz), or a table (.csv)")
    ready.add_argument("--resume", type=Path, metavar="FOLDER", help="of --many: keep answers there, and go on")
    ready.set_defaults(run=solve)
    benches = commands.add_parser("bench", help="run a benchmark").add_subparsers(dest="bench", required=True)
    arms = benches.add_parser("arms", help="plan the motions of MotionBenchMaker's problems (fetched by pip)")
    arms.add_argument("--robot", default="panda", help="panda (default), ur5 or fetch")
    arms.add_argument("--set", nargs="*", dest="sets", metavar="SET", help="such as table_pick (default: all)")
    arms.add_argument("--count", type=int, default=100, help="problems of each set (default: 100, all)")
    arms.add_argument("--csv", type=Path, metavar="FILE", help="write a line a problem")
    arms.add_argument("--plot", type=Path, metavar="FILE", help="draw success over time, and durations")
    arms.add_argument("--jobs", type=int, default=1, help="processes that share the sets (default: 1)")
    arms.set_defaults(run=bench_arms)
    options = parser.parse_args(arguments)
    try:
        code = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has enough, as in `trisweep list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (TrisweepError, OSError) as error:
        print(f"trisweep: {error}", file=sys.stderr)
        return 2
    return code


def demo(output: Path) -> int:
    """Solve the reach of the iiwa, say how it went, draw it and set it in motion."""
    from .problems import task

    solution = task("iiwa_reach").solve()
    solution.log()
    print(f"\n{solution}")
    print(f"  check        worst KKT residual {solution.check().worst:.1e}, computed again by CasADi alone")
    picture, page = output / "demo.png", output / "demo.html"
    solution.plot(picture)
    solution.animate(page)
    print(f"\npicture: {picture}\nmotion:  {page}")
    return 0 if solution.solved else 1


def bench_arms(options: argparse.Namespace) -> int:
    """Plan the problems of the sets, and say how it went."""
    from .drawing.figures import check_ending
    from .problems.planning.board import SETS, board, to_draw, write_csv

    _check_folders(csv=options.csv, plot=options.plot)
    if options.plot is not None:
        check_ending(options.plot)
    entries = board(options.robot, options.sets or SETS, options.count, jobs=options.jobs)
    if options.csv is not None:
        write_csv(options.csv, entries)
    if options.plot is not None:
        from .drawing.planning_plot import plot

        plot(*to_draw(entries), options.plot)
    return 0 if all(entry.solved for entry in entries) else 1


def list_problems() -> int:
    """Print the ready problems, a line each."""
    from .problems import names, summary

    width = max(map(len, names()))
    for name in names():
        print(f"{name:<{width}}  {summary(name)}")
    return 0


def solve(options: argparse.Namespace) -> int:
    """Solve a ready problem, once or for many parameters, and say how it went."""
    from .drawing.figures import check_ending
    from .problems import names

    if options.name not in names():
        raise TrisweepError(f"there is no ready problem '{options.name}', expected one of {', '.join(names())}")
    _check_folders(out=options.out)
    if options.plot is not None:
        check_ending(options.plot)
    if options.many is None:
        return solve_one(options.name, options.plot, options.log)
    return solve_table(options.name, options.many, options.out, options.resume, options.plot)


def _check_folders(**files: Path | None) -> None:
    """What cannot be written is said before anything is solved."""
    for name, path in files.items():
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise TrisweepError(f"--{name} is '{path}', expected a file in a folder that is there")


def solve_one(name: str, picture: Path | None, log: bool) -> int:
    """Solve a ready problem as it is."""
    from .problems import task

    solution = task(name).solve()
    if log:
        solution.log()
        print()
    print(solution)
    if picture is not None:
        solution.plot(picture)
        print(f"picture: {picture}")
    return 0 if solution.solved else 1


def solve_table(name: str, many: Path, out: Path | None, resume: Path | None, picture: Path | None) -> int:
    """Solve a ready problem for each row of a table of its parameters."""
    from .ocp import solve_many
    from .ocp.many.table import read_parameters, write_table
    from .problems import task

    ready = task(name)
    solver = ready.build()
    given: dict[str, Any] = {**ready.parameters, **read_parameters(many, solver.layout)}
    solutions = solve_many(solver, ready.guess, resume=resume, **given)
    print(solutions)
    if out is not None:
        print(f"answers: {write_table(solutions, out) if out.suffix == '.csv' else solutions.save(out)}")
    if picture is not None:
        solutions.plot(picture)
        print(f"picture: {picture}")
    return 0 if solutions.solved.all() else 1
