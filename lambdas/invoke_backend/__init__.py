"""Hands a job to an HTTP backend, with the task token it answers with."""
