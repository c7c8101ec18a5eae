"""The classifier: its network, its file format, scoring of texts, evaluation, and explanations of predictions."""
