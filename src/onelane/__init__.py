"""OneLane: one backend, one job at a time, in order."""

__version__ = "0.1.0"
