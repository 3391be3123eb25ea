// SPDX-License-Identifier: MIT

import Foundation
import SnippetCompiler

/// What the compiler is told so that it finds the modules of C behind this package's own, which Swift Package Manager
/// tells it for a program that depends on the package.
enum CompilerArguments {
    static let all = Result { try make() }

    private static func make() throws -> [String] {
        let products = try SnippetCompiler.products()
        let sources = DocumentationPage.package.appending(path: "Sources").path
        let maps = ["CSecretSession", "COpenSSLFunctions"].flatMap {
            ["-Xcc", "-fmodule-map-file=\(products.path)/\($0).build/module.modulemap"]
        }
        let folders = ["CSodium", "CLibsecret", "COpenSSL", "CSecretSession/include", "COpenSSLFunctions/include"]
        // A plain call of the compiler keeps what it makes of headers in the person's home.
        let cache = ["-module-cache-path", products.appending(path: "ModuleCache").path]
        return ["-parse-as-library", "-suppress-warnings"] + cache + maps
            + folders.flatMap { ["-I", "\(sources)/\($0)"] }
            + (try headers())
    }

    /// Where the headers of the C libraries are.
    private static func headers() throws -> [String] {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["pkg-config", "--cflags-only-I", "libsecret-1", "libsodium", "libcrypto"]
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        return String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
    }
}
