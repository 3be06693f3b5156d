import Foundation
import Glibc
import OpenCoreData
import Testing

@Suite struct DiskTests {
    // GB31
    @Test func aFileThatIsNotThereIsDurableAndOneThatCannotBeOpenedIsNot() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("disk-\(UUID().uuidString)")
        try Disk.synchronize(fileIfAny: file)
        try Data([1]).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try Disk.synchronize(fileIfAny: file)
        let error = #expect(throws: NSError.self) { try Disk.synchronize(fileIfAny: file.appendingPathComponent("inside")) }
        #expect(error?.domain == NSPOSIXErrorDomain && error?.code == Int(ENOTDIR))
    }
}
