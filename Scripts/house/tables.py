"""What the house allows. Every exception stands here with its reason; nothing is excepted in silence."""

# --- Sizes -----------------------------------------------------------------------------------------------------------

WARN_LINES, FAIL_LINES = 400, 600

# --- Documentation: the share of public declarations that say what they mean --------------------------------------------

LEAST_DOCUMENTED = 0.95

# --- Targets: which of our own modules each may import (docs/ARCHITECTURE.md draws the same arrows) --------------------

OWN_IMPORTS = {
    "ModelFiles": {"CLibXML2"},
    "OpenCoreData": {"CSwiftRuntime", "CXXHash", "CZlib", "ModelFiles"},
    "CoreData": {"OpenCoreData"},
    "OpenCoreDataConvenience": {"CoreData"},
    "ManagedClasses": {"ModelFiles"},
    "opencoredata-classes": {"ManagedClasses"},
    "CSimdJSON": set(),
    "JSONPaths": set(),
    "JSONReader": {"CSimdJSON", "CXXHash", "JSONPaths"},
    "Systemd": {"CSystemd"},
    "SyncConfiguration": {"JSONPaths", "ModelFiles"},
    "AirbyteManifests": {"JSONPaths", "SyncConfiguration"},
    "Secrets": {"SyncConfiguration"},
    "SourceDrafts": {"JSONPaths", "JSONReader", "SyncConfiguration"},
    "SyncReports": set(),
    "SyncControl": {"SyncReports"},
    "SyncPipeline": {"CEpoll", "OpenCoreData", "JSONReader", "Secrets", "SyncConfiguration", "SyncReports", "CZlib"},
    "DocumentPackages": {"OpenCoreData"},
    "SyncDaemon": {"CEpoll", "CMalloc", "DocumentPackages", "OpenCoreData", "Secrets", "SyncConfiguration", "SyncControl", "SyncPipeline", "SyncReports", "Systemd"},
    "cisternd": {"SyncConfiguration", "SyncDaemon"},
    "ConfigurationTestKit": {"OpenCoreData", "Secrets", "SyncConfiguration", "SyncPipeline", "SyncReports"},
    "cisternctl": {"AirbyteManifests", "ConfigurationTestKit", "DocumentPackages", "OpenCoreData", "Secrets", "SourceDrafts", "SyncConfiguration", "SyncControl", "SyncPipeline", "SyncReports"},
}

SYSTEM_MODULES = {"CEpoll", "CMalloc", "CLibXML2", "CSystemd", "CSwiftRuntime", "CZlib", "CXXHash"}

# What any target may import: the language, its standard libraries and the C library.
EVERYWHERE = {"Foundation", "FoundationEssentials", "Dispatch", "Synchronization", "Glibc", "Musl", "Swift"}

# Modules from outside, and the only places that may know them.
OUTSIDE_IMPORTS = {
    "GRDB": ("Sources/OpenCoreData/Stores/SQLite/",),
    "GRDBSQLite": ("Sources/OpenCoreData/Stores/SQLite/",),
    "SQLite3": ("Sources/OpenCoreData/Stores/SQLite/",),
    "CSQLite": ("Sources/OpenCoreData/Stores/SQLite/",),
    "CLibXML2": ("Sources/ModelFiles/",),
    "Crypto": ("Sources/SyncPipeline/",),
    "CryptoExtras": ("Sources/SyncPipeline/Fetch/Signing/",),
    "TOMLKit": ("Sources/SyncConfiguration/",),
    "AsyncHTTPClient": ("Sources/SyncPipeline/", "Sources/SyncControl/"),
    "NIOCore": ("Sources/SyncPipeline/", "Sources/SyncControl/", "Sources/SyncDaemon/", "Sources/ConfigurationTestKit/"),
    "NIOHTTP1": ("Sources/SyncPipeline/", "Sources/SyncControl/", "Sources/SyncDaemon/", "Sources/ConfigurationTestKit/"),
    "NIOPosix": ("Sources/SyncPipeline/", "Sources/SyncControl/", "Sources/SyncDaemon/"),
    "NIOSSL": ("Sources/SyncPipeline/",),
    "NIOConcurrencyHelpers": ("Sources/SyncPipeline/", "Sources/SyncControl/", "Sources/SyncDaemon/"),
    "Hummingbird": ("Sources/SyncDaemon/",),
    "HummingbirdCore": ("Sources/SyncDaemon/",),
    "HTTPTypes": ("Sources/SyncDaemon/",),
    "ServiceLifecycle": ("Sources/SyncDaemon/",),
    "Logging": ("Sources/Systemd/", "Sources/SyncDaemon/"),
    "ArgumentParser": ("Sources/cisternd/", "Sources/cisternctl/"),
    "Yams": ("Sources/AirbyteManifests/",),
    # FoundationNetworking is not listed on purpose: URLSession on Linux hands credentials to other hosts on redirect.
}

# --- OpenCoreData's folders, lowest first; those on one line are one room ----------------------------------------------

LAYERS = [
    ["Runtime"],
    ["Errors"],
    ["Queues"],
    ["Predicate"],
    ["Model"],
    ["Rows"],
    ["Mapping"],
    ["Plans"],
    ["Stores"],
    ["Requests"],
    ["History"],
    ["Coordinator"],
    ["ManagedObject", "Context", "Undo"],
    ["Loading"],
    ["Incremental", "Atomic"],
    ["ResultsController"],
    ["Container"],
    ["Migrating"],
    ["Document"],
]

# (where, types, reason): `where` may name the types although they are declared in a later folder.
LAYER_EXCEPTIONS = [
    ("Stores/NSPersistentStore", {"NSPersistentStoreCoordinator"}, "a store answers persistentStoreCoordinator and is told of it, by Apple's signatures"),
    ("Stores/StoreTypes", {"NSPersistentStoreCoordinator"}, "an incremental store is made for a coordinator, by Apple's signature"),
    ("Coordinator/NSPersistentStoreCoordinator+Migrating", {"MappedMigration"}, "a coordinator that is told to migrate looks for a mapping by itself, by Apple's option"),
]

# --- Reading the world: libraries return, throw or emit an event -------------------------------------------------------

QUIET_TARGETS = {
    "AirbyteManifests", "ManagedClasses", "ModelFiles", "OpenCoreData", "CoreData", "OpenCoreDataConvenience", "JSONPaths", "JSONReader", "Secrets", "SourceDrafts", "SyncConfiguration", "SyncReports",
    "SyncControl", "SyncPipeline", "ConfigurationTestKit", "DocumentPackages",
}

QUIET_EXCEPTIONS = {
    # path prefix: reason
    "Sources/OpenCoreDataConvenience/Importing/NSManagedObjectContext+Importing": "takes JSON as `Data` from a program, with what Foundation has",
    "Sources/OpenCoreData/Queues/ContextQueue": "reads OPENCOREDATA_CONCURRENCY_DEBUG once, as Core Data reads its own switch",
}

# --- File names --------------------------------------------------------------------------------------------------------

# file: reason why it declares another public type than its name says, or more than one.
NAME_EXCEPTIONS = {
    "Sources/OpenCoreData/Errors/Violations.swift": "the one list of every misuse trap, each a function of the enum Violation",
}

FORBIDDEN_NAMES = {"Utils", "Utilities", "Helpers", "Helper", "Common", "Misc"}

# --- Configuration: every stored property is read by whoever acts on it -------------------------------------------------

# type: the names that its values go by where they are read.
CONFIGURATION_VALUES = {
    "AnswerCondition": {"condition"},
    "AssignedProperty": {"assigned", "property"},
    "APIKey": {"key"},
    "BreakerConfiguration": {"breaker", "rules"},
    "AttributeConfiguration": {"attribute", "configuration"},
    "Basic": {"basic"},
    "Bearer": {"bearer"},
    "CisternConfiguration": {"configuration", "configurationInForce"},
    "CSVFormat": {"csv"},
    "BackupConfiguration": {"backup", "backups"},
    "ControlConfiguration": {"control"},
    "Cursor": {"cursor", "rule"},
    "DaemonConfiguration": {"daemon"},
    "DeletionConfiguration": {"configuration", "deletion"},
    "DeltaToken": {"token"},
    "DocumentConfiguration": {"document", "documentLimits"},
    "EntityConfiguration": {"configuration", "entity"},
    "FormField": {"field"},
    "GraphQL": {"graphQL"},
    "HTTPConfiguration": {"http", "limits"},
    "JWT": {"jwt"},
    "Keyset": {"keyset"},
    "LimitsConfiguration": {"limits"},
    "LogConfiguration": {"log"},
    "Member": {"member"},
    "MentionConfiguration": {"mention"},
    "ModelConfiguration": {"configuration", "model"},
    "Login": {"login"},
    "Member": {"member"},
    "OAuth2": {"oauth2"},
    "Offset": {"offset"},
    "PageNumber": {"numbers", "rule"},
    "PaginationConfiguration": {"configuration", "pagination"},
    "Parents": {"parents"},
    "IncrementalConfiguration": {"configuration", "incremental"},
    "PartitionConfiguration": {"configuration", "partitions"},
    "ParsePolicy": {"parse"},
    "RateConfiguration": {"rate"},
    "RecordCondition": {"condition"},
    "RelationshipConfiguration": {"relationship"},
    "RequestSignature": {"signature"},
    "ResourceConfiguration": {"resource"},
    "RetryConfiguration": {"retry"},
    "ScheduleConfiguration": {"configuration", "schedule"},
    "SchemaConfiguration": {"rule", "schema"},
    "SendAs": {"sendAs"},
    "Session": {"session"},
    "SourceConfiguration": {"source"},
    "StopRules": {"stop"},
    "StoreConfiguration": {"store"},
    "TLSConfiguration": {"options", "tls"},
    "WebToken": {"webToken"},
}

# property: reason why nobody but the reader needs it.
CONFIGURATION_EXCEPTIONS = {
    "ModelConfiguration.file": "its entities are in `entities`",
    "DeletionConfiguration.path": "the pipeline asks for the condition that it is of (`condition`)",
    "DeletionConfiguration.statuses": "the pipeline asks for those in force (`goneStatuses`)",
    "Cursor.origin": "the pipeline asks the kind for it (`tokenOrigin`)",
    "DeltaToken.origin": "the pipeline asks for what it is (`path`, `header`)",
    "GraphQL.pageInfo": "the pipeline asks the kind for what is in it (`tokenOrigin`, `hasMorePath`)",
    "GraphQL.variable": "the pipeline asks for its place in the body (`parameter`)",
    "Keyset.path": "the pipeline asks the kind for it (`lastRecordPath`)",
    "OAuth2.tls": "the pipeline asks the authentication for it (`tls`)",
    "Session.tls": "the pipeline asks the authentication for it (`tls`)",
    "TLSConfiguration.insecureReason": "the reader acts on it: without one certificates are checked, and with one every reading warns in its words",
}

# --- Tests ------------------------------------------------------------------------------------------------------------

# The tests that also run against Apple's Core Data, and what is on both sides; UIKit where the document is Apple's.
PORTABLE_TESTS = "CoreDataTests"
PORTABLE_IMPORTS = {"CoreData", "Dispatch", "Foundation", "Synchronization", "Testing", "UIKit"}

# file: reason why it may wait by the clock.
SLEEP_EXCEPTIONS = {}

# folder: what it tests instead of a folder of the same name.
MIRROR_EXCEPTIONS = {
    "Tests/CoreDataTests/Declarations": "the names of Apple's interface, file by file; CoreData has no folders",
    "Tests/OpenCoreDataTests/Guides": "the examples of the guides in Sources/OpenCoreData/OpenCoreData.docc",
}

# Files that look at controls themselves, with the reason.
REMOTE_TEXT_EXCEPTIONS = {
    "Sources/SyncPipeline/RemoteText.swift": "it is the function",
    "Sources/cisternctl/Output/Console.swift": "it is the console",
}
