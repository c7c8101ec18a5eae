"""How good labelled data is: its profile, its faults, likely wrong labels, and which texts to label next."""
