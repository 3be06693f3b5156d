/// The words that declarations begin with.
enum DeclarationWords {
    /// Those that say more of a declaration; names elsewhere.
    static let modifiers: Set = [
        "final", "static", "class", "override", "mutating", "nonmutating", "lazy", "weak", "unowned", "dynamic", "optional", "required",
        "convenience", "indirect", "nonisolated", "isolated", "distributed", "prefix", "postfix", "infix", "borrowing", "consuming", "__consuming",
        "sending", "unsafe", "_const",
    ]

    /// Those that can't be names, and begin a declaration wherever they stand.
    static let reserved: Set = [
        "class", "enum", "extension", "fileprivate", "func", "import", "init", "internal", "let", "private", "protocol", "public", "static",
        "struct", "subscript", "typealias", "var",
    ]

    /// Whether what a declaration consists of, after its first word, can begin with this.
    static func belongs(_ token: SwiftTokens.Token) -> Bool {
        guard token.kind == .word else { return token.text == "@" }
        return !token.isQuoted
            && (reserved.contains(token.text) || token.text == "actor" || modifiers.contains(token.text)
                || ScannedSource.Access(word: token.text) != nil)
    }
}
