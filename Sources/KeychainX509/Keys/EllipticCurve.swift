// SPDX-License-Identifier: MIT
#if X509
    /// An elliptic curve over a prime field (FIPS 186-4, D.1.2), by its name there.
    public enum EllipticCurve: String, Sendable, Hashable, CaseIterable {
        /// secp256r1.
        case p256 = "P-256"
        /// secp384r1.
        case p384 = "P-384"
        /// secp521r1.
        case p521 = "P-521"

        /// The size of the field in bits.
        public var sizeInBits: Int {
            switch self {
            case .p256: 256
            case .p384: 384
            case .p521: 521
            }
        }

        /// The bytes of a coordinate, and of a private key.
        var byteCount: Int { (sizeInBits + 7) / 8 }

        /// OpenSSL's name of the curve.
        var groupName: String {
            switch self {
            case .p256: "prime256v1"
            case .p384: "secp384r1"
            case .p521: "secp521r1"
            }
        }

        /// The object identifier in DER.
        var objectIdentifier: [UInt8] {
            switch self {
            case .p256: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
            case .p384: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
            case .p521: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
            }
        }
    }
#endif
