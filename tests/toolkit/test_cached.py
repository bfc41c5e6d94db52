"""`cached_property`: computed once, without a lock, and the first value is everybody's."""

import threading
from dataclasses import dataclass

import pytest
from trisweep.cached import cached_property


class Counted:
    def __init__(self):
        self.count = 0

    @cached_property
    def value(self):
        """What is counted."""
        self.count += 1
        return object()


@dataclass(frozen=True)
class Frozen:
    size: int

    @cached_property
    def square(self):
        return self.size**2


def test_it_is_computed_once_for_each_object():
    a, b = Counted(), Counted()
    assert a.value is a.value and a.value is not b.value
    assert a.count == 1
    assert Counted.value.__doc__ == "What is counted."
    assert Frozen(3).square == 9


def test_what_raises_is_computed_again():
    class Once:
        tried = False

        @cached_property
        def value(self):
            if not self.tried:
                self.tried = True
                raise ValueError
            return 1

    once = Once()
    with pytest.raises(ValueError):
        _ = once.value
    assert once.value == 1


def test_two_threads_amid_it_do_not_wait_for_each_other_and_see_the_same():
    both_inside = threading.Barrier(2, timeout=60)

    class Pair:
        @cached_property
        def own(self):
            both_inside.wait()
            return object()

    pair, seen = Pair(), []
    threads = [threading.Thread(target=lambda: seen.append(pair.own)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 2 and seen[0] is seen[1] is pair.own
