"""How good a classifier is: its predictions for labelled texts, and measures, tests and curves computed from them."""
