/// A text as a TOML basic string.
func tomlQuoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": quoted += "\\\""
        case "\\": quoted += "\\\\"
        case "\n": quoted += "\\n"
        case "\t": quoted += "\\t"
        case "\r": quoted += "\\r"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
            let digits = String(scalar.value, radix: 16, uppercase: true)
            quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted + "\""
}

/// A key as TOML writes it: bare where it may be, quoted elsewhere.
func tomlKey(_ key: String) -> String {
    let bare =
        !key.isEmpty
        && key.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x5F
        }
    return bare ? key : tomlQuoted(key)
}
