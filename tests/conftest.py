"""One Hypothesis profile for all: no deadline (a first call compiles), few but repeatable examples."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "flexor",
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("flexor")
