// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "contacts",
    products: [.executable(name: "contacts", targets: ["ContactsCommand"])],
    dependencies: [.package(name: "cistern", path: "../..", traits: [])],
    targets: [
        .target(
            name: "Contacts",
            dependencies: [.product(name: "CoreData", package: "cistern"), .product(name: "OpenCoreDataConvenience", package: "cistern")]),
        .executableTarget(name: "ContactsCommand", dependencies: ["Contacts"]),
    ],
    swiftLanguageModes: [.v6]
)
