import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration

/// Writes records of an entity that has nothing but attributes straight into rows that are inserted in blocks: from the bytes of the page, with no object
/// and no string made for any of them.
///
/// What does not fit (a value that is not what the attribute takes as it is, a text that is too long) is left to the mapper's own way, which also says
/// what is wrong with it.
final class RecordPacker {
    private let mapping: EntityMapping
    private let rows: RowImport
    private let now: Double
    private let run: Int64
    /// Where the records stand that wait, in the page.
    private(set) var places: [Int] = []
    /// The first rows are few: if they are there already, the others are, too.
    private var wanted: Int
    private let largest: Int

    private static let firstRows = 128

    /// Nil for an entity whose rows name others, or are not packed.
    init?(_ mapping: EntityMapping, in context: NSManagedObjectContext, now: Double, run: Int64, batchSize: Int) {
        guard mapping.relationships.isEmpty, mapping.entity.comesInBlocks else { return nil }
        self.mapping = mapping
        self.now = now
        self.run = run
        rows = RowImport(into: context, entity: mapping.entity, set: mapping.said)
        largest = batchSize
        wanted = min(Self.firstRows, batchSize)
    }

    var isEmpty: Bool { places.isEmpty }
    var isFull: Bool { places.count >= wanted || rows.builder.isFull }

    /// - Parameter hash: of the record, with the mapping's salt.
    /// - Returns: whether the record waits to be inserted now.
    func add(_ record: JSONRecord, at place: Int, hash: Int64) -> Bool {
        let builder = rows.builder
        for step in mapping.steps {
            let fits =
                switch step {
                case .value(let index): mapping.attributes[index].put(record, into: builder)
                case .now: builder.put(date: now)
                case .run: builder.put(integer: run)
                case .hash: builder.put(integer: hash)
                case .no: builder.put(bool: false)
                case .fixed(let value): builder.put(value)
                }
            if !fits {
                builder.beginRow()
                return false
            }
        }
        guard builder.endRow() else { return false }
        places.append(place)
        return true
    }

    /// Inserts what waits.
    ///
    /// - Returns: the primary keys; nil if one of the records may have a row already: then all of them still wait.
    func insert() throws -> Range<Int64>? {
        guard let keys = try rows.insert() else { return nil }
        wanted = largest
        return keys
    }

    /// Forgets what waits.
    func removeAll() {
        places.removeAll(keepingCapacity: true)
        rows.builder.removeAll()
    }

    /// What waits as drafts, in order.
    func drafts() -> [Draft] {
        places.enumerated().compactMap { number, place in
            let row = rows.builder.row(number)
            guard let key = mapping.layout.constraints[0].key(of: row) else { return nil }
            return Draft(mapping: mapping, key: key, row: row.copy(), at: place)
        }
    }
}

extension EntityMapping {
    /// What a slot of a new record's row is.
    enum Step: Sendable {
        /// The value of an attribute, by its index.
        case value(Int)
        case now
        case run
        case hash
        case no
        case fixed(AttributeValue)
    }

    static func steps(_ layout: EntityLayout, _ attributes: [AttributeField], _ bookkeeping: Bookkeeping) -> [Step] {
        (0..<layout.count).map { slot in
            if let index = attributes.firstIndex(where: { $0.slot == slot }) { return .value(index) }
            return switch slot {
            case bookkeeping.firstSeen, bookkeeping.lastChanged: .now
            case bookkeeping.run: .run
            case bookkeeping.hash: .hash
            case bookkeeping.stub: .no
            default: .fixed(layout.defaults[slot])
            }
        }
    }
}

extension EntityMapping.AttributeField {
    /// Writes the value of a record.
    ///
    /// - Returns: false if that takes a conversion that can fail, or has failed.
    @inline(__always)
    fileprivate func put(_ record: JSONRecord, into builder: RowBlockBuilder) -> Bool {
        let cell = record[field]
        switch (form, cell) {
        case (.string, .string(let text)): return text.withUTF8 { builder.put(text: $0) }
        case (.integer, .int64(let value)): return builder.put(integer: value)
        case (.double, .double(let value)): return builder.put(double: value)
        case (.double, .int64(let value)): return builder.put(double: Double(value))
        case (.bool, .bool(let value)): return builder.put(bool: value)
        case (.date, _) where !cell.isNil:
            return DateConversion.seconds(cell, format: conversion.attribute.format).map { builder.put(date: $0) } ?? false
        case (_, .null): return !isRequired && builder.putNull()
        case (_, .missing): return !isKey && !(isRequired && fallback.isNull) && builder.put(fallback)
        default: return (try? value(cell, of: record)).map { !($0.isNull && isRequired) && builder.put($0) } ?? false
        }
    }
}
