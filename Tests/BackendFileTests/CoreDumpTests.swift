// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainSystem
    import Testing

    @testable import BackendFile

    /// What a core dump of a process has that works with a keychain file.
    struct CoreDumpTests {
        private let scratch = Scratch()
        private let marker = Data((0..<48).map { _ in UInt8.random(in: 0...255) })
        private let phrase = Data((0..<40).map { _ in UInt8.random(in: 0x61...0x7A) })

        init() throws {
            let driver = try scratch.driver(key: .passphrase(SecureBytes(phrase)))
            try driver.add(passwordRecord("marker"), marker)
            try driver.add("other", "something else")
            try scratch.put(phrase, at: "\(scratch.folder)/phrase")
        }

        @Test(arguments: ["hold", "keep"])
        func aCoreDumpHasNoSecret(verb: String) throws {
            // What is kept is the marker; what was let go of is another value.
            let account = verb == "keep" ? "marker" : "other"
            let tool = try Tool([verb, scratch.path, "file:\(scratch.folder)/phrase", account])
            #expect(tool.line() == "ready \(verb == "keep" ? marker.count : 14)")
            let header = try SealedFile(FilePlace(scratch.path, environment: [:])).header
            let master = try header.masterKey(.passphrase(SecureBytes(phrase))).master
            let keys = [master, StoreKeys(master: master).value, StoreKeys(master: master).metadata].map(\.data)

            // In the process, as a check of the search, there is what it needs, and nothing else.
            let memory = try Mapping.all(of: tool.identifier)
            #expect(try find(keys[1], in: memory, of: tool.identifier))
            #expect(try find(marker, in: memory, of: tool.identifier) == (verb == "keep"))
            #expect(try !find(phrase, in: memory, of: tool.identifier))

            // In what the kernel would dump, there is none of it.
            let dumped = memory.filter(\.isDumped)
            #expect(dumped.count < memory.count)
            #expect(try find(Data("svc".utf8), in: dumped, of: tool.identifier))
            for secret in [marker, phrase] + keys {
                #expect(try !find(secret, in: dumped, of: tool.identifier))
                #expect(try !find(secret.prefix(16), in: dumped, of: tool.identifier))
            }
            if let core = try core(of: tool.identifier) {
                #expect(core.range(of: Data("svc".utf8)) != nil)
                for secret in [marker, phrase] + keys { #expect(core.range(of: secret) == nil) }
            }
            try tool.closeInput()
            #expect(try tool.finish().status == 0)
        }

        /// A piece of a process's memory that is readable.
        private struct Mapping {
            var start: UInt64
            var count: Int
            /// Whether a core dump has it (`MADV_DONTDUMP`; proc(5), VmFlags).
            var isDumped = true

            static func all(of process: pid_t) throws -> [Mapping] {
                let table = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(process)/smaps")).readToEnd()
                var mappings: [Mapping] = []
                for line in String(decoding: table ?? Data(), as: UTF8.self).split(separator: "\n") {
                    let fields = line.split(separator: " ")
                    if fields[0] == "VmFlags:" {
                        mappings[mappings.count - 1].isDumped = !fields.contains("dd")
                    } else if !fields[0].hasSuffix(":") {
                        let bounds = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
                        let isReadable = fields[1].hasPrefix("r")
                        mappings.append(Mapping(start: bounds[0], count: isReadable ? Int(bounds[1] - bounds[0]) : 0))
                    }
                }
                // What is larger is a sanitizer's own.
                return mappings.filter { $0.count > 0 && $0.count <= 1 << 30 }
            }
        }

        private func find(_ needle: Data, in mappings: [Mapping], of process: pid_t) throws -> Bool {
            let memory = try FileDescriptor("/proc/\(process)/mem", O_RDONLY, action: "test")
            return mappings.contains { mapping in
                // Pages of the kernel's own cannot be read.
                guard let bytes = try? memory.read(mapping.count, at: mapping.start) else { return false }
                return Data(bytes).range(of: needle) != nil
            }
        }

        /// A core dump as the debugger makes it, nil where there is none.
        private func core(of process: pid_t) throws -> Data? {
            guard access("/usr/bin/gcore", X_OK) == 0 else { return nil }
            let debugger = Process()
            debugger.executableURL = URL(fileURLWithPath: "/usr/bin/gcore")
            debugger.arguments = ["-o", "\(scratch.folder)/core", "\(process)"]
            debugger.standardOutput = FileHandle.nullDevice
            debugger.standardError = FileHandle.nullDevice
            try debugger.run()
            debugger.waitUntilExit()
            #expect(debugger.terminationStatus == 0)
            return try scratch.bytes("\(scratch.folder)/core.\(process)")
        }
    }
#endif
