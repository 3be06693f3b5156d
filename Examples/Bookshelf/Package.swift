// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "Bookshelf",
    dependencies: [
        // Outside of this repository: .package(url: "…", from: "…")
        .package(name: "cistern", path: "../..", traits: [])
    ],
    targets: [
        .target(
            name: "Bookshelf",
            dependencies: [.product(name: "CoreData", package: "cistern")],
            resources: [.copy("Bookshelf.xcdatamodeld")],
            plugins: [.plugin(name: "ManagedClassesPlugin", package: "cistern")]),
        .executableTarget(name: "bookshelf-demo", dependencies: ["Bookshelf"]),
    ]
)
