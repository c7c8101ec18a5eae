"""The .npz container of artifacts, the checks when an artifact is read, and the provenance of an artifact."""
