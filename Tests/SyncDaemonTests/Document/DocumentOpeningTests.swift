import Foundation
import OpenCoreData
import Testing

@testable import SyncDaemon

/// What an error of the store means for the process, and so for whether the service manager starts it again.
@Suite struct DocumentOpeningTests {
    private static func status(_ sqlite: Int?, isMigrating: Bool) -> Int32 {
        let error = NSError(
            domain: NSCocoaErrorDomain, code: 134_080, userInfo: sqlite.map { [NSSQLiteErrorDomain: $0] } ?? [:])
        return DocumentOpening.failure(error, package: "/p", isMigrating: isMigrating).status.rawValue
    }

    @Test func aMigrationThatFailsIsNotTriedAgainUnlessTheDiskOrAnotherProgramHasAPart() {
        #expect(Self.status(1, isMigrating: false) == 70)
        #expect(Self.status(nil, isMigrating: false) == 70)
        #expect(Self.status(1, isMigrating: true) == 78)
        #expect(Self.status(nil, isMigrating: true) == 78)
        for (code, status) in [(5, 75), (13, 74), (10, 74), (11, 74), (14, 73)] as [(Int, Int32)] {
            #expect(Self.status(code, isMigrating: true) == status)
        }
    }
}
