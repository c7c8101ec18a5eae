"""Reports as HTML pages. Each page is a single file that needs no network and no other files."""
