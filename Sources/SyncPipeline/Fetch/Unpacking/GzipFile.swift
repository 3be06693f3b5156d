/// Takes out of a file what is packed in it: while the file arrives, or at its end.
protocol BodyUnpacker: AnyObject {
    /// Takes the next bytes of the file.
    /// - Throws: `FetchError`, and what `sink` throws.
    func take(_ bytes: UnsafeRawBufferPointer, to sink: Gunzip.Sink) throws
    /// Says that nothing more comes. Throws as `take` does; `shortBody` if the file is not complete.
    func finish(to sink: Gunzip.Sink) throws
}

/// A body that is a gzip file.
///
/// Of such a file many servers say that HTTP has compressed it: then it has been unpacked already.
final class GzipFile: BodyUnpacker {
    private enum State {
        /// What it is shows with its second byte.
        case beginning([UInt8])
        case packed
        case unpacked
    }

    private static let magic: [UInt8] = [0x1F, 0x8B]
    /// Files that are read at random places have a member for every 64 KiB.
    private static let mostMembers = 65_536

    private let gunzip: Gunzip
    private let mayBeUnpacked: Bool
    private var state = State.beginning([])
    /// How many have begun.
    var members: Int { gunzip.members }

    /// - Parameter mayBeUnpacked: whether HTTP has decompressed it.
    init(mayBeUnpacked: Bool) throws {
        gunzip = try Gunzip(mostMembers: Self.mostMembers)
        self.mayBeUnpacked = mayBeUnpacked
    }

    func take(_ bytes: UnsafeRawBufferPointer, to sink: Gunzip.Sink) throws {
        switch state {
        case .beginning(let head):
            let longer = head + bytes
            state = .beginning(longer)
            if longer.count >= Self.magic.count { try begin(longer, to: sink) }
        case .packed: try gunzip.append(bytes, to: sink)
        case .unpacked: try sink(bytes)
        }
    }

    func finish(to sink: Gunzip.Sink) throws {
        if case .beginning(let head) = state { try begin(head, to: sink) }
        if case .packed = state { try gunzip.finish() }
    }

    private func begin(_ head: [UInt8], to sink: Gunzip.Sink) throws {
        let isPacked = head.starts(with: Self.magic)
        guard isPacked || mayBeUnpacked else {
            throw FetchError(.corruptBody, detail: "it is no gzip file; remove unpack if it never is one")
        }
        state = isPacked ? .packed : .unpacked
        try head.withUnsafeBytes { try isPacked ? gunzip.append($0, to: sink) : sink($0) }
    }
}
