"""The .npz container, the checks on reading it, and where an artifact came from."""
