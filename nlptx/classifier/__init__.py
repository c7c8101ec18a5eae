"""The trained classifier: network, model file, scoring, evaluation and explanations."""
