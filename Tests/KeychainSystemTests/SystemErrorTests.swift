// SPDX-License-Identifier: MIT

import Glibc
import KeychainAPI
import KeychainSystem
import Testing

@Suite struct SystemErrorTests {
    @Test(arguments: [
        (ENOENT, KeychainError.Code.unavailable), (ENOTDIR, .unavailable), (EACCES, .accessDenied),
        (EPERM, .accessDenied),
        (EROFS, .readOnly), (ENOSPC, .outOfSpace), (EDQUOT, .outOfSpace), (EFBIG, .outOfSpace), (EAGAIN, .busy),
        (EBUSY, .busy), (ETXTBSY, .busy), (ENAMETOOLONG, .invalidParameter), (EINVAL, .invalidParameter),
        (ELOOP, .invalidParameter), (EISDIR, .invalidParameter), (EMFILE, .io), (ENFILE, .io), (ENOLCK, .unsupported),
        (EBADF, .io), (ENOSYS, .unsupported), (EOPNOTSUPP, .unsupported), (EIO, .io), (ENOMEM, .io), (123_456, .io),
    ])
    func errnoHasACodeAndAText(number: Int32, code: KeychainError.Code) {
        let error = KeychainError.system(number, "The file ‘x’ could not be opened")
        let text = String(cString: strerror(number))
        #expect(error.code == code)
        #expect(error.message.hasPrefix("The file ‘x’ could not be opened: \(text). "))
        #expect(error.message.hasSuffix("."))
        #expect(error.underlying == .init(domain: "errno", code: Int(number), message: text))
    }

    @Test func interruptionsAreRepeated() {
        var results: [(Int, Int32)] = [(-1, EINTR), (-1, EINTR), (7, 0)]
        #expect(next() == 7)
        results = [(-1, EINTR), (-1, EIO), (7, 0)]
        #expect(next() == -1)
        #expect(errno == EIO)
        #expect(results.count == 1)

        func next() -> Int {
            retryingInterruptions {
                let (result, number) = results.removeFirst()
                errno = number
                return result
            }
        }
    }

    @Test func descriptorsAreClosedWithTheirOwner() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("x", [1, 2, 3])
        var file: FileDescriptor? = try FileDescriptor(path, O_RDONLY, action: "x")
        let number = try #require(file?.number)
        #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
        #expect(try file?.status().st_size == 3)
        file = nil
        #expect(throws: KeychainError(.invalidParameter, "")) {
            _ = try FileDescriptor(path + "\0", O_RDONLY, action: "x")
        }
        #expect(throws: KeychainError(.unavailable, "")) { _ = try FileDescriptor(path + "x", O_RDONLY, action: "x") }
    }
}
