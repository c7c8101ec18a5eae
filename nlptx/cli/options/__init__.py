"""Options that several commands share, and the rules for options that are set in several places."""
