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
