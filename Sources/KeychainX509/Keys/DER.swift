// SPDX-License-Identifier: MIT
#if X509
    import FoundationEssentials
    import KeychainAPI

    /// The headers of objects: those around the bytes of an elliptic-curve key, which OpenSSL then reads and checks, and
    /// those of what OpenSSL has written.
    enum DER {
        private static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]

        /// The header of an object: its tag and its length (X.690, 8.1.3).
        static func header(_ tag: UInt8, _ count: Int) -> [UInt8] {
            switch count {
            case ..<0x80: [tag, UInt8(count)]
            case ..<0x100: [tag, 0x81, UInt8(count)]
            default: [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
            }
        }

        /// What an object holds, without its header (X.690, 8.1.3).
        ///
        /// - Parameter object: The whole of an object that OpenSSL has written.
        static func content(of object: Data) -> Data {
            guard object.count > 1 else { return Data() }
            let length = object[object.startIndex + 1]
            return Data(object.dropFirst(length < 0x80 ? 2 : 2 + Int(length & 0x7F)))
        }

        /// A `SubjectPublicKeyInfo` (RFC 5480) of a point.
        static func subjectPublicKeyInfo(_ curve: EllipticCurve, _ point: SecureBytes) -> SecureBytes {
            let algorithm = ecPublicKey + curve.objectIdentifier
            let names = header(0x30, algorithm.count) + algorithm
            let bits = header(0x03, point.count + 1) + [0]
            let head = header(0x30, names.count + bits.count + point.count) + names + bits
            return point.withBytes { point in
                SecureBytes(count: head.count + point.count) { target in
                    target.copyBytes(from: head)
                    UnsafeMutableRawBufferPointer(rebasing: target[head.count...]).copyBytes(from: point)
                }
            }
        }

        /// An `ECPrivateKey` (RFC 5915) of a point and the number after it.
        static func ecPrivateKey(_ curve: EllipticCurve, _ bytes: SecureBytes) -> SecureBytes {
            let size = curve.byteCount
            let point = 1 + 2 * size
            let number = header(0x04, size)
            let name = header(0xA0, curve.objectIdentifier.count) + curve.objectIdentifier
            let bits = header(0x03, point + 1) + [0]
            let publicKey = header(0xA1, bits.count + point)
            let version: [UInt8] = [0x02, 0x01, 0x01]
            let count = version.count + number.count + size + name.count + publicKey.count + bits.count + point
            let first = header(0x30, count) + version + number
            let second = name + publicKey + bits
            return bytes.withBytes { bytes in
                SecureBytes(count: first.count + size + second.count + point) { target in
                    var rest = target
                    func write(_ source: some Collection<UInt8>) {
                        rest.copyBytes(from: source)
                        rest = UnsafeMutableRawBufferPointer(rebasing: rest[source.count...])
                    }
                    write(first)
                    write(bytes[point...])
                    write(second)
                    write(bytes[..<point])
                }
            }
        }
    }
#endif
