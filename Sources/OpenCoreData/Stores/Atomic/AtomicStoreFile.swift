import Foundation

/// What is done to the file of a store that is not open here.
struct AtomicStoreFile: StoreFile {
    private let file: AtomicFile
    private let format: any AtomicFormat

    /// Throws 134080 for what can be no file.
    init(_ url: URL, format: any AtomicFormat, options: [AnyHashable: Any]?) throws {
        file = try AtomicFile(url, timeout: SQLiteStoreOptions(options).timeout)
        self.format = format
    }

    package func isSame(as other: URL) -> Bool { AtomicFile.place(other) == file.path }

    private func document() throws -> AtomicDocument? { try file.read().map { try format.document($0, path: file.path) } }

    private func required() throws -> AtomicDocument {
        guard let document = try document() else { throw NSError.coreData(.persistentStoreOpen, "There is no store at \(file.path).") }
        return document
    }

    package func holdsStore() throws -> Bool { try document() != nil }

    /// Takes the file away.
    package func empty() throws {
        if try document() != nil { try file.remove() }
    }

    package func replace(with source: any StoreFile) throws {
        guard let source = source as? AtomicStoreFile, source.format.type == format.type else {
            Violation.misuse("a store of type \(format.type) can only be replaced with another")
        }
        guard let data = try source.file.read() else {
            throw NSError.coreData(.persistentStoreOpen, "There is no store at \(source.file.path) to put in the place of \(file.path).")
        }
        _ = try format.document(data, path: source.file.path)
        do { _ = try document() } catch let error as NSError where error.code == CocoaError.Code.persistentStoreOpen.rawValue {
            // A damaged one is what is to be replaced.
        }
        try file.replace(data)
    }

    package func remake(_ make: (_ place: URL) throws -> Bool) throws {
        _ = try required()
        let url = URL(fileURLWithPath: file.path)
        let place = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
        defer { NewStoreFile.remove(place) }
        // Writing is refused if somebody else has written since this was read.
        guard try make(place) else { return }
        let made = try AtomicStoreFile(place, format: format, options: nil)
        guard let data = try made.file.read() else { throw NSError.coreData(.persistentStoreOpen, "There is no store at \(place.path).") }
        try file.replace(data)
    }

    package func metadata() throws -> [String: Any] {
        let document = try required()
        var metadata = document.metadata.values.filter { !StoreMetadataCoding.hiddenKeys.contains($0.key) }
        metadata[NSStoreTypeKey] = format.type
        metadata[NSStoreUUIDKey] = document.uuid
        return metadata
    }

    package func setMetadata(_ metadata: [String: Any]) throws {
        try rewrite { current in
            let kept = current
            current = metadata
            for key in AtomicFileStore.ownKeys { current[key] = kept[key] }
        }
    }

    private func rewrite(_ change: (inout [String: Any]) -> Void) throws {
        var document = try required()
        change(&document.metadata.values)
        try file.replace(try format.bytes(document))
    }

    package func model() throws -> NSManagedObjectModel? {
        let archive = (try required().metadata.values[StoreMetadataCoding.modelKey] as? Data).flatMap { ModelArchive($0) }
        return try? archive?.model(hasClasses: true)
    }

    package func dueStage() throws -> String? { try required().metadata.values[StoreMetadataCoding.dueStageKey] as? String }

    package func setDueStage(_ checksum: String?) throws {
        if try dueStage() == checksum { return }
        try rewrite { $0[StoreMetadataCoding.dueStageKey] = checksum }
    }
}
