"""Random choices: named streams of random numbers, splits and folds, and passages of long texts."""
