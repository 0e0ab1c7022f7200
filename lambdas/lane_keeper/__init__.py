"""Keeps lanes moving: wakes, recovers, sweeps. Idempotent: it may run at any moment, twice, or late."""
