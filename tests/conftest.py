"""Settings of all tests."""

from hypothesis import settings

# A busy machine is no failure: what costs too much is counted in steps or processor time, never by the clock.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
