import Foundation
import Glibc
import Testing

@testable import OpenCoreData

@Suite struct AutosavePolicyTests {
    // D4, GB30
    @Test func whicheverComesFirstDecides() {
        let policy = AutosavePolicy(interval: 15, changes: 100, bytes: 1000)
        #expect(policy.verdict(rows: 0, bytes: 0, age: 99) == .nothing)
        #expect(policy.verdict(rows: 1, bytes: 1, age: 0) == .saveLater(15))
        #expect(policy.verdict(rows: 1, bytes: 1, age: 5) == .saveLater(10))
        #expect(policy.verdict(rows: 1, bytes: 1, age: 15) == .saveNow)
        #expect(policy.verdict(rows: 100, bytes: 1, age: 0) == .saveNow)
        #expect(policy.verdict(rows: 1, bytes: 1000, age: 0) == .saveNow)
        #expect(AutosavePolicy().interval == 15)
    }

    @Test(arguments: [
        (13, "transient"), (5, "transient"), (6, "transient"), (8, "transient"), (10, "disk"), (11, "disk"), (26, "disk"), (19, "permanent"),
        (7, "transient"), (9, "transient"), (15, "transient"), (3082, "transient"), (3850, "transient"), (4874, "transient"), (778, "disk"),
        (1034, "disk"), (2067, "permanent"),
    ])
    func whatASQLiteResultMeansForAFailedSave(_ code: Int, _ kind: String) {
        let underlying = NSError(domain: NSSQLiteErrorDomain, code: code)
        #expect("\(SaveFailure(underlying))" == kind)
        #expect("\(SaveFailure(NSError(domain: NSCocoaErrorDomain, code: 134030, userInfo: [NSUnderlyingErrorKey: underlying])))" == kind)
        #expect("\(SaveFailure(NSError(domain: NSCocoaErrorDomain, code: 134030, userInfo: [NSSQLiteErrorDomain: code])))" == kind)
    }

    // What the system says beside it: no room, by whatever limit, and no memory pass; an error of the disk does not.
    @Test(arguments: [
        (778, EDQUOT, "transient"), (778, EFBIG, "transient"), (4106, ENOSPC, "transient"), (1034, ENOMEM, "transient"), (778, EIO, "disk"),
        (778, 0, "disk"), (19, EDQUOT, "permanent"), (11, ENOSPC, "disk"),
    ])
    func whatTheSystemSaysDecidesWhetherTheDiskIsBad(_ code: Int32, _ systemError: Int32, _ kind: String) {
        let error = SQLiteError(code: code, systemError: systemError, message: "disk I/O error", operation: "while committing")
        #expect("\(SaveFailure(error.cocoaError(.persistentStoreSave, "Can't save.")))" == kind)
    }
}
