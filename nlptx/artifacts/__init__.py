"""The .npz container of artifacts, the checks of an artifact that is read, and the provenance of artifacts."""
