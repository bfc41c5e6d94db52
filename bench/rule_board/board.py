"""The board: rules beside each other in solved problems, iterations and time; its table and its picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib
import numpy as np

from .trial import DEFAULT, FIXED, IPOPT, OWN, Outcome, Trial

matplotlib.use("Agg")
import matplotlib.pyplot as plt


class Board:
    """Outcomes by what was tried: `starts` are pairs of a motion and a guess from which the default was asked to find
    it, `asked` tells which of the rules were (rules, starts).
    """

    def __init__(self, outcomes: Iterable[Outcome], rules: Sequence[str], names: Sequence[str]):
        self.of = {outcome.trial: outcome for outcome in outcomes}
        self.rules = [rule for rule in rules if any(trial.rule == rule for trial in self.of)]
        first = DEFAULT if DEFAULT in self.rules else self.rules[0]
        self.starts = [trial[:2] for trial in self.of if trial.rule == first and trial.motion in names]
        self.starts.sort(key=lambda at: names.index(at[0]))
        shape = len(self.rules), len(self.starts)
        self.asked, self.solved = np.zeros(shape, bool), np.zeros(shape, bool)
        self.iterations, self.seconds = np.zeros(shape), np.zeros(shape)
        for i, rule in enumerate(self.rules):
            for k, at in enumerate(self.starts):
                found = self.of.get(Trial(*at, rule))
                if found is not None:
                    self.asked[i, k], self.solved[i, k] = True, found.solved
                    self.iterations[i, k], self.seconds[i, k] = max(1, found.iterations), found.seconds

    def lines(self) -> list[str]:
        """A row a rule."""
        head = ["rule", "solved, of", "iterations, all", "where the default and it solve: default", "it", "ratio",
                "solved by the default there", "geometric mean, beside the best of the nine",
                "worst motion beside that", "s"]  # fmt: skip
        rows = [head, ["---"] * len(head)]
        fixed = [i for i, rule in enumerate(self.rules) if rule in FIXED]
        costs = np.where(self.solved, self.iterations, np.inf)
        best = costs[fixed].min(axis=0) if fixed else costs.min(axis=0)
        default = self.rules.index(DEFAULT) if DEFAULT in self.rules else 0
        for i, rule in enumerate(self.rules):
            both = self.solved[i] & self.solved[default]
            ours, theirs = (int(self.iterations[j, both].sum()) for j in (default, i))
            good = self.solved[i] & np.isfinite(best)
            beside = np.log(self.iterations[i, good] / best[good])
            mean = float(np.exp(beside.mean())) if good.any() else float("nan")
            worst, where = self._worst(i, best)
            rows.append([
                rule, f"{self.solved[i].sum()} of {self.asked[i].sum()}", f"{int(self.iterations[i].sum()):,}",
                f"{ours:,}", f"{theirs:,}", f"{ours / max(1, theirs):.2f}",
                f"{(self.solved[default] & self.asked[i]).sum()}", f"{mean:.2f}", f"{worst:.2f} ({where})",
                f"{self.seconds[i].sum():.1f}",
            ])  # fmt: skip
        return ["| " + " | ".join(row) + " |" for row in rows]

    def _worst(self, i: int, best: np.ndarray) -> tuple[float, str]:
        """The motion on which a rule takes the most iterations, as a multiple of the best of the nine."""
        ratios = {}
        for name in self.names:
            chosen = [k for k, at in enumerate(self.starts) if at[0] == name]
            good = [k for k in chosen if self.solved[i, k] and np.isfinite(best[k])]
            if good:
                ratios[name] = float(self.iterations[i, good].sum() / best[good].sum())
        if not ratios:
            return float("nan"), "none"
        name = max(ratios, key=ratios.__getitem__)
        return ratios[name], name

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.starts))

    def by_motion(self) -> list[str]:
        """A row a motion: solved and iterations by every rule, a public problem's with its one guess."""
        head = ["motion", "guesses", *self.rules]
        rows = [head, ["---"] * len(head)]
        for name in self.names:
            chosen = [k for k, at in enumerate(self.starts) if at[0] == name]
            cells = [self._cell(i, chosen) for i in range(len(self.rules))]
            rows.append([name, str(len(chosen)), *cells])
        return ["| " + " | ".join(row) + " |" for row in rows]

    def _cell(self, i: int, chosen: list[int]) -> str:
        """Iterations, and what is short of all: trials not made, solves that failed."""
        asked, solved = int(self.asked[i, chosen].sum()), int(self.solved[i, chosen].sum())
        if asked == 0:
            return ""
        of = "" if asked == len(chosen) else f" of {asked}"
        short = "" if solved == len(chosen) else f" ({solved}{of} solved)"
        return f"{int(self.iterations[i, chosen].sum()):,}{short}"

    def draw(self, path: Path) -> None:
        """Performance profiles (Dolan and More 2002) of iterations, from the starts that all rules were asked for; the
        guesses of a motion share its weight.
        """
        whole = np.flatnonzero(self.asked.all(axis=0))
        names = [self.starts[k][0] for k in whole]
        weights = np.array([1 / names.count(name) for name in names]) / len(set(names))
        costs = np.where(self.solved, self.iterations, np.inf)[:, whole]
        best = costs.min(axis=0)
        figure, panel = plt.subplots(figsize=(7, 4.5), layout="constrained")
        for rule, row in zip(self.rules, costs):
            ratio = np.where(np.isfinite(row), row / np.where(np.isfinite(best), best, 1.0), np.inf)
            order = [k for k in np.argsort(ratio) if np.isfinite(ratio[k])]
            strong = rule in (DEFAULT, IPOPT)
            ends = np.r_[1.0, ratio[order], 20.0], np.r_[0.0, np.cumsum(weights[order]), weights[order].sum()]
            panel.step(*ends, where="post", label=rule, lw=2.4 if strong else 1.0, color="k" if rule == IPOPT else None)
        panel.set(xscale="log", xlim=(1, 20), ylim=(0, 1.02), xlabel="factor of the fewest iterations")
        panel.set(ylabel="share of the motions")
        panel.grid(alpha=0.3)
        panel.legend(loc="lower right", fontsize=8)
        figure.savefig(path, dpi=130)
        plt.close(figure)


def part(board: Board, public: bool, outcomes: Iterable[Outcome]) -> Board:
    """Only the public problems, or only the motions."""
    names = [name for name in board.names if any(at == (name, OWN) for at in board.starts) == public]
    return Board(outcomes, board.rules, names)
