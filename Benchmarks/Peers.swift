// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI

    /// The file of libsecret, which it uses where there is no Secret Service.
    enum LibsecretFile {
        /// Stores a thousand items in one and looks one up again and again, in a process with a home of its own.
        ///
        /// - Returns: A lookup; nil if it could not be measured.
        static func measure(_ options: Options, _ report: inout Report) -> Measurement? {
            #if SecretService
                let count = options.isQuick ? 50 : 1_000
                guard let scratch = try? Scratch(),
                    let output = try? Child.run(
                        CommandLine.arguments[0],
                        ["--child", "libsecret", "\(count)", "\(options.rounds(100))"],
                        [
                            "HOME": scratch.folder, "PATH": "/usr/bin:/bin", "SECRET_BACKEND": "file",
                            "SECRET_FILE_TEST_PATH": scratch.path("peer.keyring"),
                            "SECRET_FILE_TEST_PASSWORD": "benchmark", "GIO_USE_VFS": "local",
                        ],
                        scratch
                    )
                else {
                    report.note("libsecret's file: it does not work here")
                    return nil
                }
                let lines = output.text.split(separator: "\n").map { line in
                    Measurement(nanoseconds: line.split(separator: " ").compactMap { Double($0) })
                }
                guard lines.count == 2 else {
                    report.note("libsecret's file: it gave no times")
                    return nil
                }
                report.add("libsecret's file: store at \(count) items", lines[0])
                report.add("libsecret's file: lookup at \(count) items", lines[1])
                return lines[1]
            #else
                report.note("libsecret's file: built without the Secret Service")
                return nil
            #endif
        }
    }

    /// Python's keyring with an encrypted file, if it is installed.
    enum PythonKeyring {
        private static let script = """
            import sys, time
            from keyrings.cryptfile.cryptfile import CryptFileKeyring
            ring = CryptFileKeyring()
            ring.file_path = sys.argv[1]
            ring.keyring_key = 'benchmark'
            ring.set_password('service', 'account', 'x' * 256)
            for _ in range(int(sys.argv[2])):
                start = time.perf_counter_ns()
                assert ring.get_password('service', 'account') is not None
                print(time.perf_counter_ns() - start)
            """

        static func measure(_ options: Options, _ scratch: Scratch, _ report: inout Report) throws {
            let environment = ["HOME": scratch.folder, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"]
            let python = "/usr/bin/python3"
            guard (try? Child.run(python, ["-c", "import keyrings.cryptfile"], environment, scratch)) != nil else {
                report.note("Python keyring with keyrings.cryptfile: not installed")
                return
            }
            let output = try Child.run(
                python,
                ["-c", script, scratch.path("peer.cfg"), "\(options.rounds(10))"],
                environment,
                scratch
            )
            let times = output.text.split(separator: "\n").compactMap { Double($0) }
            report.add("Python keyring with keyrings.cryptfile: get at 1 item", Measurement(nanoseconds: times))
        }
    }
#endif
