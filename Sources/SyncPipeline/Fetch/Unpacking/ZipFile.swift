import CZlib
import Glibc

/// A body that is a zip file, of which one entry is wanted.
///
/// Where its entries are and what they are is only said at its end, so it waits until it is complete.
final class ZipFile: BodyUnpacker {
    private static let pieceSize = 1 << 16
    /// How many names of entries a message has.
    private static let mostNames = 8

    private let pattern: String?
    private var body: CollectedBody

    /// - Parameters:
    ///   - entry: the name of the entry, or a pattern as a shell has them (`*` may stand for slashes, too); nil: there is only one.
    ///   - place: where the file waits.
    init(entry: String?, place: SpoolPlace) {
        pattern = entry
        body = CollectedBody(place)
    }

    func take(_ bytes: UnsafeRawBufferPointer, to sink: Gunzip.Sink) throws { try body.append(bytes) }

    func finish(to sink: Gunzip.Sink) throws {
        let entry = try chosen(among: try ZipDirectory(of: body).entries)
        let range = try ZipDirectory.content(of: entry, in: body)
        var sum = crc32(0, nil, 0), size = 0
        func hand(_ bytes: UnsafeRawBufferPointer) throws {
            if bytes.isEmpty { return }
            sum = crc32(sum, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(bytes.count))
            size += bytes.count
            try sink(bytes)
        }
        let inflation: Gunzip? = try entry.method == .deflated ? Gunzip(.none) : nil
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.pieceSize) {
            try body.read(start..<min(start + Self.pieceSize, range.upperBound)).withUnsafeBytes { piece in
                guard let inflation else { return try hand(piece) }
                try inflation.append(piece) { try hand($0) }
            }
        }
        try inflation?.finish()
        guard size == entry.size, UInt32(truncatingIfNeeded: sum) == entry.sum else {
            throw FetchError(.corruptBody, detail: "the entry \(entry.name) of the zip file is damaged: its sum is another")
        }
    }

    private func chosen(among entries: [ZipDirectory.Entry]) throws -> ZipDirectory.Entry {
        // Folders, and what one system packs beside each file for itself.
        let files = entries.filter { !$0.name.hasSuffix("/") && !$0.name.hasPrefix("__MACOSX/") }
        let found = files.filter { entry in pattern.map { $0 == entry.name || fnmatch($0, entry.name, 0) == 0 } ?? true }
        if found.count == 1 { return found[0] }
        let listed = (found.isEmpty ? files : found).map(\.name)
        let names = listed.prefix(Self.mostNames).joined(separator: ", ") + (listed.count > Self.mostNames ? ", …" : "")
        if files.isEmpty { throw FetchError(.corruptBody, detail: "there is no file in the zip file") }
        if found.isEmpty { throw FetchError(.corruptBody, detail: "no entry of the zip file is called as zip_entry says; it has \(names)") }
        throw FetchError(.corruptBody, detail: "several entries of the zip file may be meant: \(names); write zip_entry = \"NAME\"")
    }
}
