// SPDX-License-Identifier: MIT
//
// Gives the reader of keychain files whatever bytes there are: it may refuse them, and never trap, hang or read beyond
// their end. Scripts/fuzz builds this with libFuzzer, which makes up the bytes. Built without, it takes files with such
// bytes as arguments, for example the seeds in Corpus, or what libFuzzer has left of a crash.

import Foundation

// What it looks at is not public, and can be had of debug builds only.
#if File && DEBUG
    #if FUZZING
        /// Takes over the process, and calls a function with one input after the other.
        ///
        /// Declared here since the toolchain has no module for libFuzzer.
        /// - SeeAlso: https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library
        @_silgen_name("LLVMFuzzerRunDriver")
        func runFuzzer(
            _ count: UnsafeMutablePointer<Int32>,
            _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
            _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
        ) -> Int32

        /// The function; by this name since a `main` of libFuzzer's own, which is linked and not run, wants to call it.
        @_cdecl("LLVMFuzzerTestOneInput")
        func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
            FuzzInput([UInt8](UnsafeBufferPointer(start: bytes, count: count))).run()
            return 0
        }

        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runFuzzer(&count, &arguments, testOneInput))
    #else
        for path in CommandLine.arguments.dropFirst() {
            try FuzzInput([UInt8](Data(contentsOf: URL(fileURLWithPath: path)))).run()
        }
    #endif
#else
    FileHandle.standardError.write(Data("FileFuzzer needs a debug build with the trait File.\n".utf8))
    exit(1)
#endif
