"""Evaluates classifiers: predictions for labelled texts, and measures, tests and curves computed from them."""
