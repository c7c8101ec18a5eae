"""Examines labelled data: computes a profile, finds faults and probably wrong labels, and suggests texts to label."""
