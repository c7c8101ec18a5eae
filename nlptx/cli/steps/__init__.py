"""Steps that several commands have in common, and long steps of single commands."""
