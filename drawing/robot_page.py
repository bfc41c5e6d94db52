"""The motion of a robot as a web page that stands alone: no network at viewing time, a slider and a play button.

Links are drawn by their own boxes, balls, cylinders and capsules; where a robot has meshes, which live in other files,
or no shapes at all, by sticks from joint to joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ProblemError
from ..whole_file import path_of, whole_file
from .triangles import Pose, Surface, ball, joined, rod, surface_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ..dynamics.model import Model

FRAMES_A_SECOND = 25.0
FRAMES = 300  # at most
STICK_COLOUR, JOINT_COLOUR = (0.45, 0.5, 0.55), (0.95, 0.45, 0.1)
PATH_COLOUR = "#0072b2"
CAMERA = {"eye": {"x": 1.1, "y": -1.1, "z": 0.55}, "center": {"x": 0.0, "y": 0.0, "z": -0.08}}


def frames(times: np.ndarray) -> list[int]:
    """Which of the times (n,), s, become frames: all, or those that lie next to an even spacing."""
    count = int(min(len(times), FRAMES, max(2, np.ceil(FRAMES_A_SECOND * (times[-1] - times[0])) + 1)))
    return np.unique(np.round(np.linspace(0, len(times) - 1, count)).astype(int)).tolist()


def write_page(path: str | Path, title: str, model: Model, times: np.ndarray, poses: Sequence[list[Pose]]) -> Path:
    """Write the page: at each of the times (n,), s, the poses of all bodies in the world, the world's own last."""
    parts, leaves = _parts(model, poses[0]), _leaves(model)
    ends = np.array([[at[body][0] @ arm + at[body][1] for body, arm in leaves] for at in poses])
    path = path_of(path, "animate", ProblemError)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure = _figure([joined(parts, at) for at in poses], ends, times, title)
    with whole_file(path) as unfinished:
        figure.write_html(unfinished, include_plotlyjs=True, auto_play=False, full_html=True, default_height="95vh")
    return path


def _parts(model: Model, start: list[Pose]) -> list[tuple[int, Surface]]:
    """What to draw: bodies' numbers (-1: the world) and surfaces in their frames."""
    parts, missing = [], not model.shapes
    for shape in model.shapes:
        frame = model.frame(shape.link)
        surface = surface_of(shape)
        missing |= surface is None
        if surface is not None:
            where = shape.placement.after(frame.placement)
            parts.append((frame.body, surface.moved(np.asarray(where.R), np.asarray(where.p).ravel())))
    return parts + (_sticks(model, start) if missing else [])


def _sticks(model: Model, start: list[Pose]) -> list[tuple[int, Surface]]:
    positions = np.array([p for _, p in start])
    radius = 0.012 * max(float(np.linalg.norm(np.ptp(positions, axis=0))), 0.1)
    sticks = []
    for i, parent in enumerate(model.parents):
        sticks.append((i, ball(1.6 * radius, JOINT_COLOUR)))
        arm = np.asarray(model.placements[i].p).ravel()
        if np.linalg.norm(arm) > radius and parent >= 0:
            sticks.append((parent, rod(radius, arm, STICK_COLOUR)))
    for body, arm in _leaves(model):
        if np.linalg.norm(arm) > radius:
            sticks.append((body, rod(radius, arm, STICK_COLOUR)))
    return sticks


def _leaves(model: Model) -> list[tuple[int, np.ndarray]]:
    """The bodies that carry no other, each with the position of its last link on it."""
    last = {frame.body: np.asarray(frame.placement.p).ravel() for frame in model.frames.values()}
    return [(i, last.get(i, np.zeros(3))) for i in range(model.size) if i not in model.parents]


def _figure(surfaces: list[Surface], ends: np.ndarray, times: np.ndarray, title: str) -> go.Figure:
    import plotly.graph_objects as go

    first = surfaces[0]
    everything = np.vstack([surface.vertices for surface in surfaces])
    low, high = everything.min(axis=0), everything.max(axis=0)
    light = {"ambient": 0.6, "diffuse": 0.7, "specular": 0.2, "roughness": 0.5}
    robot = go.Mesh3d(
        **_xyz(first.vertices), **dict(zip("ijk", first.triangles.T.astype(np.int32))), hoverinfo="skip",
        lighting=light, lightposition={"x": 1e4, "y": -1e4, "z": 2e4},
        facecolor=[f"rgb({r:.0f},{g:.0f},{b:.0f})" for r, g, b in 255 * first.colours],
    )  # fmt: skip
    paths = [
        go.Scatter3d(**_xyz(ends[:, k]), mode="lines", line={"color": PATH_COLOUR, "width": 4}, hoverinfo="skip")
        for k in range(ends.shape[1])
    ]
    pages = [
        go.Frame(name=str(k), data=[go.Mesh3d(**_xyz(surface.vertices))], traces=[0], layout=None)
        for k, surface in enumerate(surfaces)
    ]
    pause = 1e3 * float(times[-1] - times[0]) / max(len(times) - 1, 1)
    figure = go.Figure([robot, _floor(low, high), *paths], frames=pages)
    figure.update_layout(
        title={"text": title, "x": 0.02},
        scene=_scene(low, high),
        showlegend=False,
        margin={"l": 0, "r": 0, "t": 48, "b": 0},
        template="plotly_white",
        updatemenus=[_buttons(pause)],
        sliders=[_slider(times)],
    )
    return figure


def _xyz(points: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip("xyz", np.ascontiguousarray(points.T, dtype=np.float32)))


def _floor(low: np.ndarray, high: np.ndarray) -> go.Mesh3d:
    """A grey square under the robot: at height 0 if that is below it, else at its lowest point."""
    import plotly.graph_objects as go

    middle, half = 0.5 * (low + high)[:2], 0.55 * float(max((high - low)[:2].max(), 0.3))
    corners = middle + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    height = min(0.0, float(low[2])) - 2e-3
    points = np.column_stack([corners, np.full(4, height)])
    return go.Mesh3d(**_xyz(points), i=[0, 0], j=[1, 2], k=[2, 3], color="#e3e6e8", hoverinfo="skip", flatshading=True)


def _scene(low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
    middle = 0.5 * (low + high)
    half = 0.6 * max(float((high - low).max()), 0.3)
    axes = {
        name: {"range": [m - half, m + half], "visible": False} for name, m in zip(("xaxis", "yaxis", "zaxis"), middle)
    }
    return {
        **axes,
        "domain": {"y": [0.1, 1.0]},
        "aspectmode": "cube",
        "camera": CAMERA,
    }


def _buttons(pause: float) -> dict[str, Any]:
    def play(names: list[None] | None, milliseconds: float, mode: str) -> list[Any]:
        frame = {"duration": milliseconds, "redraw": True}
        return [names, {"frame": frame, "transition": {"duration": 0}, "fromcurrent": True, "mode": mode}]

    return {
        "type": "buttons", "direction": "left", "x": 0.02, "y": 0.0, "xanchor": "left", "yanchor": "bottom",
        "pad": {"b": 12}, "showactive": False,
        "buttons": [
            {"label": "▶ play", "method": "animate", "args": play(None, pause, "immediate")},
            {"label": "❚❚ pause", "method": "animate", "args": play([None], 0, "immediate")},
        ],
    }  # fmt: skip


def _slider(times: np.ndarray) -> dict[str, Any]:
    show = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    return {
        "x": 0.2, "y": 0.0, "len": 0.76, "xanchor": "left", "yanchor": "bottom", "pad": {"b": 8},
        "currentvalue": {"prefix": "time ", "suffix": " s", "xanchor": "right"},
        "steps": [{"label": f"{t:.2f}", "method": "animate", "args": [[str(k)], show]} for k, t in enumerate(times)],
    }  # fmt: skip
