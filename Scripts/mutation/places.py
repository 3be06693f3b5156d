"""What a mutant changes: single places of a Swift file, each with what is written before and after it so that both forms are compiled in."""
import re

from .swift import Source

DECLARATION = re.compile(
    r"(let|var|if|guard|for|while|switch|case|default|do|repeat|func|struct|class|enum|extension|import|init|deinit|defer|private|fileprivate|public"
    r"|package|internal|static|mutating|override|nonisolated|unowned|weak|typealias|get|set|didSet|willSet|else|catch|protocol|final|open|subscript"
    r"|convenience|lazy|indirect|required|where|in|inout|some|any|return|throw|continue|break|try\?|super\.init|self\.init)\b|[@#}.{&|?:\"\[(]|//")
ASSIGNMENT = re.compile(r"^[\w.?!$()\[\]:, ]+? ([-+&|*]*=) ")
#: Statement, then what the mutant makes of it.
OPERATORS = [
    "statement dropped", "jump dropped", "condition negated", "clause dropped", "side dropped", "where dropped", "ternary swapped",
    "filter dropped", "default taken", "argument emptied", "kind swapped", "constant changed", "order reversed", "answer negated",
]


class Mutant:
    def __init__(self, source, operator, begin, end, before, after):
        self.path, self.operator, self.begin, self.end = source.path, operator, begin, end
        self.before, self.after = before, after
        self.line, self.place = source.line(begin), source.place(begin)
        self.text = re.sub(r"\s+", " ", source.text[begin:end])
        self.number, self.builds = 0, True

    @property
    def key(self):
        return (self.path, self.place, self.operator, self.text if self.text != self.place else "")

    def __str__(self):
        text = self.text if len(self.text) <= 110 else self.text[:107] + "..."
        return f"{self.path}:{self.line}: {self.operator}: {text}"


def mutants(path, text):
    """Every mutant of a file, by place."""
    source, found = Source(path, text), []

    def add(operator, begin, end, before, after):
        found.append(Mutant(source, operator, begin, end, before, after))

    def negated(operator, begin, end):
        begin = after_try(source, begin)
        add(operator, begin, end, "(mutant(#) != (", "))")

    def always(operator, begin, end):
        begin = after_try(source, begin)
        add(operator, begin, end, "(mutant(#) || (", "))")

    conditions(source, negated, always)
    sides(source, add)
    statements(source, add)
    expressions(source, add, negated, always)
    answers(source, negated)
    found = [mutant for mutant in found if mutant.end > mutant.begin]
    found.sort(key=lambda mutant: (mutant.begin, -mutant.end))
    # Ranges that cross are a misunderstanding of the source.
    result, stack = [], []
    for mutant in found:
        while stack and stack[-1].end <= mutant.begin:
            stack.pop()
        if stack and mutant.end > stack[-1].end:
            continue
        if any(other.begin == mutant.begin and other.end == mutant.end and other.before == mutant.before for other in stack):
            continue
        stack.append(mutant)
        result.append(mutant)
    return result


def after_try(source, begin):
    found = re.match(r"try\s+", source.text[begin:])
    return begin + found.end() if found else begin


def conditions(source, negated, always):
    text = source.text
    for found in source.words(r"\b(if|guard|while)\b (?!#)"):
        begin = found.end()
        if found.group(1) == "guard":
            end = begin
            while not re.match(r"\s+else \{", text[end:]):
                end = source.match[end] + 1 if source.code[end] and text[end] in "([{" else end + 1
        else:
            end = source.brace_after(begin)
            if end is None:
                continue
        clauses = source.split(begin, end, ",")
        for clause in clauses:
            words = text[slice(*clause)]
            if re.match(r"(let|var|case)\b|#", words) or not words or words == "true":
                continue
            if len(clauses) > 1:
                always("clause dropped", *clause)
            elif not is_covered(source, found.group(1), words, end):
                negated("condition negated", *clause)
    for found in source.words(r"\bwhere\b "):
        line = source.line_text(found.start())
        if re.match(r"(public |private |package )?(extension|func|struct)", line):
            continue
        begin = found.end()
        if re.search(r"\b(case|catch)\b|^\.", text[text.rfind("\n", 0, begin):begin]) and not re.search(r"\bfor\b", line[:line.find("where")]):
            end = source.right_bound(begin, True)
        else:
            end = source.brace_after(begin)
        always("where dropped", *source.trimmed(begin, end))


def is_covered(source, keyword, words, end):
    """Whether other mutants do what negating a condition does: its sides are dropped, or the one statement that it guards."""
    if "&&" in words or "||" in words:
        return True
    if keyword != "if" or source.text[end] != "{":
        return False
    close = source.match[end]
    begin, last = source.trimmed(end + 1, close)
    return source.end_of_statement(begin) >= last and not source.text[close:].startswith("} else")


def sides(source, add):
    seen = set()
    for found in source.words(r"(&&|\|\|) ?"):
        begin = source.left_bound(found.start())
        if begin in seen:
            continue
        seen.add(begin)
        # In a condition the first brace is that of the body.
        head = source.text[source.text.rfind("\n", 0, begin) + 1:begin]
        in_condition = in_header(source, begin)
        end = source.right_bound(found.end(), in_condition and "guard " not in head)
        whole = source.split(begin, end, "||")
        for either in whole:
            if len(whole) > 1:
                add("side dropped", *either, "(!mutant(#) && (", "))")
            both = source.split(*either, "&&")
            for part in both if len(both) > 1 else []:
                add("side dropped", *part, "(mutant(#) || (", "))")


def in_header(source, at):
    """Whether a place is between `if`, `while` or `for` and the brace of its body."""
    outer = source.outer[at]
    begin = max(source.text.rfind(word, 0, at) for word in ("if ", "while ", "where "))
    if begin < 0 or source.outer[begin] != outer:
        return False
    brace = source.brace_after(begin)
    return brace is not None and brace > at


def statements(source, add):
    text = source.text
    undefined = set(re.findall(r"\blet (\w+)(?:: [^=\n{]+)?\n", text))
    starts = []
    for found in re.finditer(r"(?m)^ +(?=\S)", text):
        newline = found.start() - 1
        if newline < 0 or not source.code[found.end()]:
            continue
        previous = newline
        outer = source.outer[found.end()]
        if outer is None or text[outer] != "{" or source.is_line_continued(previous):
            continue
        starts.append(found.end())
        # What follows a label.
        label = re.match(r"(case [^\n]*?|default):[ ](?=\S)", text[found.end():])
        if label:
            starts.append(found.end() + label.end())
    for found in source.words(r"\{ (?:\[[\w ,]+\] )?(?:(?!for\b)\(?[\w, ]+\)? (?:throws )?in )?(?=\S)"):
        if source.match[found.start()] >= 0 and "\n" not in text[found.start():found.end()]:
            starts.append(found.end())
    for begin in sorted(set(starts)):
        outer = source.outer[begin]
        end = source.end_of_statement(begin)
        words = text[begin:end]
        header = source.block_header(outer)
        jump = re.match(r"(return|throw|continue|break)\b", words)
        if jump:
            if re.match(r"guard\b", header) and text[:outer].rstrip().endswith("else"):
                continue
            # A path that must return or leave a switch has nowhere else to go.
            if jump.group(1) in ("return", "throw") and not re.match(r"(\} )?(if|else|for|while)\b", header) or jump.group(1) == "break":
                continue
            add("jump dropped", begin, end, "if !mutant(#) { ", " }")
            continue
        if DECLARATION.match(words) or re.match(r"(package|public|case)\b", words):
            continue
        assigned = ASSIGNMENT.match(words)
        if not assigned and not words.endswith((")", "}")):
            continue
        if not assigned and re.match(r"\S+ (==|!=|<|>|\?|&&|\+|-|\?\?|in) ", words):
            continue
        name = re.match(r"(?:self\.)?(\w+)", words)
        if assigned and name and (name.group(1) in undefined or words.startswith("self = ")):
            continue
        if assigned and re.match(r"(package |public |convenience |fileprivate |override )*init\b", header):
            continue
        is_single = source.trimmed(outer + 1, source.match[outer])[0] >= begin - 40 and text[end:source.match[outer]].strip() == ""
        if is_single and not assigned:
            # What a function, a property or a closure says by its one expression.
            if re.search(r"-> [\w\[\]:.?() ,]+$|\b(var|let) \w+: [^=]+$|\bget( throws)?$", header) or re.match(r"(try )?[A-Z$(!]", words):
                continue
            if is_value(source, outer, header):
                continue
        if words.count("\n") > 1:
            continue
        add("statement dropped", begin, end, "if !mutant(#) { ", " }")


def is_value(source, brace, header):
    """Whether these braces are of a closure whose one expression is a value that somebody uses: all but those of statements that are one call."""
    outer = source.outer[brace]
    if outer is not None and source.text[outer] in "([":
        return True
    if re.match(r"(\} )?(if|for|while|switch)\b", header):
        return source.brace_after(brace - len(header)) != brace
    if re.match(r"(\} )?(else|do|defer|catch|repeat)\b|.*\b(else|do|catch|defer)$", header, re.DOTALL) or re.search(r"\b(func|init)\b", header):
        return False
    return not re.match(r"(try )?[\w.?]*(withLock|forEach|sync|async|change|perform|performAndWait|record\(.*\))$", header, re.DOTALL)


def expressions(source, add, negated, always):
    text = source.text
    for found in source.words(r"(?<=\s)\? (?=\S)"):
        begin = source.left_bound(found.start())
        end = source.trimmed(begin, found.start())[1]
        if end > begin:
            negated("ternary swapped", begin, end)
    for found in source.words(r"\.(filter|removeAll|sorted|sort|min|max|first)(\(by: |\(where: )? ?\{ "):
        brace = found.end() - 2
        begin, end = source.trimmed(brace + 1, source.match[brace])
        names = re.match(r"\(?[\w, ]+\)? in ", text[begin:end])
        begin += names.end() if names else 0
        body = text[begin:end]
        if "\n" in body:
            continue
        if found.group(1) == "filter":
            always("filter dropped", begin, end)
        elif found.group(1) == "removeAll":
            add("filter dropped", begin, end, "(!mutant(#) && (", "))")
        elif found.group(1) in ("sorted", "sort", "min", "max"):
            negated("order reversed", begin, end)
    for found in source.words(r" \?\? "):
        begin = left_of_default(source, found.start())
        if begin is not None:
            add("default taken", begin, found.start(), "(mutant(#) ? nil : (", "))")
    for found in source.words(r"\bPendingRow\((?=[^)\n])"):
        for begin, end in source.split(found.end(), source.match[found.end() - 1], ","):
            label, _, value = text[begin:end].partition(": ")
            if label == "kind" and re.fullmatch(r"\.\w+", value):
                other = {".inserted": ".updated", ".updated": ".inserted", ".deleted": ".updated"}[value]
                add("kind swapped", end - len(value), end, f"(mutant(#) ? {other} : (", "))")
            elif label in ("changed", "base") and value != "nil":
                empty = "SlotSet()" if label == "changed" else "nil"
                add("argument emptied", end - len(value), end, f"(mutant(#) ? {empty} : (", "))")
    for found in source.words(r"(?<=[+-] )1\b(?!\.)"):
        add("constant changed", found.start(), found.end(), "(mutant(#) ? 0 : ", ")")
    for found in source.words(r"(?<=: )(true|false)\b(?=[,)])"):
        outer = source.outer[found.start()]
        if text[outer] == "(" and not re.search(r"\b(func \w+|init)$", text[:outer].split("\n")[-1]):
            negated("constant changed", found.start(), found.end())
    for found in source.words(r"(?<= = )(true|false)\b"):
        line = source.line_text(found.start())
        if not re.search(r"\b(var|let|func|init)\b|^\w+: Bool", line):
            negated("constant changed", found.start(), found.end())


def left_of_default(source, at):
    """Where the operand on the left of `??` begins: one postfix expression."""
    text, position = source.text, at - 1
    while position >= 0:
        char = text[position]
        if source.code[position] and char in ")]}":
            position = source.match[position]
            if char == "}" and text[position - 1] == " " and re.match(r"[\w)]", text[position - 2]):
                position -= 1
        elif source.code[position] and char in "([{,":
            break
        elif char in " \n":
            if text[position + 1:position + 2] == "." or text[position - 1] in "":
                pass
            else:
                break
        position -= 1
    begin = position + 1
    words = text[begin:at]
    return None if not words or words.startswith(("try", "await")) or "\n" in words else begin


def answers(source, negated):
    text = source.text
    for found in source.words(r"(-> Bool|: Bool) \{"):
        brace = found.end() - 1
        if re.search(r"\b(let|init)\b", source.line_text(found.start()).split(":")[0]):
            continue
        begin, end = source.trimmed(brace + 1, source.match[brace])
        body = text[begin:end]
        if not re.match(r"(get|set|let|var|guard|if|for|switch|do|return|while|defer|func|//|didSet)\b", body) and source.end_of_statement(begin) >= end:
            negated("answer negated", begin, end)
        for answer in re.finditer(r"\breturn (?=\S)", body):
            at = begin + answer.end()
            if source.code[at]:
                negated("answer negated", at, source.end_of_statement(at))


def rewritten(text, chosen):
    """The file with every one of these mutants compiled in, and where each of them then is."""
    before, after = {}, {}
    for mutant in chosen:
        before.setdefault(mutant.begin, []).append(mutant)
        after.setdefault(mutant.end, []).insert(0, mutant)
    pieces, length, ranges, last = [], 0, {}, 0
    for at in sorted(set(before) | set(after)):
        pieces.append(text[last:at])
        length += at - last
        last = at
        for mutant in after.get(at, []):
            pieces.append(mutant.after)
            length += len(mutant.after)
            ranges[mutant.number] = (ranges[mutant.number], length)
        for mutant in before.get(at, []):
            words = mutant.before.replace("#", str(mutant.number))
            ranges[mutant.number] = length
            pieces.append(words)
            length += len(words)
    pieces.append(text[last:])
    return "".join(pieces), ranges
