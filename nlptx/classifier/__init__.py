"""The classifier: its network, its file, scoring of texts, evaluation, and explanations of predictions."""
