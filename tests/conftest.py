"""Hypothesis draws the same examples in every run, so that a failure can be seen again."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck)
)
settings.load_profile("repeatable")
