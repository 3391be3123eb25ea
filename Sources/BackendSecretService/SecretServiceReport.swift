// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    import Glibc
    public import KeychainAPI

    /// What can be seen of the Secret Service from outside, for who looks for what is wrong.
    public struct SecretServiceReport: Sendable {
        /// The program that owns the service's name on the bus.
        public struct Provider: Sendable, Hashable {
            /// What it is called: the file name of its program.
            public let name: String
            /// The path of its program, nil if the system does not let it be seen.
            public let executable: String?
            /// The number of its process, nil if the bus does not tell.
            public let processIdentifier: Int32?
            /// The version of the package that the program is from, nil if that is not known.
            public let version: String?
        }

        /// A collection of the service.
        public struct Collection: Sendable, Hashable {
            /// Its object path.
            public let path: String
            /// Its label.
            public let label: String
            /// Whether it is locked.
            public let isLocked: Bool
            /// Whether the alias `default` stands for it.
            public let isDefault: Bool
        }

        /// The address of the bus, which answers there.
        public let busAddress: String
        /// Who provides the service; nil if no one does at the moment.
        public let provider: Provider?
        /// Whether the bus can start a service.
        public let isActivatable: Bool
        /// The collections; empty if there are none, or the service could not be asked.
        public let collections: [Collection]
        /// Why the service could not be asked.
        public let trouble: KeychainError?

        /// Looks; starts, unlocks and asks for nothing.
        ///
        /// - Parameters:
        ///   - environment: Where the session bus is looked up.
        ///   - call: Deadline and cancellation.
        /// - Throws: `unavailable` without a bus, `timedOut` if it does not answer.
        public init(environment: [String: String], _ call: CallContext) throws(KeychainError) {
            busAddress = try BusAddress.session(environment)
            let connection = try BusConnection.open(busAddress, call, limit: Self.limit)
            let action = "The session bus could not be asked"
            let found = try connection.perform(
                [
                    .bus("ListActivatableNames", [], reply: "(as)", action: action),
                    .owner(of: ServiceName.bus, action: action),
                    .bus("GetConnectionUnixProcessID", [.string(ServiceName.bus)], reply: "(u)", action: action),
                ],
                call,
                limit: Self.limit
            )
            isActivatable = try found[0].get()[0].texts.contains(ServiceName.bus)
            guard let owner = (try? found[1].get())?[0].text else {
                provider = nil
                collections = []
                trouble = nil
                return
            }
            provider = Provider(processIdentifier: (try? found[2].get()).map { Int32(clamping: $0[0].unsigned) })
            do throws(KeychainError) {
                collections = try Self.collections(connection, owner, call)
                trouble = nil
            } catch {
                collections = []
                trouble = error
            }
        }

        private static let limit = Duration.seconds(2)

        private static func collections(
            _ connection: BusConnection,
            _ owner: String,
            _ call: CallContext
        ) throws(KeychainError) -> [Collection] {
            func request(_ path: String, _ interface: String, _ method: String, _ texts: [String], _ reply: String)
                -> BusCall
            {
                BusCall(
                    destination: owner,
                    path: path,
                    interface: interface,
                    method: method,
                    arguments: .tuple(texts.map(Variant.string)),
                    reply: reply,
                    action: "The Secret Service could not be asked"
                )
            }
            let answers = try connection.perform(
                [
                    request(ServiceName.path, ServiceName.service, "ReadAlias", ["default"], "(o)"),
                    request(
                        ServiceName.path,
                        ServiceName.properties,
                        "Get",
                        [ServiceName.service, "Collections"],
                        "(v)"
                    ),
                ],
                call,
                limit: limit
            )
            let standard = try answers[0].get()[0].text
            let paths = try answers[1].get()[0].unboxed.texts
            let properties = try connection.perform(
                ["Label", "Locked"].flatMap { name in
                    paths.map { request($0, ServiceName.properties, "Get", [ServiceName.collection, name], "(v)") }
                },
                call,
                limit: limit
            )
            return paths.indices.map { index in
                // One that is going away at this moment has neither.
                Collection(
                    path: paths[index],
                    label: (try? properties[index].get())?[0].unboxed.text ?? "",
                    isLocked: (try? properties[paths.count + index].get())?[0].unboxed.flag ?? false,
                    isDefault: paths[index] == standard
                )
            }
        }
    }

    extension SecretServiceReport.Provider {
        /// The packages of the programs that provide the service, on Debian and what is made of it.
        private static let packages = [
            "gnome-keyring-daemon": "gnome-keyring", "keepassxc": "keepassxc", "kwalletd5": "libkf5wallet-bin",
            "kwalletd6": "kwalletd6", "ksecretd": "kwalletd6", "oo7-daemon": "oo7-daemon",
        ]

        fileprivate init(processIdentifier: Int32?) {
            self.processIdentifier = processIdentifier
            let folder = "/proc/\(processIdentifier ?? 0)"
            executable = Self.target(of: "\(folder)/exe")
            // The program of another user, or one that guards its memory, shows no more than the start of its name.
            let name =
                executable.map { String($0.split(separator: "/").last ?? "") }
                ?? (try? String(contentsOfFile: "\(folder)/comm", encoding: .utf8))?
                .filter { !$0.isNewline } ?? "a program"
            self.name = name
            let program = Self.packages.keys.first { $0 == name || name.count == 15 && $0.hasPrefix(name) }
            version = program.flatMap { Self.packages[$0] }.flatMap(Self.installedVersion)
        }

        private static func target(of link: String) -> String? {
            var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(link, &buffer, buffer.count)
            return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        }

        /// The version that dpkg has noted; to ask the program itself would be to start it.
        private static func installedVersion(of package: String) -> String? {
            guard let data = try? Data(contentsOf: URL(filePath: "/var/lib/dpkg/status")) else { return nil }
            var isIn = false
            for line in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                if line.isEmpty { isIn = false }
                if line.elementsEqual("Package: \(package)".utf8) { isIn = true }
                if isIn, line.starts(with: "Version: ".utf8) {
                    return String(decoding: line.dropFirst("Version: ".utf8.count), as: UTF8.self)
                }
            }
            return nil
        }
    }
#endif
