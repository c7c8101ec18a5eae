"""Strings that would change an HTML page if they were not escaped."""

EVIL = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"' onmouseover=alert(3) x='",
    "javascript:alert(4)",
    "--><svg onload=alert(5)>",
    "{{ 7*7 }}{% raw %}",
    "\u2028&lt;b&gt;\u202e",
)
