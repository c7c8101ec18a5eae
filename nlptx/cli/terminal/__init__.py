"""What the user sees on standard error and on a terminal: notes, errors, progress, tables and charts; and signals."""
