"""Reports as HTML pages. Each page is one file, which needs no network and no other file."""
