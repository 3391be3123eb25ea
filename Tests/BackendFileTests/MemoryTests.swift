// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainSystem
    import Testing

    @testable import BackendFile

    /// What is left of secrets in the memory of a process that has worked with them.
    struct MemoryTests {
        private let scratch = Scratch()

        @Test func noValueAndNoKeyMaterialIsLeftAfterACall() throws {
            let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
            let values = ["small": 40, "large": 200_000].mapValues { count in
                Data((0..<count).map { _ in UInt8.random(in: 0...255) })
            }
            let driver = try scratch.driver(key: .key(SecureBytes(key)))
            for (account, value) in values { try driver.add(passwordRecord(account), value) }
            try scratch.put(key, at: "\(scratch.folder)/raw")
            for (account, value) in values {
                let tool = try Tool(["hold", scratch.path, "\(scratch.folder)/raw", account])
                #expect(tool.line() == "ready \(value.count)")
                let sealed = try SealedFile(FilePlace(scratch.path, environment: [:]))
                let master = try sealed.header.masterKey(.key(SecureBytes(key))).master
                // To know that the search works: the account is in memory, and so is a key that opens values.
                #expect(try find(Data("svc".utf8), in: tool.identifier))
                #expect(try find(StoreKeys(master: master).value.data, in: tool.identifier))
                for secret in values.values {
                    #expect(try !find(secret.prefix(16), in: tool.identifier))
                    #expect(try !find(secret.suffix(16), in: tool.identifier))
                }
                #expect(try !find(key, in: tool.identifier))
                try tool.closeInput()
                #expect(try tool.finish().status == 0)
            }
        }

        /// Whether bytes are anywhere in the memory of a process.
        private func find(_ needle: Data, in process: pid_t) throws -> Bool {
            let memory = try FileDescriptor("/proc/\(process)/mem", O_RDONLY, action: "test")
            // Piece by piece: a file of the kernel has no length, and is not always read whole otherwise.
            let table = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(process)/maps")).readToEnd()
            let maps = String(decoding: table ?? Data(), as: UTF8.self)
            var searched: UInt64 = 0
            for line in maps.split(separator: "\n") {
                let fields = line.split(separator: " ")
                let bounds = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
                // What cannot be written holds no secret, and what is larger is a sanitizer's own.
                guard bounds.count == 2, fields[1].hasPrefix("rw"), bounds[1] - bounds[0] <= 1 << 30,
                    let bytes = try? memory.read(
                        Int(bounds[1] - bounds[0]),
                        at: bounds[0]
                    )
                else { continue }
                searched += UInt64(bytes.count)
                if Data(bytes).range(of: needle) != nil { return true }
            }
            #expect(searched > 1 << 20)
            return false
        }
    }
#endif
