import Foundation
import OpenCoreData

/// A long list of numbers: the last of them and one piece are in memory, the other pieces where a spill has them. A value: what a copy holds does not change.
struct NumberList: Sendable {
    /// How many numbers are a piece.
    static let pieceSize = 4096

    private let spill: BlockSpill
    /// The pieces in front of the last numbers.
    private var pieces: [SpilledBytes] = []
    /// Those behind the pieces, fewer than a piece.
    private var last: [UInt64] = []
    /// The piece that was asked for last.
    private var held: Held?

    private struct Held {
        let piece: Int
        var numbers: [UInt64]
        var isChanged = false
    }

    /// A spill that keeps everything in memory.
    static let memory = BlockSpill(in: nil)

    init(in spill: BlockSpill) { self.spill = spill }

    var count: Int { pieces.count * Self.pieceSize + last.count }
    var isEmpty: Bool { pieces.isEmpty && last.isEmpty }

    mutating func append(_ number: UInt64) {
        last.append(number)
        if last.count == Self.pieceSize {
            pieces.append(copy(last))
            last.removeAll(keepingCapacity: true)
        }
    }

    /// Appends a number that stands at a place, at the end or behind it: zeros stand between.
    mutating func append(_ number: UInt64, at place: Int) {
        while count < place { append(0) }
        append(number)
    }

    private func copy(_ numbers: [UInt64]) -> SpilledBytes { numbers.withUnsafeBytes { spill.bytes(copying: $0) } }

    /// The number at a place. Throws `NSFileReadUnknownError`, as everything here that throws, where a piece waits in a file that can't be read.
    @inline(__always)
    mutating func number(at place: Int) throws -> UInt64 {
        let piece = place / Self.pieceSize
        if piece == pieces.count { return last[place % Self.pieceSize] }
        if held?.piece != piece { try hold(piece) }
        guard let held else { preconditionFailure("a piece that is held") }
        return held.numbers[place % Self.pieceSize]
    }

    /// Sets the number at a place; at the end or behind it, zeros stand between.
    mutating func set(_ number: UInt64, at place: Int) throws {
        if place >= count { return append(number, at: place) }
        let piece = place / Self.pieceSize
        if piece == pieces.count {
            last[place % Self.pieceSize] = number
            return
        }
        if held?.piece != piece { try hold(piece) }
        held?.numbers[place % Self.pieceSize] = number
        held?.isChanged = true
    }

    private mutating func hold(_ piece: Int) throws {
        if let held, held.isChanged { pieces[held.piece] = copy(held.numbers) }
        held = nil
        held = Held(piece: piece, numbers: try read(piece))
    }

    private func read(_ piece: Int) throws -> [UInt64] { try pieces[piece].withBytes { Array($0.assumingMemoryBound(to: UInt64.self)) } }

    /// How many pieces there are, the last numbers included.
    var pieceCount: Int { pieces.count + (last.isEmpty ? 0 : 1) }

    /// The numbers of a piece.
    func piece(_ piece: Int) throws -> [UInt64] {
        if piece == pieces.count { return last }
        if let held, held.piece == piece { return held.numbers }
        return try read(piece)
    }
}
