import Foundation
import OpenCoreData
import Testing

/// Values by object ID: the same as a dictionary, whatever the order of keys, and in the order in which they came.
@Suite struct IDTableTests {
    private let model: NSManagedObjectModel
    private let store = StoreIdentity(uuid: "here")

    init() {
        let entities = ["One", "Two"].map { name in
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        model = NSManagedObjectModel(entities: entities)
        model.freeze()
    }

    private func id(_ key: Int64, _ entity: Int = 0, _ store: StoreIdentity? = nil) -> NSManagedObjectID {
        NSManagedObjectID(entity: model.entities[entity], key: key, store: store ?? self.store, isTemporary: false)
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    @Test(arguments: 0..<20) func itHoldsWhatADictionaryHolds(_ seed: Int) {
        var generator = Generator(state: UInt64(seed)), table = IDTable<Int>(), model: [NSManagedObjectID: Int] = [:]
        // In half of the runs keys ascend at first, and for most of that time the oldest go about as fast as new ones come; then, and in the other
        // runs from the start, they are anywhere, with keys that are far apart or the same in two trees.
        let isOrderly = seed % 2 == 0
        var oldest: Int64 = 0
        for step in 0..<2000 {
            let ascends = isOrderly && step < 1500
            let key = ascends ? Int64(step / 2) : Int64.random(in: 0..<900, using: &generator)
            let id = id(step % 97 == 0 && !ascends ? key &* (1 << 53) : key, isOrderly ? 0 : step % 2)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                #expect(table.updateValue(step, forKey: id) == model.updateValue(step, forKey: id))
            case 5..<8 where ascends && step < 1200:
                for old in [oldest, oldest + 1] where old < key - 20 {
                    #expect(table.removeValue(forKey: self.id(old)) == model.removeValue(forKey: self.id(old)))
                    oldest = old + 1
                }
            case 5..<8:
                let other = self.id(Int64.random(in: 0..<900, using: &generator))
                #expect(table.removeValue(forKey: other) == model.removeValue(forKey: other))
            default:
                table[id] = nil
                model[id] = nil
            }
            #expect(table.count == model.count)
        }
        #expect(Dictionary(uniqueKeysWithValues: table.map { ($0.key, $0.value) }) == model)
        for (id, value) in model { #expect(table[id] == value) }
        #expect(Set(table.keys) == Set(model.keys) && table.values.sorted() == model.values.sorted())
        for id in Array(model.keys) { table[id] = nil }
        #expect(table.isEmpty && table.first == nil)
    }

    @Test(arguments: [[1, 2, 3, 7, 9], [9, 7, 3, 2, 1], [5, 1, 9, 3, 4]] as [[Int64]]) func itGoesThroughWhatItHoldsAsThatCame(_ keys: [Int64]) {
        var table = IDTable<Int64>()
        for key in keys { table[id(key)] = key }
        #expect(table.map(\.value) == keys)
        table[id(keys[2])] = nil
        #expect(table.values == keys.filter { $0 != keys[2] })
    }

    @Test func equalKeysOfOtherTreesAndStoresAreOthers() {
        var table = IDTable<String>()
        let places = [(0, "here"), (1, "here"), (0, "there")].map { id(5, $0.0, StoreIdentity(uuid: $0.1)) }
        for (number, id) in places.enumerated() { table[id] = "\(number)" }
        #expect(places.map { table[$0] } == ["0", "1", "2"])
        #expect(table[id(5)] == "0" && table[id(6)] == nil && table[id(.min)] == nil && table[id(.max)] == nil)
    }

    @Test func aCopyIsOfItsOwn() {
        var table: IDTable<Int> = [id(1): 1, id(2): 2]
        let copy = table
        table[id(1)] = 3
        table[id(2)] = nil
        #expect(copy == [id(2): 2, id(1): 1] && table == [id(1): 3])
    }
}
