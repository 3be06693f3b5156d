import CoreData
import Foundation
import OpenCoreDataConvenience

/// Contacts in a SQLite file: create, read, update, delete, import. Every change is saved when its function returns.
public final class ContactBook {
    private let container: NSPersistentContainer

    /// Why something can't be done, in a sentence for whoever asked.
    public enum Failure: Error, Hashable, CustomStringConvertible {
        case exists(String)
        case missing(String)
        case empty(String)
        case unusable(folder: String, why: String)

        public var description: String {
            switch self {
            case .exists(let name): "there is already a contact \"\(name)\"; use update to change the number"
            case .missing(let name): "there is no contact \"\(name)\"; list shows all"
            case .empty(let what): "the \(what) is empty"
            case .unusable(let folder, let why): "the folder \(folder) can't be used: \(why)"
            }
        }
    }

    /// Opens the file in a folder, and makes both if they are not there.
    public init(folder: URL) throws {
        container = NSPersistentContainer(name: "Contacts", managedObjectModel: ContactsModel.shared)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.appendingPathComponent("Contacts.sqlite"))]
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var failure: (any Error)?
            container.loadPersistentStores { _, error in failure = error }
            if let failure { throw failure }
        } catch {
            throw Failure.unusable(folder: folder.path, why: error.localizedDescription)
        }
    }

    /// Adds a contact under a name that nobody has yet.
    public func add(_ name: String, phone: String) throws {
        if name.isEmpty { throw Failure.empty("name") }
        if phone.isEmpty { throw Failure.empty("number") }
        try container.saveAndWait { context in
            if try Contact.exists(where: "name == %@", name, in: context) { throw Failure.exists(name) }
            let contact = try Contact.create(in: context)
            contact.name = name
            contact.phone = phone
        }
    }

    /// All contacts, by name.
    public func list() throws -> [ContactDetails] {
        try reading { try Contact.findAll(sortedBy: ["name"], in: $0).map(ContactDetails.init) }
    }

    /// The contacts with a text in their name, number or groups, whatever the case and the accents, by name.
    public func find(_ text: String) throws -> [ContactDetails] {
        try reading { context in
            let format = "name CONTAINS[cd] %@ OR phone CONTAINS[cd] %@ OR ANY groups.name CONTAINS[cd] %@"
            return try Contact.findAll(where: format, text, text, text, sortedBy: ["name"], in: context).map(ContactDetails.init)
        }
    }

    /// Gives a contact another number.
    public func update(_ name: String, phone: String) throws {
        if phone.isEmpty { throw Failure.empty("number") }
        try container.saveAndWait { try contact(name, in: $0).phone = phone }
    }

    /// Deletes a contact.
    public func delete(_ name: String) throws {
        try container.saveAndWait { try contact(name, in: $0).delete() }
    }

    /// Takes in contacts from JSON, `[{"name": "Ada", "phone": "1", "groups": ["friends"]}]`: those who are there are changed, others are added. Says how
    /// many there were. All of them or, if anything is wrong, none.
    public func importJSON(_ json: Data) throws -> Int {
        try container.saveAndWait { try $0.importObjects(Contact.self, from: json).count }
    }

    private func contact(_ name: String, in context: NSManagedObjectContext) throws -> Contact {
        guard let contact = try Contact.findFirst(by: "name", value: name, in: context) else { throw Failure.missing(name) }
        return contact
    }

    private func reading<T>(_ block: (NSManagedObjectContext) throws -> T) throws -> T {
        let context = container.newBackgroundContext()
        return try context.performAndWait { try block(context) }
    }
}
