// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing

/// What the kernel knows of this process's memory.
enum ProcessMemory {
    struct Mapping {
        let range: Range<UInt>
        let access: Substring
        /// The line `VmFlags` of smaps(5), as words.
        var flags: [Substring] = []
    }

    /// The number of mappings.
    static func mappingCount() throws -> Int {
        try text(of: "/proc/self/maps").split(separator: "\n").count
    }

    /// Read in one piece: FileManager would ask for the size first, which is 0 here.
    private static func text(of path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
        return String(decoding: text, as: UTF8.self)
    }

    /// The mappings, from `/proc/self/smaps`.
    static func mappings() throws -> [Mapping] {
        var mappings: [Mapping] = []
        for line in try text(of: "/proc/self/smaps").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words[0] == "VmFlags:" {
                mappings[mappings.count - 1].flags = Array(words.dropFirst())
            } else if !words[0].hasSuffix(":") {
                let bounds = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                mappings.append(Mapping(range: bounds[0]..<bounds[1], access: words[1]))
            }
        }
        return mappings
    }

    static func mapping(at address: UnsafeRawPointer) throws -> Mapping? {
        let address = UInt(bitPattern: address)
        return try mappings().first { $0.range.contains(address) }
    }

    /// How often a text of bytes is in the process's writable memory, that of the argument aside.
    ///
    /// Read through `/proc/self/mem`, so that memory that may not be touched is passed over.
    static func occurrences(of needle: UnsafeRawBufferPointer) throws -> Int {
        let chunk = 1 << 20
        let buffer = try #require(map(chunk))
        defer { munmap(buffer, chunk) }
        let file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        let own = [UInt(bitPattern: buffer), UInt(bitPattern: needle.baseAddress)]
        var count = 0
        for mapping in try mappings() where mapping.access.hasPrefix("rw") && mapping.range.count <= 1 << 28 {
            guard !own.contains(where: mapping.range.contains) else { continue }
            var start = mapping.range.lowerBound
            while start < mapping.range.upperBound {
                let size = min(chunk, Int(mapping.range.upperBound - start))
                count += occurrences(of: needle, in: start, size, file, buffer)
                start += UInt(size == chunk ? size - needle.count : size)
            }
        }
        return count
    }

    private static func occurrences(
        of needle: UnsafeRawBufferPointer,
        in start: UInt,
        _ size: Int,
        _ file: Int32,
        _ buffer: UnsafeMutableRawPointer
    ) -> Int {
        let got = pread(file, buffer, size, off_t(start))
        guard got >= needle.count, let first = needle.first, let text = needle.baseAddress else { return 0 }
        var count = 0
        var place = UnsafeRawPointer(buffer)
        let last = place + (got - needle.count)
        while place <= last, let found = memchr(place, Int32(first), last - place + 1) {
            if memcmp(found, text, needle.count) == 0 { count += 1 }
            place = UnsafeRawPointer(found) + 1
        }
        return count
    }

    /// A mapping of its own, which nothing else shares.
    static func map(_ size: Int) -> UnsafeMutableRawPointer? {
        let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let address, address != MAP_FAILED else { return nil }
        return address
    }
}
