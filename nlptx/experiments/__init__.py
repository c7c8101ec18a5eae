"""Cross-validation, and the search for settings by cross-validation."""
