// swift-tools-version:6.2
import PackageDescription

/// Our side of the benchmarks, apart from the project's own manifest so that nobody who uses Cistern builds it.
let package = Package(
    name: "cistern-benchmarks",
    dependencies: [.package(name: "cistern", path: "..")],
    targets: [
        .executableTarget(
            name: "cistern-benchmark",
            dependencies: [.product(name: "OpenCoreData", package: "cistern")],
            path: "Sources/CisternBenchmark")
    ],
    swiftLanguageModes: [.v6]
)
