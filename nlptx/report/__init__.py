"""Reports as HTML pages: each is one file, which needs no network and no other file."""
