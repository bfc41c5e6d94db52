"""A robot as a table that a person reads: a joint a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .free.energy import total_mass

if TYPE_CHECKING:
    from .model import Model

HEADER = ("joint", "kind", "carries", "on", "q", "position", "velocity", "effort", "mass")


def summary(model: Model) -> str:
    """Joints with their rows of q, limits as [lower, upper] and +-, and the mass of the body that each carries, kg."""
    carried: list[list[str]] = [[] for _ in model.joints]
    for link, frame in model.frames.items():
        if frame.body >= 0:
            carried[frame.body].append(link)
    lines = [HEADER]
    for i, joint in enumerate(model.joints):
        parent, q, v = model.parents[i], model.q_slices[i], model.v_slices[i]
        more = f" and {len(carried[i]) - 1} more" if len(carried[i]) > 1 else ""
        lines.append(
            (
                joint.name,
                type(joint).__name__.lower(),
                f"{carried[i][0]}{more}" if carried[i] else "-",
                carried[parent][0] if parent >= 0 and carried[parent] else "world",
                f"{q.start}" if q.stop == q.start + 1 else f"{q.start}:{q.stop}",
                _ranges(model.q_lower[q], model.q_upper[q]),
                _sizes(model.v_limit[v]),
                _sizes(model.effort_limit[v]),
                _mass(model.inertias[i].m),
            )
        )
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADER))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    title = f"{model.name}: {len(model.joints)} joints, nq = {model.nq}, nv = {model.nv}, {_mass(total_mass(model))} kg"
    return "\n".join([title, *table])


def _ranges(lower: np.ndarray, upper: np.ndarray) -> str:
    return " ".join(
        "free" if np.isinf(low) and np.isinf(high) else f"[{low:.4g}, {high:.4g}]"
        for low, high in dict.fromkeys(zip(lower.tolist(), upper.tolist()))
    )


def _sizes(limits: np.ndarray) -> str:
    return " ".join("free" if np.isinf(limit) else f"{limit:.4g}" for limit in dict.fromkeys(limits.tolist()))


def _mass(m: object) -> str:
    return f"{m:.4g}" if isinstance(m, (int, float)) else "symbols"
