"""Examines labelled data: computes a profile, finds faults and likely wrong labels, and suggests texts to label."""
