// swift-tools-version:5.9
import PackageDescription

// scripts/swift.sh writes OpenJobSpecCore and OpenJobSpecFFI: the code that uniffi makes of bindings/uniffi.
let package = Package(
    name: "OpenJobSpec",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [.library(name: "OpenJobSpec", targets: ["OpenJobSpec"])],
    targets: [
        .systemLibrary(name: "OpenJobSpecFFI"),
        .target(
            name: "OpenJobSpecCore", dependencies: ["OpenJobSpecFFI"],
            linkerSettings: [.linkedLibrary("ojs_uniffi")]),
        .target(name: "OpenJobSpec", dependencies: ["OpenJobSpecCore"]),
        .testTarget(name: "OpenJobSpecTests", dependencies: ["OpenJobSpec"]),
    ]
)
