import Foundation
import OpenCoreData
import Testing

struct NSSortDescriptorKeyTests {
    private func names(_ rows: [[String: Any]], _ descriptors: NSSortDescriptor...) -> [String] {
        NSArray(array: rows).sortedArray(using: descriptors).compactMap { ($0 as? [String: Any])?["n"] as? String }
    }

    // F7
    @Test func aDescriptorKnowsItsKeyDirectionAndSelector() {
        let descriptor = NSSortDescriptor(key: "owner.name", ascending: false, selector: .caseInsensitiveCompare)
        #expect(descriptor.key == "owner.name" && !descriptor.ascending && descriptor.selector == .caseInsensitiveCompare)
        #expect(
            descriptor.node
                == SortNode(keyPath: PredicateKeyPath(keys: ["owner", "name"]), ascending: false, selector: .caseInsensitiveCompare))
        #expect(NSSortDescriptor(key: "a", ascending: true).selector == .compare)
        #expect(descriptor.selector?.description == "caseInsensitiveCompare:")
    }

    // F7
    @Test func severalDescriptorsSortOneAfterTheOther() {
        let rows: [[String: Any]] = [
            ["n": "a", "x": 2, "y": 1], ["n": "b", "x": 1, "y": 1], ["n": "c", "x": 2, "y": 3], ["n": "d", "x": 1, "y": 2],
        ]
        let x = NSSortDescriptor(key: "x", ascending: true)
        #expect(names(rows, x, NSSortDescriptor(key: "y", ascending: false)) == ["d", "b", "c", "a"])
        #expect(
            names(rows, NSSortDescriptor(key: "x", ascending: false), NSSortDescriptor(key: "y", ascending: true)) == ["a", "c", "b", "d"])
    }

    // F7
    @Test func nilComesFirstWhenAscending() {
        let rows: [[String: Any]] = [["n": "a", "x": 1], ["n": "b"], ["n": "c", "x": -5]]
        #expect(names(rows, NSSortDescriptor(key: "x", ascending: true)) == ["b", "c", "a"])
        #expect(names(rows, NSSortDescriptor(key: "x", ascending: false)) == ["a", "c", "b"])
    }

    // F7
    @Test func keyPathsGoThroughToOne() {
        let rows: [[String: Any]] = [["n": "a", "o": ["x": 2]], ["n": "b"], ["n": "c", "o": ["x": 1]]]
        #expect(names(rows, NSSortDescriptor(key: "o.x", ascending: true)) == ["b", "c", "a"])
    }

    // F7
    @Test func stringsSortByBytesOrWithoutCase() {
        let rows: [[String: Any]] = ["b", "A", "C", "é", "É", "z"].map { ["n": $0] }
        #expect(names(rows, NSSortDescriptor(key: "n", ascending: true)) == ["A", "C", "b", "z", "É", "é"])
        let folded = names(rows, NSSortDescriptor(key: "n", ascending: true, selector: .caseInsensitiveCompare))
        #expect(folded.map { $0.lowercased() } == ["a", "b", "c", "z", "é", "é"])
    }

    // F7
    @Test func theSelectorsOfALanguageOrderWords() {
        #expect(SortSelector.localizedStandardCompare.compare("file9", "File10") == .orderedAscending)
        #expect(SortSelector.localizedCaseInsensitiveCompare.compare("a", "B") == .orderedAscending)
        #expect(SortSelector.localizedCompare.compare("a", "b") == .orderedAscending)
        #expect(SortSelector.compare.compare("file9", "file10") == .orderedDescending)
    }

    // F7
    @Test func valuesOfEveryTypeSort() {
        let first = Date(timeIntervalSinceReferenceDate: 1)
        let rows: [[String: Any]] = [["n": "b", "x": first + 1], ["n": "a", "x": first]]
        #expect(names(rows, NSSortDescriptor(key: "x", ascending: true)) == ["a", "b"])
        #expect(NSSortDescriptor(key: "self", ascending: true).compare(1, to: 2.5) == .orderedAscending)
        #expect(NSSortDescriptor(key: nil, ascending: false).compare("a", to: "b") == .orderedDescending)
        #expect(NSSortDescriptor(key: "x", ascending: true).compare(["x": 1], to: ["x": "1"]) == .orderedAscending)
    }

    // F7
    @Test func objectsWithKeysSort() {
        let ann = KeyedPerson(1, ["name": "Ann"])
        let ben = KeyedPerson(2, ["name": "Ben"])
        #expect(NSSortDescriptor(key: "name", ascending: true).compare(ann, to: ben) == .orderedAscending)
    }

    // F7
    @Test func aComparatorDecidesInMemoryAlone() {
        let byLength = NSSortDescriptor(key: "n", ascending: true) { first, second in
            NSNumber(value: (first as? String ?? "").count).compare(NSNumber(value: (second as? String ?? "").count))
        }
        #expect(names([["n": "ccc"], ["n": "a"], ["n": "bb"]], byLength) == ["a", "bb", "ccc"])
        #expect(byLength.key == "n" && byLength.node == nil && byLength.selector == nil)
        #expect(NSSortDescriptor(keyPath: \String.count, ascending: true).key == nil)
    }

    // F7
    @Test func aReversedDescriptorSortsTheOtherWay() throws {
        let reversed = try #require(NSSortDescriptor(key: "a", ascending: true).reversedSortDescriptor as? NSSortDescriptor)
        #expect(!reversed.ascending && reversed.key == "a")
        #expect(
            reversed.isEqual(NSSortDescriptor(key: "a", ascending: false)) && !reversed.isEqual(NSSortDescriptor(key: "a", ascending: true))
        )
        #expect((reversed.copy() as? NSSortDescriptor)?.key == "a")
    }
}
