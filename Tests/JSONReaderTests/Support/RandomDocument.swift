/// Makes JSON, much of it as awkward to cut as JSON can be; the same for the same seed.
struct RandomDocument: RandomNumberGenerator {
    private var state: UInt64
    private(set) var bytes: [UInt8] = []

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &self) == 0 }

    /// A page with a list at `$`, at `$.data` or at `$.a.b`; in some cases nearly so.
    mutating func page(_ path: [String]) -> [UInt8] {
        bytes = []
        if chance(20) { bytes += [0xEF, 0xBB, 0xBF] }
        around(path[...])
        space()
        if chance(40) { write(["x", "]", "{}", "\0", ","].randomElement(using: &self)!) }
        return bytes
    }

    private mutating func around(_ path: ArraySlice<String>) {
        space()
        guard let key = path.first else { return chance(12) ? value(depth: 2) : list() }
        write("{")
        for _ in 0..<Int.random(in: 0...2, using: &self) {
            space()
            string(chance(10) ? key : ["next", "meta", "dat", "aa", "", "a\\u0062"].randomElement(using: &self)!)
            write(":")
            value(depth: 0)
            write(",")
        }
        space()
        string(chance(5) ? escaped(key) : chance(20) ? "other" : key)
        space()
        write(":")
        around(path.dropFirst())
        while chance(3) {
            space()
            write(",")
            string(chance(6) ? key : "next")
            write(":")
            value(depth: 0)
        }
        space()
        write("}")
    }

    private mutating func list() {
        write("[")
        let count = chance(6) ? 0 : Int.random(in: 1...6, using: &self)
        for number in 0..<count {
            if number > 0 {
                space()
                write(",")
            }
            space()
            if chance(8) { value(depth: 3) } else { object(depth: 0, width: 6) }
        }
        space()
        write("]")
    }

    private mutating func value(depth: Int) {
        space()
        switch Int.random(in: 0..<(depth > 4 ? 4 : 6), using: &self) {
        case 0: write(["0", "-1.5e3", "12345678901234567890", "7", "1e400"].randomElement(using: &self)!)
        case 1: write(["true", "false", "null"].randomElement(using: &self)!)
        case 2, 3: string(text())
        case 4: object(depth: depth + 1, width: 3)
        default:
            write("[")
            for number in 0..<Int.random(in: 0...3, using: &self) {
                if number > 0 { write(",") }
                value(depth: depth + 1)
            }
            space()
            write("]")
        }
        space()
    }

    private mutating func object(depth: Int, width: Int) {
        write("{")
        for number in 0..<Int.random(in: 0...width, using: &self) {
            if number > 0 { write(",") }
            space()
            string(chance(4) ? text() : "k\(chance(10) ? 0 : number)")
            space()
            write(":")
            value(depth: depth + 1)
        }
        space()
        write("}")
    }

    /// The inside of a string: brackets, quotes, runs of backslashes up to more than a block of 64 bytes, and in some cases thousands of bytes.
    private mutating func text() -> String {
        var text = ""
        let parts = ["[", "]", "{", "}", ",", ":", "\\\"", "\\\\", "\\n", "\\u00e9", "\\ud83d\\ude00", "é", "€", "😀", " ", "a", "\\u0022", "]},{"]
        for _ in 0..<Int.random(in: 0...8, using: &self) { text += parts.randomElement(using: &self)! }
        if chance(6) { text += String(repeating: "\\\\", count: Int.random(in: 1...40, using: &self)) + (chance(2) ? "\\\"" : "") }
        if chance(6) { text += String(repeating: "x", count: Int.random(in: 40...80, using: &self)) + "\\\\\\\"}" }
        if chance(150) { text += String(repeating: "lorem ipsum {\\\"} ", count: Int.random(in: 0...600, using: &self)) }
        return text
    }

    private func escaped(_ key: String) -> String {
        key.unicodeScalars.map { scalar in
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    private mutating func string(_ text: String) { write("\"\(text)\"") }

    private mutating func space() {
        while chance(6) { write([" ", "\n", "\t", "\r\n"].randomElement(using: &self)!) }
    }

    private mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// The same page with a few bytes changed, lost, added or cut off.
    mutating func damaged(_ page: [UInt8]) -> [UInt8] {
        var page = page
        let marks = Array("[]{}\",:\\ 0t\n".utf8) + [0, 0xEF, 0xFF, 0xC3]
        for _ in 0..<Int.random(in: 1...2, using: &self) where !page.isEmpty {
            let place = Int.random(in: 0..<page.count, using: &self)
            switch Int.random(in: 0..<6, using: &self) {
            case 0: page[place] = marks.randomElement(using: &self)!
            case 1: page[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 2: page.remove(at: place)
            case 3: page.insert(marks.randomElement(using: &self)!, at: place)
            case 4: page.removeLast(min(page.count, Int.random(in: 1...40, using: &self)))
            default:
                // Of a mark, since most bytes are none.
                let found = page.indices.filter { page[$0] == UInt8(ascii: ",") || page[$0] == UInt8(ascii: "\"") || page[$0] == UInt8(ascii: "}") }
                if let one = found.randomElement(using: &self) { page.remove(at: one) }
            }
        }
        return page
    }
}
