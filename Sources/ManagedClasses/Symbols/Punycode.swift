/// Identifiers beyond ASCII, in the form that Swift's symbols have them: RFC 3492 with other digits (a–z, A–J) and an underscore between.
enum Punycode {
    private static let base = 36, least = 1, most = 26, skew = 38, damp = 700, firstBias = 72, firstScalar = 128

    /// Whether an identifier holds what a symbol can't.
    static func isNeeded(for name: [UInt8]) -> Bool {
        guard let first = name.first else { return false }
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) || !name.allSatisfy(isSymbolic)
    }

    static func encode(_ name: String) -> [UInt8] {
        // What ASCII has and symbols don't goes beyond Unicode's own characters.
        let scalars = name.unicodeScalars.map { scalar in
            scalar.isASCII && !isSymbolic(UInt8(scalar.value)) ? Int(scalar.value) + 0xD800 : Int(scalar.value)
        }
        var result = scalars.filter { $0 < firstScalar }.map { UInt8($0) }
        let basic = result.count
        var handled = basic, scalar = firstScalar, delta = 0, bias = firstBias
        if basic > 0 { result.append(UInt8(ascii: "_")) }
        while handled < scalars.count, let next = scalars.filter({ $0 >= scalar }).min() {
            delta += (next - scalar) * (handled + 1)
            scalar = next
            for other in scalars {
                if other < scalar { delta += 1 }
                guard other == scalar else { continue }
                append(delta, bias, to: &result)
                bias = adapted(delta, handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            scalar += 1
        }
        return result
    }

    private static func append(_ delta: Int, _ bias: Int, to result: inout [UInt8]) {
        var rest = delta, position = base
        while true {
            let threshold = min(max(position - bias, least), most)
            if rest < threshold { break }
            result.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        result.append(digit(rest))
    }

    private static func digit(_ value: Int) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "A") + UInt8(value - 26)
    }

    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / count
        var position = 0
        while delta > (base - least) * most / 2 {
            delta /= base - least
            position += base
        }
        return position + (base - least + 1) * delta / (delta + skew)
    }

    private static func isSymbolic(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "$"):
            true
        default: false
        }
    }
}
