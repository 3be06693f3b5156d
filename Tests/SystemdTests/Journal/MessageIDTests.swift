import Foundation
import Testing

@testable import Systemd

struct MessageIDTests {
    /// An entry of the catalogue file.
    struct Entry {
        var id: String
        var headers: [String: String] = [:]
        var text: [String] = []
    }

    private func catalogue() throws -> [Entry] {
        var entries: [Entry] = []
        var inHeaders = false
        for line in try String(contentsOf: PackageRoot.file("systemd/cisternd.catalog"), encoding: .utf8).components(separatedBy: "\n") {
            if line.hasPrefix("-- ") {
                entries.append(Entry(id: String(line.dropFirst(3))))
                inHeaders = true
            } else if entries.isEmpty {
                continue
            } else if line.isEmpty {
                inHeaders = false
            } else if inHeaders, let colon = line.firstIndex(of: ":") {
                entries[entries.count - 1].headers[String(line[..<colon])] = line[colon...].dropFirst(2).description
            } else {
                entries[entries.count - 1].text.append(line)
            }
        }
        return entries
    }

    // Section 10: every id in the code is in the catalogue and the reverse
    @Test func catalogueAndCodeAgreeInBothDirections() throws {
        let written = try catalogue().map(\.id)
        #expect(Set(written).count == written.count, "an id stands twice")
        #expect(Set(written) == Set(MessageID.allCases.map(\.rawValue)))
        #expect(MessageID.allCases.count == 26)
    }

    @Test func everyEntryExplainsItself() throws {
        for entry in try catalogue() {
            #expect(entry.headers["Subject"]?.isEmpty == false, "\(entry.id)")
            #expect(entry.headers["Defined-By"] == "cisternd", "\(entry.id)")
            #expect(entry.headers["Documentation"]?.hasPrefix("man:") == true, "\(entry.id)")
            #expect(entry.text.count >= 2, "\(entry.id)")
            #expect(entry.text.allSatisfy { $0.count <= 88 }, "\(entry.id)")
        }
    }

    @Test func placeholdersAreFieldsThatTheJournalTakes() throws {
        let lines = try catalogue().flatMap { $0.text + Array($0.headers.values) }
        let names = lines.flatMap { line in line.matches(of: /@([^@\s]+)@/).map { String($0.1) } }
        #expect(names.count > 20)
        for name in names { #expect(JournalField.isValid(name) && name.hasPrefix("CISTERN_"), "\(name)") }
    }

    @Test func idsAreId128() {
        for id in MessageID.allCases { #expect(id.rawValue.wholeMatch(of: /[0-9a-f]{32}/) != nil) }
    }

    // Section 10, column "Prio"
    @Test func prioritiesAreThoseOfTheTable() {
        let counted = Dictionary(grouping: MessageID.allCases, by: \.priority).mapValues { Set($0) }
        #expect(counted[.critical] == [.storeCorrupt, .diskLow, .watchdogMissed])
        #expect(counted[.error] == [.reloadFailed, .authRejected, .tlsFailed, .backupFailed])
        #expect(counted[.warning]?.count == 8)
        #expect(counted[.notice]?.count == 9)
        #expect(counted[.info] == [.runFinished, .statusDump])
        for id in MessageID.allCases { #expect(JournalPriority(id.priority.level) == id.priority) }
    }
}
