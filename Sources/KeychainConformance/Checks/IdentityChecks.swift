// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// The certificate of a key pair.
private func certificate(_ hash: UInt8, serial: UInt8 = 1, label: String? = nil) -> SecItemQuery<SecCertificate> {
    var query = SecItemQuery<SecCertificate>()
    query.serialNumber = Data([serial])
    query.publicKeyHash = Data([hash])
    query.label = label
    return query
}

/// The private key of a key pair.
private func key(_ label: UInt8, _ keyClass: KeyClass = .private, tag: String? = nil) -> SecItemQuery<SecKey> {
    var query = SecItemQuery<SecKey>()
    query.applicationLabel = Data([label])
    query.keyClass = keyClass
    query.applicationTag = tag.map(bytes)
    return query
}

extension ConformanceSuite {
    static let identities = CheckList.make(.identities) { list in
        list.add("An identity exists where a private key's label is a certificate's public key hash") { bench in
            let all = SecItemQuery<SecIdentity>()
            try bench.keychain.store("certificate", query: certificate(7))
            try expect(try !bench.keychain.contains(all), "A certificate alone is none")
            try bench.keychain.store("other", query: key(8))
            try expect(try !bench.keychain.contains(all), "Nor with another key")
            try bench.keychain.store("public", query: key(7, .public))
            try expect(try !bench.keychain.contains(all), "Nor with a public key")
            try bench.keychain.store("private", query: key(7))
            try expectEqual(try bench.count(all), 1, "With the private key it is one")
            try bench.keychain.remove(key(7))
            try expect(try !bench.keychain.contains(all), "Without the key it is none again")
        }
        list.add("A key and a certificate without label and hash are no identity") { bench in
            var plain = SecItemQuery<SecKey>()
            plain.keyClass = .private
            try bench.keychain.store("key", query: plain)
            try bench.keychain.store("certificate", query: SecItemQuery<SecCertificate>())
            try expectEqual(try bench.count(SecItemQuery<SecIdentity>()), 0, "Absence joins nothing")
        }
        list.add("An identity shows the attributes of both its parts") { bench in
            try bench.keychain.store("certificate", query: certificate(7, label: "server"))
            try bench.keychain.store("key", query: key(7, tag: "tag"))
            let info = try unwrap(try bench.keychain.info(for: SecItemQuery<SecIdentity>.identity(for: "server")), "It")
            try expectEqual(info.label, "server", "The certificate's label")
            try expectValue(info.publicKeyHash, Data([7]), "The certificate's hash")
            try expectValue(info.applicationTag, bytes("tag"), "The key's tag")
            try expectEqual(info.keyClass, .private, "The key's class")
        }
        list.add("An identity's value and reference are its certificate's") { bench in
            try bench.keychain.store("certificate", query: certificate(7))
            try bench.keychain.store("key", query: key(7))
            let all = SecItemQuery<SecIdentity>()
            guard case .data(let data)? = try bench.keychain.retrieve(.data, query: all) else {
                throw ConformanceFailure("The identity has a value")
            }
            try expectValue(data, bytes("certificate"), "The certificate's value")
            let reference = try unwrap(try bench.keychain.info(for: all)?.persistentReference, "It has a reference")
            let own = try bench.keychain.info(for: certificate(7))?.persistentReference
            try expectEqual(reference.uuid, own?.uuid, "The certificate's reference")
            try expect(try bench.keychain.contains(.item(reference)), "The reference finds the identity")
        }
        list.add("An identity is found by attributes of either part, and by both together") { bench in
            for index in [1, 2] as [UInt8] {
                try bench.keychain.store("c", query: certificate(index, serial: index, label: "label\(index)"))
                try bench.keychain.store("k", query: key(index, tag: "tag\(index)"))
            }
            var query = SecItemQuery<SecIdentity>()
            query.serialNumber = Data([2])
            try expectEqual(try bench.keychain.infoAll(for: query).map(\.label), ["label2"], "By the certificate")
            query = SecItemQuery()
            query.applicationTag = bytes("tag1")
            try expectEqual(try bench.keychain.infoAll(for: query).map(\.label), ["label1"], "By the key")
            query.serialNumber = Data([2])
            try expectEqual(try bench.count(query), 0, "Parts of two identities match none")
            query.serialNumber = Data([1])
            try expectEqual(try bench.count(query), 1, "Parts of one match it")
            query.keyClass = .public
            try expectEqual(try bench.count(query), 0, "An identity's key is private")
        }
        list.add("Identities come oldest certificate first, in retrieveAll and infoAll alike") { bench in
            for index in 1...4 as ClosedRange<UInt8> {
                try bench.keychain.store("c\(index)", query: certificate(index, serial: index))
                try bench.keychain.store("k\(index)", query: key(index))
            }
            let certificates = try bench.keychain.infoAll(for: SecItemQuery<SecCertificate>())
            let identities = try bench.keychain.infoAll(for: SecItemQuery<SecIdentity>())
            try expectEqual(identities.map(\.serialNumber), certificates.map(\.serialNumber), "The same order")
            try expectEqual(try bench.keychain.retrieveAll(query: SecItemQuery<SecIdentity>()).count, 4, "All four")
        }
        list.add("Removing an identity removes its certificate and its key") { bench in
            try bench.keychain.store("c", query: certificate(7, label: "gone"))
            try bench.keychain.store("k", query: key(7))
            try bench.keychain.store("c", query: certificate(8, serial: 2, label: "stays"))
            try bench.keychain.store("k", query: key(8))
            try expect(try bench.keychain.remove(SecItemQuery<SecIdentity>.identity(for: "gone")), "It is removed")
            try expect(try !bench.keychain.contains(certificate(7)), "The certificate is gone")
            try expect(try !bench.keychain.contains(key(7)), "The key is gone")
            try expectEqual(try bench.keychain.infoAll(for: SecItemQuery<SecIdentity>()).map(\.label), ["stays"], "One")
            try expect(
                try !bench.keychain.remove(SecItemQuery<SecIdentity>.identity(for: "gone")),
                "Then there is none"
            )
        }
        list.add("Removing an identity leaves a key that another certificate shares") { bench in
            try bench.keychain.store("c", query: certificate(7, serial: 1, label: "old"))
            try bench.keychain.store("c", query: certificate(7, serial: 2, label: "new"))
            try bench.keychain.store("k", query: key(7))
            try expectEqual(try bench.count(SecItemQuery<SecIdentity>()), 2, "Two identities with one key")
            try bench.keychain.remove(SecItemQuery<SecIdentity>.identity(for: "old"))
            try expect(try bench.keychain.contains(key(7)), "The key stays")
            try expectEqual(try bench.keychain.infoAll(for: SecItemQuery<SecIdentity>()).map(\.label), ["new"], "One")
            try bench.keychain.remove(SecItemQuery<SecIdentity>.identity(for: "new"))
            try expect(try !bench.keychain.contains(key(7)), "With the last certificate the key goes")
        }
        list.add("Identities do not join across access groups") { bench in
            try bench.keychain.store("c", query: certificate(7))
            try bench.inGroup("other").store("k", query: key(7))
            try expectEqual(try bench.count(SecItemQuery<SecIdentity>()), 0, "The key is in another group")
        }
    }
}
