"""The elements of a URDF file by the standard library's XML reader, with numbers that are checked as they are read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from ...errors import ModelError
from ...whole_file import is_file
from ..algebra.spatial import from_rpy

XACRO = "http://www.ros.org/wiki/xacro"


@dataclass(frozen=True)
class Element:
    """An element, and what it is called in a sentence: "link 'arm'", or "link 'arm': <origin>" for one inside it."""

    source: ElementTree.Element
    called: str

    def __getitem__(self, tag: str) -> Element | None:
        """The first element of that tag inside this one."""
        found = self.source.find(tag)
        return None if found is None else self._inside(found)

    def all(self, tag: str) -> Iterator[Element]:
        """Every element of that tag inside this one."""
        return map(self._inside, self.source.findall(tag))

    def needed(self, tag: str) -> Element:
        """The element of that tag inside this one, which must be there."""
        found = self[tag]
        if found is None:
            raise ModelError(f"{self.called} has no <{tag}>, expected one")
        return found

    def text(self, attribute: str, default: str | None = None) -> str:
        """An attribute; one without a default must be there."""
        value = self.source.get(attribute, default)
        if value is None or not (value := value.strip()):
            raise ModelError(f"{self.called} has no {attribute}, expected one")
        return value

    def numbers(self, attribute: str, count: int, default: str | None = None, finite: bool = True) -> np.ndarray:
        """An attribute of `count` numbers."""
        return np.array(self._numbers(attribute, count, default, finite))

    def number(self, attribute: str, default: str | None = None, finite: bool = True) -> float:
        """An attribute of one number."""
        return self._numbers(attribute, 1, default, finite)[0]

    def _numbers(self, attribute: str, count: int, default: str | None, finite: bool) -> list[float]:
        words = self.text(attribute, default)
        try:
            values = [float(word) for word in words.split()]
        except ValueError:
            values = []
        if len(values) != count or (finite and not all(map(math.isfinite, values))):
            many = f"{count} {'finite ' * finite}numbers" if count > 1 else f"a {'finite ' * finite}number"
            raise ModelError(f"{self.called} has {attribute}='{words}', expected {many}")
        return values

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3, 3) and position (3,), m, of the <origin> inside this element; without one, none."""
        origin = self["origin"]
        if origin is None:
            return np.eye(3), np.zeros(3)
        return from_rpy(origin.numbers("rpy", 3, "0 0 0")), origin.numbers("xyz", 3, "0 0 0")

    def _inside(self, source: ElementTree.Element) -> Element:
        return Element(source, f"{self.called}: <{source.tag}>")


def robot_of(path: Path) -> Element:
    """The <robot> of a file."""
    if not is_file(path):
        raise ModelError(f"there is no file '{path}', expected a URDF")
    try:
        source = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError, ValueError, LookupError) as error:
        more = "; xacro files are turned into URDF by the program xacro" if "unbound prefix" in str(error) else ""
        raise ModelError(f"'{path}' cannot be read as URDF: {error}, expected XML{more}") from error
    if source.tag != "robot":
        raise ModelError(f"'{path}' cannot be read as URDF: its root is <{source.tag}>, expected <robot>")
    if any(XACRO in element.tag for element in source.iter() if isinstance(element.tag, str)):
        raise ModelError(f"'{path}' has xacro elements, expected URDF: run it through the program xacro")
    return Element(source, f"'{path}': <robot>")


def named(robot: Element, tag: str) -> dict[str, Element]:
    """The robot's elements of a tag by their names, in the order of the file."""
    found: dict[str, Element] = {}
    for element in robot.all(tag):
        name = element.text("name")
        if name in found:
            raise ModelError(f"{tag} '{name}' is there twice, expected one of that name")
        found[name] = Element(element.source, f"{tag} '{name}'")
    return found
