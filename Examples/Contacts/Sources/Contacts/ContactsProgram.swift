import Foundation
import OpenCoreDataConvenience

/// The program `contacts`: arguments in, lines and an exit status out.
public struct ContactsProgram {
    /// What the exit status says, as in `sysexits.h` where that has a number for it.
    public enum Status: Int32 {
        case success = 0
        case failure = 1
        case usage = 64
        case badInput = 65
        case noInput = 66
        case cannotCreate = 73
        case storeFailure = 74

        /// What is to be said of an error that a change of the contacts ended with: something given breaks the model's rules, or the store failed.
        public init(savingFailedWith error: any Error) {
            let found = error as NSError
            let isRefused = found.domain == CocoaError.errorDomain && (1550..<1700).contains(found.code)
            self = error is RecordError || isRefused ? .badInput : .storeFailure
        }
    }

    public static let usage = """
        usage: contacts FOLDER add NAME PHONE      add a contact
               contacts FOLDER list                show all
               contacts FOLDER find TEXT           show those with a text in name, number or group
               contacts FOLDER update NAME PHONE   change a number
               contacts FOLDER delete NAME         delete a contact
               contacts FOLDER import FILE.json    add or change contacts from [{"name": …, "phone": …, "groups": […]}, …]
        """

    private let say: (String) -> Void
    private let complain: (String) -> Void

    /// - Parameters:
    ///   - say: Is given each line of the answer.
    ///   - complain: Is given what went wrong, in a sentence.
    public init(say: @escaping (String) -> Void, complain: @escaping (String) -> Void) {
        self.say = say
        self.complain = complain
    }

    /// Does what the arguments say, and gives the exit status.
    public func run(_ arguments: [String]) -> Int32 {
        if arguments == ["--help"] {
            say(Self.usage)
            return Status.success.rawValue
        }
        guard arguments.count >= 2 else { return refused(.usage, Self.usage).rawValue }
        let folder = URL(fileURLWithPath: arguments[0], isDirectory: true)
        return status(folder, verb: arguments[1], Array(arguments.dropFirst(2))).rawValue
    }

    private func status(_ folder: URL, verb: String, _ rest: [String]) -> Status {
        do {
            switch (verb, rest.count) {
            case ("add", 2): try ContactBook(folder: folder).add(rest[0], phone: rest[1])
            case ("list", 0): show(try ContactBook(folder: folder).list())
            case ("find", 1): show(try ContactBook(folder: folder).find(rest[0]))
            case ("update", 2): try ContactBook(folder: folder).update(rest[0], phone: rest[1])
            case ("delete", 1): try ContactBook(folder: folder).delete(rest[0])
            case ("import", 1): return try importFile(rest[0], into: folder)
            default: return refused(.usage, Self.usage)
            }
            return .success
        } catch let failure as ContactBook.Failure {
            if case .unusable = failure { return refused(.cannotCreate, failure.description) }
            return refused(.failure, failure.description)
        } catch {
            return refused(Status(savingFailedWith: error), error.localizedDescription)
        }
    }

    private func importFile(_ path: String, into folder: URL) throws -> Status {
        guard let json = FileManager.default.contents(atPath: path) else { return refused(.noInput, "\(path) can't be read") }
        let book = try ContactBook(folder: folder)
        do {
            let count = try book.importJSON(json)
            say("\(count) contact\(count == 1 ? "" : "s")")
            return .success
        } catch {
            let status = Status(savingFailedWith: error), why = error.localizedDescription
            return refused(status, status == .badInput ? "\(path): \(why)" : why)
        }
    }

    private func show(_ contacts: [ContactDetails]) {
        for contact in contacts {
            let groups = contact.groups.isEmpty ? "" : "\t[\(contact.groups.joined(separator: ", "))]"
            say(Self.harmless("\(contact.name)\t\(contact.phone)\(groups)"))
        }
    }

    private func refused(_ status: Status, _ why: String) -> Status {
        complain(status == .usage ? why : Self.harmless(why))
        return status
    }

    /// Without what would steer a terminal: a file may contain anything.
    private static func harmless(_ line: String) -> String {
        String(String.UnicodeScalarView(line.unicodeScalars.map { $0.properties.generalCategory == .control && $0 != "\t" ? "?" : $0 }))
    }
}
