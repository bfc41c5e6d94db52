"""Plain data from a file as the records it was: every field there, of its type, and none besides."""

from __future__ import annotations

import enum
import types
import typing
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any


class SchemaError(ValueError):
    """Where plain data is not what a record wants, and what it is instead."""


def typed(kind: Any, value: Any, where: str, most: int = 2**31) -> Any:
    """`value`, out of JSON, as an object of `kind`: a record, a tuple or list, a text, a number within `most`."""
    if is_dataclass(kind):
        return _record(kind, value, where, most)
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = _hints(kind)
        return kind(*_several([hints[name] for name in kind._fields], value, where, most))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        if value not in [each.value for each in kind]:
            raise SchemaError(f"{where} is {_short(value)}, expected a {kind.__name__}")
        return kind(value)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        rest = [each for each in arguments if each is not type(None)]
        if value is None and len(rest) < len(arguments):
            return None
        return typed(rest[0], value, where, most)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return tuple(_several(arguments, value, where, most))
    if origin in (tuple, list):
        if not isinstance(value, list):
            raise SchemaError(f"{where} is {_short(value)}, expected a list")
        return origin(typed(arguments[0], each, f"{where}[{i}]", most) for i, each in enumerate(value))
    if kind is float and type(value) in (int, float):
        return _float(value, where)
    if type(value) is not kind:
        raise SchemaError(f"{where} is {_short(value)}, expected {kind.__name__}")
    if kind is int and not -most <= value <= most:
        raise SchemaError(f"{where} is {_short(value)}, expected at most {most}")
    return value


_hints = cache(typing.get_type_hints)


def _record(kind: Any, value: Any, where: str, most: int) -> Any:
    if not isinstance(value, dict):
        raise SchemaError(f"{where} is {_short(value)}, expected a record")
    hints, wanted = _hints(kind), {f.name: f for f in fields(kind) if f.init}
    for name in value:
        if name not in wanted:
            raise SchemaError(f"{where} has '{_short(name)}', which it should not")
    for name, part in wanted.items():
        if name not in value and part.default is MISSING and part.default_factory is MISSING:
            raise SchemaError(f"{where} has no '{name}'")
    return kind(**{name: typed(hints[name], each, f"{where}.{name}", most) for name, each in value.items()})


def _several(kinds: Any, value: Any, where: str, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != len(kinds):
        raise SchemaError(f"{where} is {_short(value)}, expected a list of {len(kinds)}")
    return [typed(kind, each, f"{where}[{i}]", most) for i, (kind, each) in enumerate(zip(kinds, value))]


def _float(value: int | float, where: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise SchemaError(f"{where} is {_short(value)}, expected a number") from None


def _short(value: object) -> str:
    text = f"a {type(value).__name__}" if isinstance(value, (dict, list)) else repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
