"""Examines labelled data: its profile, its faults, likely wrong labels, and which texts to label next."""
