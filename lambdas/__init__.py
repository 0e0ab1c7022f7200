"""The Lambda functions, one folder each."""
