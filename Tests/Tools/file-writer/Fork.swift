// SPDX-License-Identifier: MIT
#if File
    import BackendFile
    import Foundation
    import Glibc
    import KeychainAPI

    /// fork(2), which Swift hides, since a child of several threads may do next to nothing; this process has one.
    private func forked() -> pid_t {
        guard let symbol = dlsym(nil, "fork") else { exit(2) }
        return unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
    }

    /// Forks with the file open and unlocked, and writes in both processes.
    func forkAndWrite(_ driver: FileDriver) throws(KeychainError) {
        try driver.put("before", Data("x".utf8))
        let child = forked()
        let name = child == 0 ? "child" : "parent"
        for number in 0..<20 {
            do throws(KeychainError) {
                try driver.put("\(name)-\(number)", Data("x".utf8))
            } catch {
                complain("\(name): \(error)")
                _exit(1)
            }
        }
        guard child != 0 else { _exit(0) }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        let count = try driver.read(CallContext(.info)) { (reader) throws(KeychainError) in
            try reader.records(RecordSelection()).count
        }
        say("\(count) items, status \(status)")
    }

    /// Forks while the lock is held: the child has copies of its descriptors, and must not keep the lock.
    func forkWhileWriting(_ driver: FileDriver) throws(KeychainError) {
        var child: pid_t = 0
        try driver.write(CallContext(.store)) { (writer) throws(KeychainError) in
            try writer.commit([.insert(record("parent"), SecureBytes(Data("x".utf8)))])
            child = forked()
            if child == 0 {
                while readLine() != nil {}
                _exit(0)
            }
        }
        say("ready")
        var status: Int32 = 0
        waitpid(child, &status, 0)
        exit(status)
    }
#endif
