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

/// What to say about a word that is not among the known ones: the nearest, or all of them.
func suggestion(for word: String, among known: [String], kind: String) -> String {
    let plain = word.replacing("-", with: "_")
    let nearest = known.map { (editDistance(plain, $0.replacing("-", with: "_")), $0) }.min { $0.0 < $1.0 }
    if let nearest, nearest.0 <= max(2, word.count / 3) { return "did you mean \"\(nearest.1)\"?" }
    let prefixed = known.filter { word.count >= 3 && ($0.hasPrefix(word) || $0.hasSuffix(word)) }
    if prefixed.count == 1 { return "did you mean \"\(prefixed[0])\"?" }
    return known.isEmpty ? "remove it" : "\(kind): \(known.joined(separator: ", "))"
}
