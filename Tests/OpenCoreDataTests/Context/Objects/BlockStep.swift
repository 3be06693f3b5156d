import OpenCoreDataTestSupport

@testable import OpenCoreData

enum BlockStep: CustomStringConvertible {
    indirect enum Action {
        case importBlock([String], Int)
        case importRows([String], Int)
        case make(String, Int)
        case change(String, Int)
        case rename(String, String)
        case delete(String)
        case own(String, String)
        case addFan(String, String)
        case removeFan(String, String)
        /// Forgets what is unsaved of an owner, an area or a place.
        case refresh(String, String)
        case makeNamed(String, String)
        case deleteNamed(String, String)
        case members(String)
        case save, saveThrough, rollback, reset, fetch, count, inserted
    }

    case inContext(Int, Action)
    /// Save after save to the store.
    case saveUp(Int)
    case foreign(String, Int)
    /// Somebody else deletes an owner or an area.
    case foreignDelete(String, String)

    var description: String {
        switch self {
        case .inContext(let number, let action): "\(BlockWorld.names[number]): \(action)"
        case .saveUp(let number): "\(BlockWorld.names[number]): saveUp"
        case .foreign(let code, let size): "stranger: \(code) = \(size)"
        case .foreignDelete(let kind, let code): "stranger: without \(kind) \(code)"
        }
    }

    /// - Parameter isQuiet: nobody looks for an object, so that blocks go all the way unopened.
    static func random(_ random: inout SeededRandom, isQuiet: Bool) -> BlockStep {
        func code() -> String { "c\(random.next(upTo: 12))" }
        func size() -> Int { random.next(upTo: 40) }
        func owner(of count: Int = 4) -> String { "o\(random.next(upTo: count))" }
        let kind = random.next(upTo: 2) == 0 ? "Owner" : "Area"
        func some() -> [String] {
            // Mostly others than before, so that blocks are made at all.
            let first = random.next(upTo: 4) > 0 ? 12 + random.next(upTo: 400) : random.next(upTo: 12)
            let codes = (0..<1 + random.next(upTo: 4)).map { "c\(first + $0)" }
            return random.next(upTo: 12) == 0 ? codes + [codes[0]] : codes
        }
        let number = random.next(upTo: BlockWorld.names.count)
        switch random.next(upTo: 50) {
        case 32..<35: return .inContext(number, .makeNamed(kind, owner(of: 3)))
        case 35, 36: return .inContext(number, .deleteNamed(kind, owner()))
        case 37, 38: return .foreignDelete(kind, owner())
        case 39 where !isQuiet: return .inContext(number, .members(owner()))
        case 40 where !isQuiet: return .inContext(number, .own(code(), owner()))
        case 44, 45: return .inContext(number, .addFan(isQuiet ? some()[0] : code(), owner()))
        case 46, 47: return .inContext(number, .removeFan(isQuiet ? some()[0] : code(), owner()))
        case 48, 49: return random.next(upTo: 3) == 0 ? .inContext(number, .refresh("Place", code())) : .inContext(number, .refresh(kind, owner()))
        case 39..<44: return .inContext(number, .importBlock(some(), size()))
        case 11..<16 where isQuiet, 20..<23 where isQuiet: return .saveUp(number)
        case 0..<9: return .inContext(number, .importBlock(some(), size()))
        case 9..<11: return .inContext(number, .importRows(some(), size()))
        case 11: return .inContext(number, .make(code(), size()))
        case 12, 13: return .inContext(number, .change(code(), size()))
        case 14: return .inContext(number, .rename(code(), code()))
        case 15: return .inContext(number, .delete(code()))
        case 16: return .foreign(code(), size())
        case 17: return .inContext(number, .saveThrough)
        case 18: return .inContext(number, .rollback)
        case 19: return .inContext(number, .reset)
        case 20: return .inContext(number, .fetch)
        case 21: return .inContext(number, .count)
        case 22: return .inContext(number, .inserted)
        case 23..<26: return .saveUp(number)
        default: return .inContext(number, .save)
        }
    }
}
