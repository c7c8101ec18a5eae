"""Checks of the arguments of public Python functions."""
