import CoreData
import Foundation
import OpenCoreDataConvenience

/// Somebody with a telephone.
public final class Contact: NSManagedObject {
    @Managed public var name: String?
    @Managed public var phone: String?
    @Managed public var groups: Set<ContactGroup>
}

/// A name for several contacts, such as "friends".
public final class ContactGroup: NSManagedObject {
    @Managed public var name: String?
    @Managed public var contacts: Set<Contact>
}

/// A contact as a value, which may leave its context.
public struct ContactDetails: Hashable, Sendable {
    public let name: String
    public let phone: String
    public let groups: [String]

    init(_ contact: Contact) {
        name = contact.name ?? ""
        phone = contact.phone ?? ""
        groups = contact.groups.compactMap(\.name).sorted()
    }
}

/// The model, made in code. What it says to imports is in the user info.
enum ContactsModel {
    static let shared: NSManagedObjectModel = {
        let contact = NSEntityDescription(), group = NSEntityDescription()
        contact.name = "Contact"
        contact.setManagedObjectClass(Contact.self)
        contact.userInfo = ["relatedByAttribute": "name"]
        group.name = "ContactGroup"
        group.setManagedObjectClass(ContactGroup.self)
        group.userInfo = ["relatedByAttribute": "name"]

        let phone = NSAttributeDescription(name: "phone", type: .string, isOptional: false)
        // In a file the number may stand at "phone", or within "phones".
        phone.userInfo = ["mappedKeyName": "phone", "mappedKeyName.1": "phones.mobile", "mappedKeyName.2": "phones.home"]
        let groups = NSRelationshipDescription(name: "groups", destination: group, toMany: true)
        let contacts = NSRelationshipDescription(name: "contacts", destination: contact, toMany: true)
        groups.inverseRelationship = contacts
        contacts.inverseRelationship = groups
        contact.properties = [NSAttributeDescription(name: "name", type: .string, isOptional: false), phone, groups]
        contact.uniquenessConstraints = [["name"]]
        group.properties = [NSAttributeDescription(name: "name", type: .string, isOptional: false), contacts]
        group.uniquenessConstraints = [["name"]]
        return NSManagedObjectModel(entities: [contact, group])
    }()
}
