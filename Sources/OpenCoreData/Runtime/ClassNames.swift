import CSwiftRuntime
import Foundation
import Synchronization

/// Classes by the name that a model gives them.
enum ClassNames {
    /// The full names of what was found, by the name asked for. What was not found is not looked for again: it takes a look at every type.
    private static let found = Mutex<[String: [String]]>([:])

    /// The classes of a name: of `Module.Class` that one; of `Class` and `.Class`, of which the module is not known, every class that a module of the
    /// process declares under this name by itself, not within another type.
    static func classes(named name: String) -> [AnyClass] {
        let name = name.hasPrefix(".") ? String(name.dropFirst()) : name
        if let known = found.withLock({ $0[name] }) { return known.compactMap(NSClassFromString) }
        let names = name.contains(".") ? [name] : modules(declaring: name).sorted().map { "\($0).\(name)" }
        let classes = names.compactMap(NSClassFromString)
        found.withLock { $0[name] = classes.isEmpty ? [] : names }
        return classes
    }

    private final class Search {
        let name: ContiguousArray<CChar>
        var modules: Set<String> = []
        init(_ name: String) { self.name = name.utf8CString }
    }

    private static func modules(declaring name: String) -> Set<String> {
        let search = Search(name)
        withExtendedLifetime(search) {
            swift_enumerateAllMetadataSections(
                { image, context in
                    let search = Unmanaged<Search>.fromOpaque(context).takeUnretainedValue()
                    // The layout that is read here has been the same since version 1; a later one that changes it counts further than this.
                    guard image.pointee.version < 16, let types = image.pointee.types else { return true }
                    for offset in stride(from: 0, to: image.pointee.types_length, by: 4) {
                        if let descriptor = TypeDescriptor(recordedAt: types + offset), let module = descriptor.module(ifClassNamed: search.name) {
                            search.modules.insert(module)
                        }
                    }
                    return true
                }, Unmanaged.passUnretained(search).toOpaque())
        }
        return search.modules
    }
}

/// What describes a type to Swift's runtime (swift/ABI/Metadata.h, `TargetTypeContextDescriptor`): flags, then relative references to the surrounding
/// context and to the name, four bytes each.
private struct TypeDescriptor {
    private let address: UnsafeRawPointer

    private static let kindMask: UInt32 = 0x1F
    private static let isGeneric: UInt32 = 0x80
    private static let ofModule: UInt32 = 0
    private static let ofClass: UInt32 = 16

    /// Nil for a record that leads to something else than a type's descriptor.
    init?(recordedAt record: UnsafeRawPointer) {
        let offset = record.loadUnaligned(as: Int32.self)
        let target = record + Int(offset & ~3)
        switch offset & 3 {
        case 0: address = target
        case 1:
            guard let address = target.loadUnaligned(as: UnsafeRawPointer?.self) else { return nil }
            self.address = address
        default: return nil
        }
    }

    private init(_ address: UnsafeRawPointer) { self.address = address }

    private var flags: UInt32 { address.loadUnaligned(as: UInt32.self) }

    /// The name of the module, if this is a class of this name that is not generic and that the module itself declares.
    func module(ifClassNamed name: ContiguousArray<CChar>) -> String? {
        guard flags & Self.kindMask == Self.ofClass, flags & Self.isGeneric == 0, let mine = self.name,
            name.withUnsafeBufferPointer({ strcmp(mine, $0.baseAddress ?? mine) }) == 0,
            let parent, parent.flags & Self.kindMask == Self.ofModule, let module = parent.name
        else { return nil }
        return String(cString: module)
    }

    private var name: UnsafePointer<CChar>? {
        let offset = (address + 8).loadUnaligned(as: Int32.self)
        return offset == 0 ? nil : (address + 8 + Int(offset)).assumingMemoryBound(to: CChar.self)
    }

    /// Either the context itself, or, marked by the lowest bit, where its address stands.
    private var parent: TypeDescriptor? {
        let offset = (address + 4).loadUnaligned(as: Int32.self)
        guard offset != 0 else { return nil }
        let target = address + 4 + Int(offset & ~1)
        if offset & 1 == 0 { return TypeDescriptor(target) }
        return target.loadUnaligned(as: UnsafeRawPointer?.self).map { TypeDescriptor($0) }
    }
}
