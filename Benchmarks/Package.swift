// swift-tools-version:6.2
import PackageDescription

/// Our side of the benchmarks, apart from the project's own manifest so that nobody who uses Cistern builds it.
let package = Package(
    name: "cistern-benchmarks",
    dependencies: [
        .package(name: "cistern", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
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
            path: "Sources/CisternBenchmark")
    ],
    swiftLanguageModes: [.v6]
)
