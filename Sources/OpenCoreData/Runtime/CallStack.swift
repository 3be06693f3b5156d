import CSwiftRuntime
import Foundation

/// Where a thread was: taken in microseconds, put into words, which takes longer, only for who reads it.
///
/// The toolchain has a module that does this and more, but its library wants an executable stack, which a hardened service is not given.
struct CallStack: Sendable {
    private let addresses: [UInt]

    /// Where the caller is.
    static func here() -> CallStack { CallStack(addresses: Thread.callStackReturnAddresses.map(\.uintValue)) }

    /// The functions, innermost first; where a name is not known, the file and the offset in it. Those by which the stack was taken are left
    /// out.
    var frames: [String] {
        var names: [UInt: String] = [:]
        let places = addresses.compactMap { address in Self.place(of: address).map { (address, $0) } }
        for (path, group) in Dictionary(grouping: places, by: { $0.1.path }) {
            let found = SymbolTable(path: path)?.names(of: group.map(\.1.offset)) ?? [:]
            for (address, place) in group { names[address] = found[place.offset].map(Self.demangled) ?? "\(path)+\(place.offset)" }
        }
        return Array(addresses.compactMap { names[$0] }.drop { name in Self.own.contains { name.contains($0) } })
    }

    private static let own = ["CallStack", "callStackReturnAddresses", "WaitGraph", "ContextQueue", "MainQueueLoad"]

    /// The file that the code came from, and where in it.
    private static func place(of address: UInt) -> (path: String, offset: UInt)? {
        var image = loaded_image()
        guard let pointer = UnsafeRawPointer(bitPattern: address), dladdr(pointer, &image) != 0, let path = image.path else { return nil }
        // A return address lies behind the call, and may lie behind the function.
        return (String(cString: path), address - 1 - UInt(bitPattern: image.base))
    }

    private static func demangled(_ name: String) -> String {
        guard let words = swift_demangle(name, name.utf8.count, nil, nil, 0) else { return name }
        defer { free(words) }
        return String(cString: words)
    }
}

/// The names of the functions in an ELF file, those included that the file does not show to others (which `dladdr` does not know). 64 bits,
/// the machine's own byte order.
struct SymbolTable {
    private let file: Data
    private let symbols: Section
    private let strings: Section

    private struct Section {
        let kind: UInt32, link: UInt32
        let range: Range<Int>
    }

    private static let symbolSize = 24

    /// Nil if the file can't be read, is no such file, or was stripped.
    init?(path: String) {
        let url = path.contains("/") ? URL(fileURLWithPath: path) : URL(fileURLWithPath: "/proc/self/exe")
        // A stack without names is still a stack.
        guard let file = try? Data(contentsOf: url, options: .mappedIfSafe) else { return nil }
        let sections: [Section]? = file.withUnsafeBytes { bytes in
            guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2]), let start = Self.integer(UInt64.self, bytes, 0x28),
                let count = Self.integer(UInt16.self, bytes, 0x3C), start < bytes.count
            else { return nil }
            return (0..<Int(count)).compactMap { Self.section(bytes, Int(start) + $0 * 64) }
        }
        guard let sections, let symbols = sections.first(where: { $0.kind == 2 }) ?? sections.first(where: { $0.kind == 11 }),
            sections.indices.contains(Int(symbols.link))
        else { return nil }
        self.file = file
        self.symbols = symbols
        strings = sections[Int(symbols.link)]
    }

    /// The functions that these offsets from the beginning of the loaded file lie in.
    func names(of offsets: [UInt]) -> [UInt: String] {
        var names: [UInt: String] = [:]
        guard let lowest = offsets.min(), let highest = offsets.max() else { return names }
        file.withUnsafeBytes { bytes in
            for place in stride(from: symbols.range.lowerBound, to: symbols.range.upperBound - Self.symbolSize + 1, by: Self.symbolSize) {
                // A function's type is 2.
                guard bytes[place + 4] & 0xF == 2 else { continue }
                let value = bytes.loadUnaligned(fromByteOffset: place + 8, as: UInt.self)
                let size = bytes.loadUnaligned(fromByteOffset: place + 16, as: UInt.self)
                // Most of a million functions lie beyond them all.
                guard value <= highest, lowest < value || lowest - value < size else { continue }
                for offset in offsets where offset >= value && offset - value < size {
                    names[offset] = string(bytes, Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
                }
            }
        }
        return names
    }

    private func string(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> String? {
        guard strings.range.count > index else { return nil }
        return String(decoding: bytes[strings.range].dropFirst(index).prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func section(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Section? {
        guard let kind = integer(UInt32.self, bytes, place + 4), let link = integer(UInt32.self, bytes, place + 0x28),
            let start = integer(UInt64.self, bytes, place + 0x18), let size = integer(UInt64.self, bytes, place + 0x20)
        else { return nil }
        // A section without contents in the file, or beyond its end, is an empty one.
        let from = Int(clamping: start), to = from.addingReportingOverflow(Int(clamping: size))
        let fits = kind != 8 && !to.overflow && to.partialValue <= bytes.count
        return Section(kind: kind, link: link, range: fits ? from..<to.partialValue : 0..<0)
    }

    private static func integer<T: FixedWidthInteger>(_ type: T.Type, _ bytes: UnsafeRawBufferPointer, _ place: Int) -> T? {
        guard place >= 0, bytes.count >= MemoryLayout<T>.size, place <= bytes.count - MemoryLayout<T>.size else { return nil }
        return bytes.loadUnaligned(fromByteOffset: place, as: type)
    }
}
