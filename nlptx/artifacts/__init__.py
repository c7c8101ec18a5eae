"""Artifacts, the output files of the stages: their .npz container, the checks on reading, and their provenance."""
