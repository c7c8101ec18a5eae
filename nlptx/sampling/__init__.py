"""Random numbers and random choices: named streams, splits into folds, passages."""
