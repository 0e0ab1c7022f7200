"""The words and rules of a lane, shared by the Lambda functions, the SDK and the command line.

Nothing here imports anything but the standard library.
"""
