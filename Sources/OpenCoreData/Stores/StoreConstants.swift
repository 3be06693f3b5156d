/// Whether an XML store is checked when it is read. It always is, by the model as well: the option is accepted and changes nothing.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// For `destroyPersistentStore`: whether a SQLite file is destroyed although it is no store that can be read. `Bool`, default false. What is there is
/// deleted then, with its log.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// The classes that a binary store may decode. Ours decodes no classes but those of attributes, each by its transformer: accepted, and changes nothing.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Whether a binary store may decode any class. Accepted, and changes nothing: ours never does.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Metadata key of Apple's: the systems that can open the store. Kept where it is found, never set.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
/// Metadata key of Apple's: the checksum of the model's version. Kept where it is found, never set.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"
/// How iOS encrypts the file. There is no such thing on Linux, so a store description that has the option is refused by name with 134080.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
