"""The .npz container of artifacts, the checks when one is read, and the provenance of artifacts."""
