import Foundation

/// The bytes of a body that is not read before it is complete: in memory, or, where they are too many, in a file that has no name.
struct CollectedBody {
    private let place: SpoolPlace
    private var bytes: [UInt8] = []
    private var file: SpoolFile?
    /// How many there are.
    private(set) var count = 0

    init(_ place: SpoolPlace) { self.place = place }

    /// Adds the next bytes. Throws `FetchError` of the class `spool`, as all here does.
    mutating func append(_ piece: UnsafeRawBufferPointer) throws {
        count += piece.count
        if file == nil, let folder = place.folder, count > place.memory {
            let file = try SpoolFile(in: folder, leavesFree: place.leavesFree)
            _ = try file.append(bytes)
            self.file = file
            bytes = []
        }
        if let file { _ = try file.append(Array(piece)) } else { bytes.append(contentsOf: piece) }
    }

    /// The bytes in a range, which must be among those that there are.
    func read(_ range: Range<Int>) throws -> [UInt8] {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "bytes of a body are read that it has not")
        guard let file else { return Array(bytes[range]) }
        var read: [UInt8] = []
        try file.read(range.count, at: range.lowerBound, into: &read)
        return read
    }
}
