/// Finds what is declared in a Swift source: types, imports, and members that say `@NSManaged`.
///
/// No parser of Swift: it follows braces and looks at declarations in files, types and extensions. What is within functions, accessors and
/// expressions is passed over.
struct ManagedSourceScanner {
    /// What a declaration stands in.
    private struct Scope {
        var path: [String] = []
        /// For a file nil: its declarations are internal unless they say otherwise.
        var isType = false
        /// What an extension says for its members.
        var access: ScannedSource.Access?
    }

    private struct Modifiers {
        var access: ScannedSource.Access?
        var isManaged = false
        /// Attributes with their arguments, as written.
        var attributes: [String] = []
    }

    private let words: SwiftTokens
    private let tokens: [SwiftTokens.Token]
    private var index = 0
    private var conditions = ConditionStack()
    private var result: ScannedSource

    static func scan(_ text: String, path: String) -> ScannedSource {
        var scanner = ManagedSourceScanner(text, path: path)
        scanner.members(of: Scope())
        return scanner.result
    }

    private init(_ text: String, path: String) {
        words = SwiftTokens(text)
        tokens = words.tokens
        result = ScannedSource(path: path)
        let mark = "managed-type:"
        for comment in words.comments {
            let line = comment.text.drop { $0 == " " || $0 == "/" }
            guard line.hasPrefix(mark) else { continue }
            result.hints.append((.init(file: path, line: comment.line, column: 1), String(line.dropFirst(mark.count))))
        }
    }

    // MARK: Tokens

    private var token: SwiftTokens.Token? { index < tokens.count ? tokens[index] : nil }
    private func isMark(_ text: String) -> Bool { token?.kind == .mark && token?.text == text }
    private func isWord(_ text: String) -> Bool { token?.kind == .word && token?.isQuoted == false && token?.text == text }

    private mutating func takes(_ mark: String) -> Bool {
        guard isMark(mark) else { return false }
        index += 1
        return true
    }

    private mutating func word() -> String? {
        guard let token, token.kind == .word else { return nil }
        index += 1
        return token.text
    }

    /// From a bracket to the one that closes it.
    private mutating func skipBalanced() {
        var depth = 0
        repeat {
            if let token, token.kind == .mark {
                switch token.text {
                case "(", "[", "{": depth += 1
                case ")", "]", "}": depth -= 1
                default: break
                }
            }
            index += 1
        } while depth > 0 && index < tokens.count
    }

    private mutating func skipGenerics() {
        guard isMark("<") else { return }
        var depth = 0
        repeat {
            if isMark("<") { depth += 1 }
            if isMark(">") { depth -= 1 }
            index += 1
        } while depth > 0 && index < tokens.count
    }

    private mutating func type() -> (type: TypeSyntax, text: String)? {
        var parser = TypeParser(tokens: tokens, index: index)
        guard let type = parser.type() else { return nil }
        let text = words.text(tokens[index].range.lowerBound..<tokens[parser.index - 1].range.upperBound)
        index = parser.index
        return (type, text)
    }

    // MARK: Declarations

    private mutating func members(of scope: Scope) {
        while let token {
            switch token.kind {
            case .directive: directive()
            case .literal: index += 1
            case .mark:
                switch token.text {
                case "}":
                    index += 1
                    if scope.isType { return }
                case "(", "[", "{": skipBalanced()
                case "@": declaration(in: scope)
                case ".":
                    // `.class` is a name.
                    index += 1
                    if self.token?.kind == .word, isAttached { index += 1 }
                default: index += 1
                }
            case .word: declaration(in: scope)
            }
        }
    }

    /// What begins with attributes and modifiers, or a word that begins nothing.
    private mutating func declaration(in scope: Scope) {
        guard !isInExpression else { return index += 1 }
        let start = index, modifiers = modifiers()
        guard let keyword = token, keyword.kind == .word, !keyword.isQuoted else {
            if index == start { index += 1 }
            return
        }
        switch keyword.text {
        case "import": importing(modifiers)
        case "struct": type(.structure, modifiers, scope)
        case "class": type(.class, modifiers, scope)
        case "actor" where isFollowedByName: type(.class, modifiers, scope)
        case "enum": type(.enumeration, modifiers, scope)
        case "protocol": type(.protocol, modifiers, scope)
        case "extension": extending(modifiers)
        case "typealias": alias(modifiers, scope)
        case "operator":
            while let token, token.line == keyword.line { index += 1 }
        case "var" where modifiers.isManaged: properties(modifiers, scope)
        case "func" where modifiers.isManaged: method(modifiers, scope)
        default:
            if modifiers.isManaged { complain(keyword, "@NSManaged is for properties (var) and methods of a class; remove it here") }
            index += 1
        }
    }

    /// Whether a word here that is no keyword everywhere, like `open` and `actor`, is the name of a value: `let now = open`.
    private var isInExpression: Bool {
        guard let token, token.kind == .word, !DeclarationWords.reserved.contains(token.text), index > 0 else { return false }
        if index + 1 < tokens.count, case let next = tokens[index + 1], next.line == token.line, DeclarationWords.belongs(next) { return false }
        // Two names in a row are no expression.
        if token.text == "actor", isFollowedByName { return false }
        let last = tokens[index - 1]
        guard last.kind != .directive else { return false }
        guard last.line < token.line else { return !(last.kind == .mark && ["{", "}", ";"].contains(last.text)) }
        return last.kind == .mark && ["=", "+", "-", "*", "/", "&", "|", "<", ":", ",", ".", "~", "^", "%", "->"].contains(last.text)
    }

    private var isFollowedByName: Bool {
        guard index + 1 < tokens.count, case let next = tokens[index + 1] else { return false }
        return next.kind == .word && next.line == tokens[index].line && (next.isQuoted || !DeclarationWords.reserved.contains(next.text))
    }

    /// Nothing is between this token and the one before.
    private var isAttached: Bool { index > 0 && index < tokens.count && tokens[index - 1].range.upperBound == tokens[index].range.lowerBound }

    private mutating func modifiers() -> Modifiers {
        var result = Modifiers()
        while let token {
            if token.kind == .directive {
                directive()
            } else if isMark("@") {
                let start = token
                index += 1
                result.isManaged = result.isManaged || isWord("NSManaged")
                var parser = TypeParser(tokens: tokens, index: index)
                if parser.name() != nil { index = parser.index }
                // A space before it, and the parenthesis belongs to what follows.
                if isMark("("), isAttached { skipBalanced() }
                result.attributes.append(words.text(start.range.lowerBound..<tokens[min(index, tokens.count) - 1].range.upperBound))
            } else if token.kind == .word, !token.isQuoted, let access = ScannedSource.Access(word: token.text) {
                index += 1
                // `private(set)` says nothing of who may read.
                if isMark("(") { skipBalanced() } else { result.access = access }
            } else if token.kind == .word, !token.isQuoted, DeclarationWords.modifiers.contains(token.text), isModifier {
                index += 1
                if isMark("(") { skipBalanced() }
            } else {
                break
            }
        }
        return result
    }

    /// `class` is a modifier only before what can have one.
    private var isModifier: Bool {
        guard isWord("class") else { return index + 1 < tokens.count && [.word, .mark].contains(tokens[index + 1].kind) }
        guard index + 1 < tokens.count, tokens[index + 1].kind == .word, !tokens[index + 1].isQuoted else { return false }
        let next = tokens[index + 1].text
        return ["func", "var", "subscript"].contains(next) || DeclarationWords.modifiers.contains(next) || ScannedSource.Access(word: next) != nil
    }

    private mutating func importing(_ modifiers: Modifiers) {
        let keyword = tokens[index]
        index += 1
        let start = index
        if let kind = token?.text, ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let", "actor"].contains(kind) { index += 1 }
        guard let module = word() else { return }
        while isMark("."), tokens[index].line == keyword.line { index = min(index + 2, tokens.count) }
        guard !conditions.isExcluded else { return }
        result.imports.append(
            .init(
                attributes: modifiers.attributes, access: modifiers.access,
                what: words.text(tokens[start].range.lowerBound..<tokens[index - 1].range.upperBound), module: module,
                conditions: conditions.texts))
    }

    private mutating func type(_ kind: SwiftNominal.Kind, _ modifiers: Modifiers, _ scope: Scope) {
        index += 1
        guard let name = word() else { return }
        let isGeneric = isMark("<") && kind != .protocol
        skipGenerics()
        let inherited = inheritance()
        guard isMark("{") else { return }
        index += 1
        let path = scope.path + [name], access = modifiers.access ?? scope.access ?? .internal
        if !conditions.isExcluded {
            result.types.append(
                .init(
                    path: path, meaning: .nominal(kind), access: access, isGeneric: isGeneric, inherited: inherited, conditions: conditions.texts,
                    file: result.path))
        }
        members(of: Scope(path: path, isType: true))
    }

    private mutating func extending(_ modifiers: Modifiers) {
        index += 1
        guard let extended = type(), case .named(let names) = extended.type else { return }
        let protocols = inheritance(), path = names.map(\.name)
        guard isMark("{") else { return }
        index += 1
        if !conditions.isExcluded, !protocols.isEmpty {
            result.conformances.append(.init(type: path, protocols: protocols, conditions: conditions.texts, file: result.path))
        }
        members(of: Scope(path: path, isType: true, access: modifiers.access))
    }

    /// What stands between a colon and the brace, without what comes after `where`.
    private mutating func inheritance() -> [[String]] {
        var inherited: [[String]] = []
        if takes(":") {
            repeat {
                let start = index
                switch type()?.type {
                case .named(let names): inherited.append(names.map(\.name))
                case .composition(let members):
                    for case .named(let names) in members { inherited.append(names.map(\.name)) }
                case nil:
                    // What can't be read can't hide the class.
                    index = start
                    skipToNextInherited()
                default: break
                }
            } while takes(",")
        }
        if isWord("where") { while token != nil, !isMark("{") { index += 1 } }
        return inherited
    }

    private mutating func skipToNextInherited() {
        while let token, token.kind != .directive {
            if token.kind == .mark, ["(", "["].contains(token.text) {
                skipBalanced()
            } else if (token.kind == .mark && [",", "{", "}", ";"].contains(token.text)) || isWord("where") {
                return
            } else {
                index += 1
            }
        }
    }

    private mutating func alias(_ modifiers: Modifiers, _ scope: Scope) {
        index += 1
        guard let name = word() else { return }
        let isGeneric = isMark("<")
        skipGenerics()
        guard takes("="), let meaning = type(), !conditions.isExcluded else { return }
        result.types.append(
            .init(
                path: scope.path + [name], meaning: .alias(meaning.type), access: modifiers.access ?? scope.access ?? .internal,
                isGeneric: isGeneric, inherited: [], conditions: conditions.texts, file: result.path))
    }

    // MARK: Members

    private mutating func properties(_ modifiers: Modifiers, _ scope: Scope) {
        let keyword = tokens[index]
        index += 1
        // `var a, b: Int`: the type is of all that have none.
        var untyped: [SwiftTokens.Token] = []
        repeat {
            guard let name = token, name.kind == .word else {
                return complain(keyword, "the names of these @NSManaged properties can't be read; write \"@NSManaged var name: Type\" for each")
            }
            index += 1
            untyped.append(name)
            guard takes(":") else { continue }
            guard let type = type() else { break }
            for name in untyped { add(name, .property(type.type, text: type.text), modifiers, scope) }
            untyped = []
        } while takes(",")
        for name in untyped { complain(name, "an @NSManaged property needs a type: write \"\(name.text): String?\"") }
    }

    private mutating func method(_ modifiers: Modifiers, _ scope: Scope) {
        index += 1
        guard let name = token, name.kind == .word else { return }
        index += 1
        guard !isMark("<") else { return complain(name, "an @NSManaged method has no type parameters; write its body, without @NSManaged") }
        guard let parameters = parameters() else {
            return complain(name, "the parameters of \(name.text) can't be read; write its body, without @NSManaged")
        }
        if isWord("throws") || isWord("async") {
            return complain(name, "an @NSManaged method neither throws nor waits; write its body, without @NSManaged")
        }
        var result = (type: TypeSyntax.void, text: "")
        if takes("->") {
            guard let type = type() else { return complain(name, "the result of \(name.text) can't be read; write its body, without @NSManaged") }
            result = type
        }
        add(name, .method(parameters, result: result.type, resultText: result.text), modifiers, scope)
    }

    private mutating func parameters() -> [ScannedSource.Parameter]? {
        guard takes("(") else { return nil }
        var parameters: [ScannedSource.Parameter] = []
        while !takes(")") {
            guard let label = word() else { return nil }
            _ = word()
            guard takes(":"), let type = type() else { return nil }
            parameters.append(.init(label: label == "_" ? nil : label, type: type.type, typeText: type.text))
            if !takes(","), !isMark(")") { return nil }
        }
        return parameters
    }

    private mutating func add(
        _ name: SwiftTokens.Token, _ form: ScannedSource.Member.Form, _ modifiers: Modifiers, _ scope: Scope
    ) {
        if conditions.isExcluded { return }
        guard scope.isType, !scope.path.isEmpty else {
            return complain(name, "@NSManaged is for members of a class; move \(name.text) into the class or an extension of it")
        }
        result.members.append(
            .init(
                name: name.text, form: form, owner: scope.path, access: modifiers.access ?? scope.access ?? .internal, place: place(name),
                conditions: conditions.texts))
    }

    private func place(_ token: SwiftTokens.Token) -> ScannedSource.Place {
        .init(file: result.path, line: token.line, column: token.column)
    }

    private mutating func complain(_ token: SwiftTokens.Token, _ message: String) {
        if !conditions.isExcluded { result.complaints.append(ClassesComplaint(place(token), message)) }
    }

    // MARK: Conditions

    private mutating func directive() {
        let directive = tokens[index]
        index += 1
        switch directive.text {
        case "#if":
            conditions.begin()
            branch(directive)
        case "#elseif", "#else":
            conditions.next()
            branch(directive)
        case "#endif": conditions.end()
        default: break
        }
    }

    private mutating func branch(_ directive: SwiftTokens.Token) {
        let start = index
        while let token, token.line == directive.line { index += 1 }
        guard let first = tokens[start..<index].first, let last = tokens[start..<index].last else { return conditions.ask(nil, value: true) }
        let text = words.text(first.range.lowerBound..<last.range.upperBound)
        conditions.ask(text, value: BuildCondition.value(of: Array(tokens[start..<index])))
    }
}
