"""`cached_property` for threads and forks: a value that is computed when first asked for, and kept.

Before Python 3.12 that of `functools` holds one lock for all objects of a class while it computes: two threads may wait
for each other for ever, and the child of a fork for a thread that it does not have. Since then it holds none, and of
two threads that compute at once each may go on with a value of its own. Here nobody waits, and the value that is there
first is everybody's.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:
        def __init__(self, compute):
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.name, self.compute(instance))


__all__ = ["cached_property"]
