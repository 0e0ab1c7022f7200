"""The command `onelane`."""
