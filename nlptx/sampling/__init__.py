"""Random numbers and random choices: named streams, splits and folds, passages of long texts."""
