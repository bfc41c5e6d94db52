"""What the checker must know of the public names: `make types` reads this file, no test runs it.

An ignored error that is none is an error (`warn_unused_ignores`), so each of these lines tells that the name before the
call is the class or function itself and not Any.
"""

import trisweep as ts
from trisweep.native import core
from typing_extensions import assert_type

assert_type(ts.Problem(steps=3), ts.Problem)
ts.Problem(nonsense=3)  # type: ignore[call-arg]
ts.Settings(nonsense=3)  # type: ignore[call-arg]
ts.robot(nonsense=3)  # type: ignore[call-arg]
ts.Free("soon")  # type: ignore[arg-type]
assert_type(ts.Problem(steps=3).build().solve(), ts.Solution)
assert_type(ts.Problem(steps=3).build().solve().solved, bool)
core.Settings(nonsense=3)  # type: ignore[call-arg]
assert_type(core.Settings().tolerance, float)
