"""Performance profiles (Dolan and More 2002): the share of problems that a solver solves within a factor of the best.

    r(p, s) = t(p, s) / min over s' of t(p, s'),   rho_s(tau) = share of p with r(p, s) <= tau

A problem counts once: its instances share its weight, so that a hundred of a family do not outvote the others.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import matplotlib
import numpy as np

from .outcome import SOLVERS
from .table import NAMES, Board

matplotlib.use("Agg")
import matplotlib.pyplot as plt

MEASURES = {"seconds": "time by the solver's own clock", "iterations": "iterations"}


def profile(board: Board, measure: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Of every solver: factors tau, rising, and the share of problems solved within each."""
    counts = Counter(name for name, _ in board.instances)
    weights = np.array([1 / counts[name] for name, _ in board.instances]) / len(counts)
    cost = np.full((len(SOLVERS), len(board.instances)), np.inf)
    for i, solver in enumerate(SOLVERS):
        outcomes = [board.get(solver, at) for at in board.instances]
        cost[i] = [max(getattr(one, measure), 1e-9) if one.solved else np.inf for one in outcomes]
    best = cost.min(axis=0)
    ratio = np.where(np.isfinite(cost), cost / np.where(np.isfinite(best), best, 1.0), np.inf)
    found = {}
    for solver, row in zip(SOLVERS, ratio):
        order = np.argsort(row)
        order = order[np.isfinite(row[order])]
        found[solver] = row[order], np.cumsum(weights[order])
    return found


def draw(board: Board, path: Path) -> None:
    """A picture with a panel for each measure."""
    figure, panels = plt.subplots(1, len(MEASURES), figsize=(11, 4.2), sharey=True, layout="constrained")
    for panel, (measure, words) in zip(panels, MEASURES.items()):
        curves = profile(board, measure)
        right = 1.3 * max([1.0, *(factor[-1] for factor, _ in curves.values() if len(factor))])
        for solver, (factor, share) in curves.items():
            ends = np.r_[1.0, factor, right], np.r_[0.0, share, share[-1] if len(share) else 0.0]
            panel.step(*ends, where="post", label=NAMES[solver])
        panel.set(xscale="log", xlim=(1.0, right), ylim=(0, 1.02), xlabel=f"factor of the least {words}")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("share of the problems")
    panels[0].legend(loc="lower right")
    figure.savefig(path, dpi=130)
    plt.close(figure)
