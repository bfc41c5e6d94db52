"""Hypothesis draws the same examples in every run, so that a failure can be seen again. Under sanitizers the core is
the one that was built for them, in workers too.
"""

from hypothesis import HealthCheck, settings
from support.sanitizers import SANITIZED

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck)
)
settings.load_profile("repeatable")

if SANITIZED:
    from trisweep import native

    assert "site/trisweep" in native.core.__file__, f"{native.core.__file__} is not the core under sanitizers"
