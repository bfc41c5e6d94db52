"""Hostile inputs: values that are not what was asked for, and bytes that are not what was written."""

import decimal
import fractions
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from trisweep.errors import TrisweepError

MORE = int(os.environ.get("TRISWEEP_FUZZ", "1"))  # `make fuzz` asks for ten times as many inputs


class Strange:
    """An object that knows no arithmetic, no comparison, and no words."""

    __hash__ = None

    def __repr__(self):
        return "a strange thing"

    def __eq__(self, other):
        raise ArithmeticError("not comparable")


def junk() -> list[object]:
    numbers = [0, 1, -1, 2, 3, 7, 2**31, 2**70, -(2**70), 10**400, 0.0, -0.0, 1e-320, 1e308, -1e308]
    numbers += [float("nan"), float("inf"), -float("inf"), 1j, True, False, np.float32(0.5), np.int8(3), np.bool_(True)]
    numbers += [decimal.Decimal("0.1"), fractions.Fraction(1, 3), np.datetime64("2026-01-01"), np.float64("nan")]
    texts = [
        "",
        "a",
        "x",
        "u",
        "end",
        "start",
        "all",
        "\0",
        "ü" * 3,
        "x" * 1000,
        "1",
        "nan",
        "../x",
        b"x",
        b"",
        Path("x"),
    ]
    arrays = [[], [[]], [1, 2], [1.0, None], [[1], [1, 2]], [["a"]], (1, 2, 3), {}, {"x": 1}, {1: 2}, set(), range(3)]
    arrays += [
        np.zeros(0),
        np.ones(1),
        np.ones(2),
        np.ones((2, 1)),
        np.ones((1, 2)),
        np.ones((3, 3)),
        np.ones((2, 2, 2)),
    ]
    arrays += [
        np.full(2, np.nan),
        np.full(2, np.inf),
        np.array("a"),
        np.array([1j, 2]),
        np.array([None, 1], dtype=object),
    ]
    arrays += [np.zeros((0, 3)), np.array([10**400], dtype=object), np.ma.masked_array([1.0, 2.0], [True, False])]
    symbols = [ca.SX.sym("foreign"), ca.SX.sym("foreign", 2), ca.SX.sym("foreign", 2, 2), ca.MX.sym("m"), ca.DM(1)]
    symbols += [ca.DM.nan(2, 1), ca.SX(0), ca.SX(2, 2), ca.SX.nan(2, 1), ca.SX.inf(), ca.DM([1, 2]), ca.SX.sym("e", 0)]
    objects = [
        None,
        Ellipsis,
        NotImplemented,
        object(),
        int,
        print,
        lambda *_: None,
        slice(None),
        slice(5, 2),
        slice("a"),
    ]
    objects += [
        slice(None, None, -1),
        slice(None, None, 0),
        (i for i in range(3)),
        Strange(),
        ValueError("x"),
        np,
        iter("ab"),
    ]
    return [*numbers, *texts, *arrays, *symbols, *objects]


def picker(share: float = 0.4, symbols: bool = True) -> Callable[..., Any]:
    """A function that picks one of the good values it is given, or junk: always, or in so large a share of all calls.

    symbols: whether CasADi's are among the junk.
    """
    values = [value for value in junk() if symbols or "casadi" not in type(value).__module__]

    def pick(rng: np.random.Generator, *good: object, share: float = share) -> Any:
        if good and rng.random() > share:
            return good[int(rng.integers(len(good)))]
        return values[int(rng.integers(len(values)))]

    return pick


def fuzz(count: int, seed: int, attempt: Callable[[np.random.Generator], object]) -> None:
    """`count` attempts, each with a generator of its own; whatever is raised is a sentence of ours."""
    raw: list[str] = []
    for i in range(count * MORE):
        try:
            attempt(np.random.default_rng([seed, i]))
        except TrisweepError as error:
            if len(str(error)) < 15:
                raw.append(f"{i}: '{error}' is no sentence")
        except Exception as error:
            place = error.__traceback__
            while place.tb_next is not None:
                place = place.tb_next
            where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
            raw.append(f"{i}: {type(error).__name__} at {where}: {str(error)[:150]}")
    if raw:
        kinds = sorted({line.split(": ", 1)[1] for line in raw})
        pytest.fail(f"{len(raw)} raw exceptions, such as\n" + "\n".join([*raw[:5], "...", *kinds[:40]]))


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """The content with a few bytes changed, cut, repeated or put in."""
    result = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(0, len(result) + 1))
        length = int(rng.integers(1, 40))
        match int(rng.integers(0, 6)):
            case 0 if result:
                result[at % len(result)] ^= 1 << int(rng.integers(0, 8))
            case 1:
                del result[at : at + length]
            case 2:
                result[at:at] = rng.bytes(length)
            case 3:
                del result[at:]
            case 4:
                result[at : at + length] = bytes(length)
            case _:
                result[at:at] = result[at : at + length]
    return bytes(result)


VALUES = (b"nan", b"inf", b"-1", b"0 0 0", b"1e400", b"", b"x", b"0 0", b"world", b"1 2 3 4")


def damaged_xml(content: bytes, rng: np.random.Generator, values: Sequence[bytes] = VALUES) -> bytes:
    """Damaged anywhere, or with the value of one attribute replaced."""
    if rng.random() < 0.5:
        return damaged(content, rng)
    quotes = [i for i, byte in enumerate(content) if byte == ord('"')]
    at = 2 * int(rng.integers(len(quotes) // 2))
    return content[: quotes[at] + 1] + values[int(rng.integers(len(values)))] + content[quotes[at + 1] :]


def moves(model: Any) -> None:
    """What was read, if anything was, has finite accelerations at rest."""
    rest = np.zeros(model.nv)
    assert np.isfinite(model.forward_dynamics(model.neutral(), rest, rest)).all()


def changes(plain: object, rng: np.random.Generator) -> Iterator[object]:
    """Plain data out of JSON with one of its values replaced, for ever."""
    import copy

    values = [
        None,
        0,
        -1,
        1,
        2,
        10**6,
        2**31,
        2**70,
        -(2**70),
        1.5,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "x",
        True,
        [],
        {},
    ]
    values += [[0], [1, 2], ["x"], {"x": 1}, [[0, 1]], [[]], "solved", [2**40], list(range(100))]
    while True:
        changed = copy.deepcopy(plain)
        place = changed
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = keys[int(rng.integers(len(keys)))]
            if isinstance(place[key], (dict, list)) and place[key] and rng.random() < 0.85:
                place = place[key]
                continue
            if rng.random() < 0.15:
                del place[key]
            else:
                place[key] = values[int(rng.integers(len(values)))]
            break
        yield changed
