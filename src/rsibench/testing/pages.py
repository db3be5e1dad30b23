"""Reading an HTML page strictly: which elements it has, whether they nest, what a reader sees and what it would load.

For tests of pages. It is a reader of our own well-formed pages, not of HTML in general: an element that is closed in
the wrong order, or not at all, is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "input", "br", "hr", "link", "img", "base", "source", "embed", "area", "col", "track", "wbr"})
LOADING_TAGS = frozenset(
    {"img", "iframe", "object", "embed", "link", "base", "video", "audio", "source", "track", "image", "use", "frame"}
    | {"foreignobject", "applet", "portal", "animate", "set", "feimage"}
)
"""Elements that can load something or change what others load."""

LOADING_ATTRIBUTES = frozenset(
    {"src", "srcset", "style", "action", "formaction", "data", "poster", "background", "xlink:href", "ping", "manifest"}
)
"""Attributes that can load something, or that a policy without inline styles forbids."""


@dataclass(slots=True)
class Element:
    """One element with its attributes, the elements directly inside it, and its text: its own, and all of it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    own_text: str = ""
    text: str = ""

    def inside(self, *tags: str) -> list[Element]:
        """Every element of these tags at any depth below, in order."""
        found = []
        for child in self.children:
            found += [child] if child.tag in tags else []
            found += child.inside(*tags)
        return found


@dataclass(slots=True)
class ParsedPage:
    """A page's elements in order, with the text that every reader gets: not scripts, styles and drawings."""

    elements: list[Element] = field(default_factory=list)
    visible: str = ""

    def all(self, *tags: str) -> list[Element]:
        """Every element of these tags, in order."""
        return [element for element in self.elements if element.tag in tags]

    def table(self, caption: str) -> list[list[str]]:
        """The cells of the one table whose caption starts like this, row by row, white space collapsed."""
        (table,) = (one for one in self.all("table") if one.inside("caption")[0].text.startswith(caption))
        return [[" ".join(cell.text.split()) for cell in row.children] for row in table.inside("tr")]

    def loading(self) -> list[str]:
        """Whatever could make a request or run outside the page's own script: tags, attributes, links, handlers."""
        found = [element.tag for element in self.elements if element.tag in LOADING_TAGS]
        for element in self.elements:
            for name, value in element.attributes.items():
                leaves = name in LOADING_ATTRIBUTES or name.startswith("on") or name == "href"
                if leaves and not (name == "href" and value.startswith("#")):
                    found.append(f"{element.tag} {name}={value}")
        return found


def parse_page(text: str) -> ParsedPage:
    """Read a page. Raises ValueError for an element that is closed wrongly or left open."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    if reader.open:
        raise ValueError(f"left open at the end: {[element.tag for element in reader.open]}")
    return reader.page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = ParsedPage()
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len({name for name, _ in attrs}) != len(attrs):
            raise ValueError(f"an attribute is given twice on {tag} at {self.getpos()}")
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.page.elements.append(element)
        if self.open:
            self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1].tag != tag:
            raise ValueError(f"</{tag}> at {self.getpos()} closes {[element.tag for element in self.open][-3:]}")
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open:
            self.open[-1].own_text += data
        for element in self.open:
            element.text += data
        if not any(element.tag in ("script", "style", "title", "svg") for element in self.open):
            self.page.visible += data
