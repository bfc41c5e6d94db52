"""A solver or a controller to take along: a folder of C++ and object code with a C interface, without Python."""

from .folder import export

__all__ = ["export"]
