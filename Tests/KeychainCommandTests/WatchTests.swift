// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// `watch`, `lock` and `unlock` where no service is needed.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct WatchTests {
    private let bench = Bench()

    /// What a script needs to watch: `begin OPTIONS`, `next`, which prints the next change of an item, and `end SIGNAL`.
    ///
    /// What a script starts in the background ignores SIGINT, unless it is told not to.
    static let head = """
        begin() {
            rm -f $HOME/out $HOME/err; mkfifo $HOME/out $HOME/err
            env --default-signal=INT $K watch -v "$@" > $HOME/out 2> $HOME/err & pid=$!
            exec 3< $HOME/out 4< $HOME/err
            read -u4 line; [[ $line == *watching* ]] || echo "instead of watching: $line"
        }
        next() { while IFS= read -ru3 line; do [[ $line == *invalidated* ]] || { echo "$line"; return; }; done; }
        end() { kill -$1 $pid; wait $pid; echo "status $?"; }

        """

    private func shell(_ script: String, _ environment: [String: String]) async throws -> [String] {
        let outcome = try await onThread { try Program.shell(Self.head + script, environment: environment) }
        #expect(outcome.errors.isEmpty)
        return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    #if File
        private func fileEnvironment() throws -> [String: String] {
            [
                "HOME": bench.folder, "KEYCHAIN_STORE": "file:\(bench.folder)/a.keychain",
                "KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())",
            ]
        }

        @Test func changesOfOtherProcessesArePrinted() async throws {
            let lines = try await shell(
                """
                echo 1 | $K -q set other; begin svc
                echo 1 | $K set svc bob; next; echo 2 | $K set other; $K update svc --set-label L; next
                echo 3 | $K set svc bob; next; $K rm svc; next; end TERM
                """,
                try fileEnvironment()
            )
            let fields = lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
            #expect(
                fields.map { Array($0.prefix(5)) } == [
                    ["added", "generic-password", "svc", "bob", ""],
                    ["updated", "generic-password", "svc", "bob", "L"],
                    ["updated", "generic-password", "svc", "bob", "L"],
                    ["removed", "generic-password", "svc", "bob", "L"], ["status 143"],
                ]
            )
            #expect(fields.dropLast().allSatisfy { $0.count == 7 })
        }

        @Test func everyClassIsWatchedAndPrintedAsJSON() async throws {
            let lines = try await shell(
                """
                echo 1 | $K -q set old; begin --json
                echo 1 | $K set svc bob; next; echo 1 | $K set --url https://example.com bob; next; end INT
                """,
                try fileEnvironment()
            )
            let objects = try lines.dropLast().map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(objects.map { $0["change"] as? String } == ["added", "added"])
            #expect(objects.map { $0["service"] as? String ?? $0["server"] as? String } == ["svc", "example.com"])
            #expect(objects.allSatisfy { $0["value"] == nil && $0["valueBase64"] == nil })
            #expect(lines.last == "status 130")
        }
    #endif

    @Test func theEndOfItsTimeIsNoFailure() async throws {
        let environment = ["HOME": bench.folder, "KEYCHAIN_STORE": "memory:"]
        #expect(try await shell("$K watch --timeout 0.5; echo $?", environment) == ["0"])
    }

    @Test func anIdentityIsNotWatched() async throws {
        #expect(try await bench.run("watch", "--class", "identity").status == 9)
    }

    @Test func aStoreThatIsNotLockedAsAWholeSaysSo() async throws {
        for command in ["lock", "unlock"] {
            let outcome = try await bench.run(command)
            #expect(outcome.status == 9 && outcome.errors.contains("not locked or unlocked as a whole"), "\(command)")
        }
    }
}
