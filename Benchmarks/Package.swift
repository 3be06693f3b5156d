// swift-tools-version:6.2
import PackageDescription

/// Our side of the benchmarks, apart from the project's own manifest so that nobody who uses Cistern builds it.
let package = Package(
    name: "cistern-benchmarks",
    dependencies: [
        .package(name: "cistern", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "cistern-benchmark",
            dependencies: [
                .product(name: "OpenCoreData", package: "cistern"),
                .product(name: "SyncPipeline", package: "cistern"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Sources/CisternBenchmark"),
        .executableTarget(
            name: "stack-benchmark",
            dependencies: [.product(name: "OpenCoreData", package: "cistern"), .product(name: "GRDB", package: "GRDB.swift")],
            path: "Sources/StackBenchmark"),
    ],
    swiftLanguageModes: [.v6]
)
