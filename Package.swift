// swift-tools-version:6.2
import PackageDescription

/// Applied to every target of our own: warnings are errors, and every import says whether it is part of the interface.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// A product that the daemon needs, and not who uses the object graph alone: without the trait it is not even resolved.
func daemon(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Daemon"]))
}

let package = Package(
    name: "cistern",
    products: [
        .library(name: "OpenCoreData", targets: ["OpenCoreData"]),
        .library(name: "CoreData", targets: ["CoreData"]),
        .library(name: "OpenCoreDataConvenience", targets: ["OpenCoreDataConvenience"]),
        .plugin(name: "ManagedClassesPlugin", targets: ["ManagedClassesPlugin"]),
        .plugin(name: "GenerateManagedClassesPlugin", targets: ["GenerateManagedClassesPlugin"]),
        .library(name: "SyncPipeline", targets: ["SyncPipeline", "SyncConfiguration"]),
        .executable(name: "cisternd", targets: ["cisternd"]),
        .executable(name: "cisternctl", targets: ["cisternctl"]),
    ],
    traits: [
        .default(enabledTraits: ["Daemon"]),
        .trait(
            name: "Daemon",
            description: "The daemon, its control tool and the pipeline. Without it (`traits: []`): the object graph, over GRDB alone."),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    ],
    targets: [
        // The object graph.
        .systemLibrary(name: "CSwiftRuntime"),
        .systemLibrary(name: "CXXHash", providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .target(name: "ModelFiles", dependencies: ["CLibXML2"], swiftSettings: strict),
        .target(
            name: "OpenCoreData",
            dependencies: ["CSwiftRuntime", "CXXHash", "CZlib", "ModelFiles", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict),
        .target(name: "CoreData", dependencies: ["OpenCoreData"], swiftSettings: strict),
        // As a program outside would be: without package access, what is ours and not public is out of its reach.
        .target(name: "OpenCoreDataConvenience", dependencies: ["CoreData"], packageAccess: false, swiftSettings: strict),

        // Classes for a model's entities, and accessors behind @NSManaged.
        .target(name: "ManagedClasses", dependencies: ["ModelFiles"], swiftSettings: strict),
        .executableTarget(name: "opencoredata-classes", dependencies: ["ManagedClasses"], swiftSettings: strict),
        .plugin(name: "ManagedClassesPlugin", capability: .buildTool(), dependencies: ["opencoredata-classes"]),
        .plugin(
            name: "GenerateManagedClassesPlugin",
            capability: .command(
                intent: .custom(verb: "generate-managed-classes", description: "Writes the classes of a target's models into its sources"),
                permissions: [.writeToPackageDirectory(reason: "The generated sources are written beside the target's own.")]),
            dependencies: ["opencoredata-classes"]),

        // Bytes to records.
        .target(name: "JSONPaths", swiftSettings: strict),
        .target(
            name: "CSimdJSON",
            linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "JSONReader", dependencies: ["CSimdJSON", "JSONPaths"], swiftSettings: strict),

        // The service manager.
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .target(
            name: "Systemd",
            dependencies: ["CSystemd", daemon("Logging", "swift-log")],
            swiftSettings: strict),

        // The sync pipeline.
        .target(name: "SyncConfiguration", dependencies: ["JSONPaths", "ModelFiles"], swiftSettings: strict),
        .target(
            name: "AirbyteManifests", dependencies: ["JSONPaths", "SyncConfiguration", daemon("Yams", "Yams")], swiftSettings: strict),
        .target(name: "Secrets", dependencies: ["SyncConfiguration"], swiftSettings: strict),
        .target(name: "SourceDrafts", dependencies: ["JSONPaths", "JSONReader", "SyncConfiguration"], swiftSettings: strict),
        .target(name: "SyncReports", swiftSettings: strict + [.enableUpcomingFeature("InternalImportsByDefault")]),
        .target(
            name: "SyncControl",
            dependencies: [
                "SyncReports",
                daemon("NIOCore", "swift-nio"),
                daemon("NIOHTTP1", "swift-nio"),
                daemon("AsyncHTTPClient", "async-http-client"),
            ],
            swiftSettings: strict),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CMalloc"),
        .target(
            name: "SyncPipeline",
            dependencies: [
                "CEpoll", "OpenCoreData", "JSONReader", "Secrets", "SyncConfiguration", "SyncReports", "CZlib",
                daemon("AsyncHTTPClient", "async-http-client"),
                daemon("Crypto", "swift-crypto"),
                daemon("CryptoExtras", "swift-crypto"),
                daemon("NIOCore", "swift-nio"),
                daemon("NIOHTTP1", "swift-nio"),
                daemon("NIOPosix", "swift-nio"),
                daemon("NIOSSL", "swift-nio-ssl"),
            ],
            swiftSettings: strict + [.enableUpcomingFeature("InternalImportsByDefault")]),
        .target(name: "DocumentPackages", dependencies: ["OpenCoreData"], swiftSettings: strict),
        .target(
            name: "SyncDaemon",
            dependencies: [
                "CEpoll", "CMalloc",
                "DocumentPackages", "OpenCoreData", "Secrets", "SyncConfiguration", "SyncControl", "SyncPipeline", "SyncReports", "Systemd",
                daemon("HTTPTypes", "swift-http-types"),
                daemon("Hummingbird", "hummingbird"),
                daemon("HummingbirdCore", "hummingbird"),
                daemon("Logging", "swift-log"),
                daemon("NIOCore", "swift-nio"),
                daemon("NIOPosix", "swift-nio"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "cisternd",
            dependencies: [
                "SyncDaemon",
                daemon("ArgumentParser", "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .target(
            name: "ConfigurationTestKit",
            dependencies: [
                "OpenCoreData", "Secrets", "SyncConfiguration", "SyncPipeline", "SyncReports",
                daemon("NIOCore", "swift-nio"),
                daemon("NIOHTTP1", "swift-nio"),
            ],
            swiftSettings: strict + [.enableUpcomingFeature("InternalImportsByDefault")]),
        .executableTarget(
            name: "cisternctl",
            dependencies: [
                "AirbyteManifests", "ConfigurationTestKit", "DocumentPackages", "OpenCoreData", "Secrets", "SourceDrafts", "SyncConfiguration",
                "SyncControl",
                "SyncPipeline", "SyncReports",
                daemon("ArgumentParser", "swift-argument-parser"),
            ],
            swiftSettings: strict),

        // The example, built with this package's own plugin; Examples/Bookshelf/Package.swift is how others do it.
        .target(
            name: "Bookshelf", dependencies: ["CoreData"], path: "Examples/Bookshelf/Sources/Bookshelf",
            resources: [.copy("Bookshelf.xcdatamodeld")], plugins: ["ManagedClassesPlugin"]),
        .executableTarget(name: "bookshelf-demo", dependencies: ["Bookshelf"], path: "Examples/Bookshelf/Sources/bookshelf-demo"),

        // Tests mirror Sources.
        .target(name: "TestTraits", path: "Tests/Support/TestTraits", swiftSettings: strict),
        .target(
            name: "OpenCoreDataTestSupport", dependencies: ["OpenCoreData"],
            path: "Tests/Support/OpenCoreDataTestSupport", swiftSettings: strict),
        .target(
            name: "SyncTestSupport",
            dependencies: [
                "SyncPipeline",
                daemon("NIOCore", "swift-nio"),
                daemon("NIOHTTP1", "swift-nio"),
                daemon("NIOPosix", "swift-nio"),
                daemon("NIOSSL", "swift-nio-ssl"),
            ],
            path: "Tests/Support/SyncTestSupport", swiftSettings: strict),
        // A service that behaves as a manifest says. It shares nothing with what reads manifests for us: one misreading must not be made twice.
        .target(
            name: "ManifestTestSupport", dependencies: [daemon("Yams", "Yams")], path: "Tests/Support/ManifestTestSupport", swiftSettings: strict),
        .testTarget(
            name: "OpenCoreDataTests", dependencies: ["OpenCoreData", "CoreData", "ModelFiles", "OpenCoreDataTestSupport", "TestTraits"],
            swiftSettings: strict),
        // Written by Apple's interface alone; without package access, what is ours and not public is out of its reach.
        .testTarget(name: "CoreDataTests", dependencies: ["CoreData"], packageAccess: false, swiftSettings: strict),
        // The library of an example, which is a package of its own: so it is tested without building everything twice.
        .target(
            name: "Contacts", dependencies: ["CoreData", "OpenCoreDataConvenience"], path: "Examples/Contacts/Sources/Contacts",
            packageAccess: false, swiftSettings: strict),
        .testTarget(name: "ContactsTests", dependencies: ["Contacts"], packageAccess: false, swiftSettings: strict),
        .testTarget(
            name: "OpenCoreDataConvenienceTests",
            dependencies: ["CoreData", "OpenCoreDataConvenience", "OpenCoreDataTestSupport", "TestTraits"], swiftSettings: strict),
        .testTarget(name: "ModelFilesTests", dependencies: ["ModelFiles"], swiftSettings: strict),
        .testTarget(name: "ManagedClassesTests", dependencies: ["Bookshelf", "ManagedClasses", "bookshelf-demo"], swiftSettings: strict),
        .testTarget(name: "JSONPathsTests", dependencies: ["JSONPaths"], swiftSettings: strict),
        .testTarget(name: "JSONReaderTests", dependencies: ["JSONReader", "TestTraits"], swiftSettings: strict),
        .testTarget(
            name: "SystemdTests", dependencies: ["Systemd", daemon("Logging", "swift-log")], swiftSettings: strict),
        .testTarget(name: "SyncConfigurationTests", dependencies: ["JSONPaths", "SyncConfiguration"], swiftSettings: strict),
        .testTarget(name: "AirbyteManifestsTests", dependencies: ["AirbyteManifests", "SyncConfiguration"], swiftSettings: strict),
        .testTarget(
            name: "SourceDraftsTests",
            dependencies: [
                "SourceDrafts", "SyncConfiguration", "SyncPipeline", "SyncTestSupport", "TestTraits", daemon("NIOHTTP1", "swift-nio"),
            ],
            swiftSettings: strict),
        .testTarget(name: "SecretsTests", dependencies: ["Secrets", "SyncConfiguration"], swiftSettings: strict),
        .testTarget(name: "SyncControlTests", dependencies: ["SyncControl", "SyncReports"], swiftSettings: strict),
        .testTarget(
            name: "SyncPipelineTests",
            dependencies: [
                "SyncPipeline", "Secrets", "SyncConfiguration", "SyncReports", "OpenCoreData", "SyncTestSupport", "OpenCoreDataTestSupport",
                "TestTraits", "CZlib",
                .product(name: "GRDB", package: "GRDB.swift"),
                daemon("Crypto", "swift-crypto"),
                daemon("NIOCore", "swift-nio"),
                daemon("NIOHTTP1", "swift-nio"),
                daemon("NIOPosix", "swift-nio"),
                daemon("NIOSSL", "swift-nio-ssl"),
            ],
            swiftSettings: strict),
        .testTarget(name: "DocumentPackagesTests", dependencies: ["DocumentPackages", "OpenCoreData"], swiftSettings: strict),
        .testTarget(
            name: "SyncDaemonTests",
            dependencies: [
                "SyncDaemon", "DocumentPackages", "OpenCoreData", "SyncTestSupport", "SyncConfiguration", "SyncControl", "SyncPipeline",
                "SyncReports", "Systemd",
                daemon("AsyncHTTPClient", "async-http-client"),
                daemon("Logging", "swift-log"),
                daemon("NIOCore", "swift-nio"),
                daemon("NIOHTTP1", "swift-nio"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ConfigurationTestKitTests",
            dependencies: [
                "ConfigurationTestKit", "Secrets", "SyncConfiguration", "SyncPipeline", "SyncTestSupport",
                daemon("NIOHTTP1", "swift-nio"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "cisterndTests", dependencies: ["cisternd", "SyncDaemon"],
            swiftSettings: strict),
        .testTarget(
            name: "cisternctlTests",
            dependencies: [
                "cisternctl", "DocumentPackages", "SyncConfiguration", "SyncControl", "SyncReports", "SyncTestSupport",
                daemon("ArgumentParser", "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "JSONPaths", "ManifestTestSupport", "SyncConfiguration", "SyncControl", "SyncReports", "SyncTestSupport", "TestTraits", "cisternd",
                "cisternctl",
            ],
            exclude: ["Fixtures", "in-box"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// This is how the suite of Core Data's behaviour runs against Apple's own framework, on a Mac: APPLE_CORE_DATA=1 swift test
if Context.environment["APPLE_CORE_DATA"] != nil {
    package.platforms = [.macOS(.v15)]
    package.dependencies = []
    package.products = []
    package.targets = [.testTarget(name: "CoreDataTests")]
}
