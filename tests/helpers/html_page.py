"""Reads an HTML page with the parser of the standard library."""

from html.parser import HTMLParser

_VOID = {"meta", "input", "br", "link", "img"}


class Page(HTMLParser):
    """The elements of a page as (tag, attributes, text), where the text includes that of nested elements.

    Raises:
        AssertionError: the elements are not closed in order.
    """

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.elements, self.comments, self._open = [], [], []
        self.feed(source)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"an attribute of {tag} is given twice"
        element = [tag, dict(attrs), ""]
        self.elements.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> without a start"
        assert self._open[-1][0] == tag, f"</{tag}> closes <{self._open[-1][0]}>"
        self._open.pop()

    def handle_data(self, data):
        for element in self._open:
            element[2] += data

    def handle_comment(self, data):
        self.comments.append(data)

    def find(self, tag, **attributes):
        """Return the elements that have the given tag and attributes."""
        return [
            (found, text)
            for name, found, text in self.elements
            if name == tag and all(found.get(key.rstrip("_")) == value for key, value in attributes.items())
        ]

    def text(self, tag="body"):
        return self.find(tag)[0][1]
