/// How many letters must be added, removed, changed or exchanged with their neighbour to make one word of another.
func editDistance(_ left: String, _ right: String) -> Int {
    let a = Array(left.lowercased().prefix(64))
    let b = Array(right.lowercased().prefix(64))
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in 1...a.count {
        var row = [i]
        for j in 1...b.count {
            var cost = min(row[j - 1] + 1, last[j] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, before[j - 2] + 1) }
            row.append(cost)
        }
        before = last
        last = row
    }
    return last[b.count]
}

/// What to say about a word that is not among the known ones: the nearest, or all of them, or the first of very many.
func suggestion(for word: String, among known: some Collection<String>, kind: String) -> String {
    let plain = word.replacing("-", with: "_"), farthest = max(2, word.count / 3)
    let candidates = known.prefix(maxKnownWords)
    let nearest = candidates.filter { min(abs($0.count - word.count), 64) <= farthest }
        .map { (editDistance(plain, $0.replacing("-", with: "_")), $0) }.min { $0.0 < $1.0 }
    if let nearest, nearest.0 <= farthest { return "did you mean \"\(nearest.1)\"?" }
    let prefixed = candidates.filter { word.count >= 3 && ($0.hasPrefix(word) || $0.hasSuffix(word)) }
    if prefixed.count == 1 { return "did you mean \"\(prefixed[0])\"?" }
    if known.isEmpty { return "remove it" }
    let more = known.count > maxNamedWords ? ", and \(known.count - maxNamedWords) more" : ""
    return "\(kind): \(known.prefix(maxNamedWords).joined(separator: ", "))\(more)"
}

/// Among how many words the nearest is looked for.
private let maxKnownWords = 400
/// How many known words are named.
private let maxNamedWords = 60
