"""How good a classifier is: its predictions for labelled texts, and what follows from them."""
