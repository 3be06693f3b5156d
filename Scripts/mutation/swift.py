"""Enough of Swift to find statements, conditions and operands in a file that swift-format wrote."""
import re

OPEN, CLOSE = "([{", ")]}"
CONTINUED = re.compile(r"(\.(?!\.)|&&|\|\||\?\?|\?|:|[-+*/=<>!]=?\s|else\b|\{)")
HANGING = re.compile(r"(&&|\|\||\?\?|[-+*/=<>?:,(\[]|\bin|\breturn)$")
BOUNDARY = {"return", "if", "guard", "while", "where", "in", "case", "try", "else", "throw"}


class Source:
    """A file, its brackets matched, and which of its characters are code: neither comment nor string."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.code = bytearray(b"\1" * len(text))
        self._mask()
        self.match, self.outer = {}, [None] * (len(text) + 1)
        self._brackets()

    def _mask(self):
        text, at, end = self.text, 0, len(self.text)
        while at < end:
            begin = at
            if text.startswith("//", at):
                at = text.find("\n", at)
                at = end if at < 0 else at
            elif text.startswith("/*", at):
                at = text.find("*/", at) + 2
            elif text[at] == '"':
                at = self._string(at)
            else:
                at += 1
                continue
            self.code[begin:at] = b"\0" * (at - begin)

    def _string(self, at):
        text, quote = self.text, '"""' if self.text.startswith('"""', at) else '"'
        at += len(quote)
        while not text.startswith(quote, at):
            if text.startswith("\\(", at):
                at, depth = at + 2, 1
                while depth:
                    if text[at] == '"':
                        at = self._string(at)
                        continue
                    depth += {"(": 1, ")": -1}.get(text[at], 0)
                    at += 1
            else:
                at += 2 if text[at] == "\\" else 1
        return at + len(quote)

    def _brackets(self):
        stack = []
        for at, char in enumerate(self.text):
            if self.code[at] and char in CLOSE and stack:
                begin = stack.pop()
                self.match[begin], self.match[at] = at, begin
            self.outer[at] = stack[-1] if stack else None
            if self.code[at] and char in OPEN:
                stack.append(at)

    # MARK: Places

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def line_text(self, at):
        begin = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        return self.text[begin:len(self.text) if end < 0 else end].strip()

    def place(self, at):
        """The line of a place; with the line before it, where it says nothing by itself."""
        line = self.line_text(at)
        if not re.fullmatch(r"(continue|break|return( \w+)?|[})\]]+)", line):
            return line
        begin = self.text.rfind("\n", 0, at)
        return self.line_text(self.text.rfind("\n", 0, begin) + 1) + " " + line

    def words(self, pattern):
        """Where a pattern matches in code."""
        for found in re.finditer(pattern, self.text):
            if self.code[found.start()]:
                yield found

    def is_line_continued(self, newline):
        """Whether the line after this newline goes on with the statement before it."""
        rest = self.text[newline + 1:]
        following = rest.lstrip(" ")
        if CONTINUED.match(following) and not following.startswith("{ "):
            return True
        before = self.text[self.text.rfind("\n", 0, newline) + 1:newline].split(" //")[0].rstrip()
        return bool(HANGING.search(before)) and not before.endswith((" in", ":"))

    def end_of_statement(self, at):
        while at < len(self.text):
            if self.code[at]:
                char = self.text[at]
                if char in OPEN:
                    at = self.match[at]
                elif char in CLOSE:
                    break
                elif char == "\n" and not self.is_line_continued(at):
                    break
            at += 1
        while self.text[at - 1] in " \n":
            at -= 1
        comment = self.text.find(" //", self.text.rfind("\n", 0, at) + 1, at)
        return at if comment < 0 or self.code[comment + 1] else comment

    def block_header(self, brace):
        """What stands before a brace, back to the beginning of its statement."""
        at = brace - 1
        while at >= 0:
            char = self.text[at]
            if self.code[at]:
                if char in CLOSE:
                    if char == "}" and "\n" in self.text[self.match[at]:at]:
                        # `} else {` belongs to what is before; anything else ends here.
                        if not re.match(r"\} (else|catch)", self.text[at:]):
                            break
                    at = self.match[at]
                elif char in OPEN:
                    break
                elif char == "\n" and not self.is_line_continued(at):
                    break
            at -= 1
        return self.text[at + 1:brace].strip()

    # MARK: Expressions

    def left_bound(self, at):
        """Where the expression begins that ends here: back to what binds less than a ternary."""
        text, position = self.text, at - 1
        while position >= 0:
            char = text[position]
            if self.code[position]:
                if char in CLOSE:
                    position = self.match[position]
                elif char in OPEN or char == ",":
                    break
                elif char in "=?" and text[position - 1] in " +-|&" and text[position + 1] in " \n":
                    break
                elif char == ":" and text[position + 1] in " \n":
                    break
                elif char == "\n" and not self.is_line_continued(position):
                    break
                elif char == " ":
                    word = re.search(r"(\w+)$", text[max(0, position - 10):position])
                    if word and word.group(1) in BOUNDARY:
                        break
            position -= 1
        begin = position + 1
        while text[begin] in " \n":
            begin += 1
        return begin

    def right_bound(self, at, ends_at_brace):
        text, position = self.text, at
        while position < len(text):
            char = text[position]
            if self.code[position]:
                if char in CLOSE or char == ",":
                    break
                if char in OPEN:
                    if char == "{" and ends_at_brace:
                        break
                    position = self.match[position]
                elif char in "?:" and text[position - 1] in " \n" and text[position + 1] == " ":
                    break
                elif char == ":" and text[position + 1] in " \n":
                    break
                elif text.startswith(" else {", position):
                    break
                elif char == "\n" and not self.is_line_continued(position):
                    break
            position += 1
        while text[position - 1] in " \n":
            position -= 1
        return position

    def split(self, begin, end, separator):
        """The parts between separators that stand outside of brackets."""
        parts, first, at = [], begin, begin
        while at < end:
            if self.code[at]:
                if self.text[at] in OPEN:
                    at = self.match[at]
                elif self.text.startswith(separator, at):
                    parts.append((first, at))
                    first = at + len(separator)
            at += 1
        parts.append((first, end))
        return [self.trimmed(*part) for part in parts]

    def trimmed(self, begin, end):
        while begin < end and self.text[begin] in " \n":
            begin += 1
        while begin < end and self.text[end - 1] in " \n":
            end -= 1
        return begin, end

    def brace_after(self, at):
        """The first brace outside of other brackets."""
        while self.text[at] != "{" or not self.code[at]:
            if self.code[at] and self.text[at] in "([":
                at = self.match[at]
            elif self.code[at] and self.text[at] in CLOSE:
                return None
            at += 1
        return at
