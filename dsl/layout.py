"""Where lines break and where comments go: the part of the formatter that knows no syntax.

A declaration is an `Item`: parts in a row, some of which hold items of their own. A `Block` is a list in
brackets, a `Chain` continues the line it stands on; both are flat when they fit and broken, one item a
line, when they do not, or when a comment stands between their items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .lexer import Comment
from .span import Span

WIDTH = 100
INDENT = "  "


@dataclass(slots=True)
class Item:
    """`span` is where it stood in the text: comments are attached by it. An item whose brackets have no
    place in the tree has none, and its own items take the comments."""

    parts: list[Part]
    span: Span | None = None
    leading: list[str] = field(default_factory=list)  # lines before it
    trailing: str = ""  # at the end of its line
    after: list[str] = field(default_factory=list)  # lines after it, the last of its block
    hang: str = ""  # by how much its further lines stand to the right of the first

    @property
    def commented(self) -> bool:
        return bool(self.leading or self.trailing or self.after)

    def children(self) -> Iterator[Item]:
        """The items inside that can take a comment."""
        for part in self.parts:
            for item in () if isinstance(part, str) else part.items:
                yield from (item,) if item.span else item.children()


@dataclass(slots=True)
class Block:
    """Items in brackets. Without a `separator` (alternates, entries of a cloud) it is always broken."""

    opening: str
    items: list[Item]
    closing: str
    separator: str = ","

    def flat(self) -> str:
        pad = " " if self.opening == "{" and self.items else ""
        return self.opening + pad + ", ".join(map(_flat, self.items)) + pad + self.closing

    @property
    def must_break(self) -> bool:
        return not self.separator or any(_must_break(item) for item in self.items)


@dataclass(slots=True)
class Chain:
    """Clauses, stages or outlets after the head of a declaration."""

    items: list[Item]
    separator: str = ""
    broken: bool = False

    def flat(self) -> str:
        return "".join(" " + _flat(item) + self.mark(item) for item in self.items)

    def mark(self, item: Item) -> str:
        return self.separator if item is not self.items[-1] else ""

    @property
    def must_break(self) -> bool:
        return self.broken or any(_must_break(item) for item in self.items)


Part = str | Block | Chain


def _flat(item: Item) -> str:
    return "".join(part if isinstance(part, str) else part.flat() for part in item.parts)


def _must_break(item: Item) -> bool:
    return item.commented or any(part.must_break for part in item.parts if not isinstance(part, str))


# --- lines ------------------------------------------------------------------------------------------


def render(item: Item, indent: str = "", mark: str = "") -> list[str]:
    """The lines of an item, with the mark that follows it and its comments."""
    lines, hanging = [indent], indent + item.hang
    for i, part in enumerate(item.parts):
        if isinstance(part, str):
            lines[-1] += part if lines[-1].strip() else part.lstrip()
        elif not part.must_break and _fits(lines[-1] + part.flat(), item.parts[i + 1:], mark):
            lines[-1] += part.flat()
        elif isinstance(part, Block):
            lines[-1] += part.opening
            for inner in part.items:
                lines += render(inner, hanging + INDENT, part.separator)
            lines.append(hanging + part.closing)
        else:
            for inner in part.items:
                lines += render(inner, hanging + INDENT, part.mark(inner))
            if i + 1 < len(item.parts):
                lines.append(hanging)
    lines[-1] += mark
    if item.trailing:
        lines[-1] += INDENT + item.trailing
    return [indent + text for text in item.leading] + lines + [indent + text for text in item.after]


def _fits(line: str, following: Iterable[Part], mark: str) -> bool:
    """Does the line fit with what must stay on it: all up to the next place where it could break?"""
    for part in following:
        if isinstance(part, Block):
            return len(line + part.opening) <= WIDTH
        if isinstance(part, Chain):
            break
        line += part
    return len(line + mark) <= WIDTH


# --- comments ---------------------------------------------------------------------------------------


def attach(comment: Comment, parent: Item) -> None:
    """Give a comment that stands inside `parent` to the item it is about."""
    place = (comment.line, comment.column)
    siblings = sorted(parent.children(), key=lambda item: _start(item.span))
    inside = next((item for item in siblings if _start(item.span) < place < _end(item.span)), None)
    if inside:
        attach(comment, inside)
        return
    before = [item for item in siblings if _end(item.span) <= place]
    following = [item for item in siblings if place < _start(item.span)]
    if before and not comment.own_line and before[-1].span.end_line == comment.line:
        before[-1].trailing = comment.text
    elif following:
        following[0].leading.append(comment.text)
    elif before:
        before[-1].after.append(comment.text)
    else:
        parent.leading.append(comment.text)


def _lift(item: Item) -> None:
    """A comment behind the last item of a chain stands behind the whole; clauses may have changed places."""
    for child in item.children():
        _lift(child)
    chain = item.parts[-1]
    if not (isinstance(chain, Chain) and chain.items and chain.items[-1].trailing):
        return
    last = chain.items[-1]
    if item.trailing:
        last.leading.append(last.trailing)
    else:
        item.trailing = last.trailing
    last.trailing = ""


def _start(span: Span) -> tuple[int, int]:
    return span.line, span.column


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column


def lay_out(declarations: list[Item], comments: list[Comment]) -> str:
    """The whole text. Blank lines between declarations are kept, one at most."""
    top: list[tuple[int, int, Item]] = [(item.span.line, item.span.end_line, item) for item in declarations]
    pending = iter(declarations)
    current = next(pending, None)
    previous = None
    for comment in comments:
        place = (comment.line, comment.column)
        while current and _end(current.span) <= place:
            previous, current = current, next(pending, None)
        if current and _start(current.span) < place:
            attach(comment, current)
        elif previous and not comment.own_line and previous.span.end_line == comment.line:
            previous.trailing = comment.text
        else:
            top.append((comment.line, comment.line, Item([comment.text])))
    for item in declarations:
        _lift(item)
    lines: list[str] = []
    last = None
    for first, end, item in sorted(top, key=lambda entry: entry[0]):
        if last is not None and first - last > 1:
            lines.append("")
        lines += render(item)
        last = end
    return "\n".join(lines) + "\n" if lines else ""
