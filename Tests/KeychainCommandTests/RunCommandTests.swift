// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

@testable import KeychainCommand

/// `run`: how a selector is split, what is masked, and what becomes of the program.
struct RunCommandTests {
    private let bench = Bench()

    @Test(arguments: [
        ("", []), ("  ", []), ("svc bob", ["svc", "bob"]), (" svc\t bob\n", ["svc", "bob"]), ("'a b' c", ["a b", "c"]),
        ("a' 'b", ["a b"]), ("''", [""]), ("\"\"", [""]), ("\"a b\"", ["a b"]), (#""a\"b\\c\d""#, [#"a"b\c\d"#]),
        (#"a\ b \\ \'"#, ["a b", "\\", "'"]), ("'a\\'", ["a\\"]),
        ("$HOME `x` * ~ #x", ["$HOME", "`x`", "*", "~", "#x"]),
        ("--label='x y' ü", ["--label=x y", "ü"]), ("a\\\nb", ["ab"]), ("\"a\\\nb\"", ["ab"]), (#""\$\`""#, ["$`"]),
    ])
    func textIsSplitAsAShellSplitsIt(text: String, words: [String]) throws {
        #expect(try ShellWords.split(text) == words)
    }

    @Test(arguments: ["'", "\"", "a'b", "\"a", "a\\", "\"a\\"])
    func whatHasNoEndIsRefused(text: String) {
        let error = #expect(throws: KeychainError.self) { try ShellWords.split(text) }
        #expect(error?.code == .invalidParameter)
    }

    private func mask(_ secrets: [String], _ pieces: [String]) -> String {
        var mask = OutputMask(
            secrets.enumerated().map { EnvironmentSecret(name: "N\($0)", value: SecureBytes(Data($1.utf8))) }
        )
        var shown: [UInt8] = []
        for piece in pieces { shown += mask.mask(piece.utf8) }
        return String(decoding: shown + mask.finish(), as: UTF8.self)
    }

    @Test func secretsAreReplacedInAnyPieces() {
        #expect(mask(["s3cret"], ["a s3cret b s3crets"]) == "a [N0] b [N0]s")
        #expect(mask(["s3cret"], ["a s3", "cr", "et b"]) == "a [N0] b")
        #expect(mask(["s3cret"], ["a s3", "crow"]) == "a s3crow")
        #expect(mask(["s3cret"], ["s3cre"]) == "s3cre", "The end is no secret.")
        #expect(mask(["aab"], ["aaab"]) == "a[N0]")
        #expect(mask(["ab", "abcd"], ["abcd abc", "e"]) == "[N1] [N0]ce", "The longest one counts.")
        #expect(mask(["ab", "abcd"], ["abc"]) == "[N0]c")
        #expect(mask(["key\n", "", "\n"], ["key\nx\n"]) == "[N0]\nx\n", "Newlines at the end do not count.")
        #expect(mask([], ["x"]) == "x")
    }

    @Test func whatIsNoBeginningIsShownAtOnce() {
        var mask = OutputMask([EnvironmentSecret(name: "A", value: SecureBytes(Data("s3cret".utf8)))])
        #expect(mask.mask("Continue? ".utf8) == Array("Continue? ".utf8))
        #expect(mask.mask("s".utf8) == [])
        #expect(mask.mask("x".utf8) == Array("sx".utf8))
    }

    /// However the output is cut, it is the same; letters are few, so that secrets overlap.
    @Test func piecesMakeNoDifference() {
        var generator = SystemRandomNumberGenerator()
        func text(_ count: Int) -> String {
            String((0..<count).map { _ in "ab".randomElement(using: &generator) ?? "a" })
        }
        for _ in 0..<2_000 {
            let secrets = (0..<Int.random(in: 1...3)).map { _ in text(Int.random(in: 1...4)) }
            let output = text(Int.random(in: 0...30))
            var pieces: [String] = []
            var rest = output[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...5))
                pieces.append(String(piece))
                rest = rest.dropFirst(piece.count)
            }
            #expect(mask(secrets, pieces) == mask(secrets, [output]), "\(secrets) \(pieces)")
        }
    }

    @Test(arguments: [
        [], ["--"], ["--env", "A=svc"], ["--env", "A=svc", "--"], ["--env", "A=svc", "true"], ["--", "true"],
        ["--env", "A", "--", "true"], ["--env", "=svc", "--", "true"], ["--env", "1A=svc", "--", "true"],
        ["--env", "A-B=svc", "--", "true"], ["--env", "A=", "--", "true"], ["--env", "A='svc", "--", "true"],
        ["--env", "A=svc", "--env", "A=svc b", "--", "true"], ["--env", "A=svc --json", "--", "true"],
        ["--env", "A=svc --help", "--", "true"], ["--env", "A=svc --store memory:", "--", "true"],
        ["--env", "A=svc a b", "--", "true"], ["x", "--env", "A=svc", "--", "true"],
    ])
    func wrongUse(arguments: [String]) async throws {
        let outcome = try await bench.run(arguments: ["run"] + arguments)
        #expect(outcome.status == 2, "\(outcome.errors)")
    }

    #if File
        private func shell(_ script: String) async throws -> [String] {
            let environment = [
                "HOME": bench.folder, "KEYCHAIN_STORE": "file:\(bench.folder)/a.keychain",
                "KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())",
            ]
            let prepared =
                "cd $HOME; printf s3cret | $K -q set svc bob; printf other | $K -q set --url https://example.com al\n"
            let outcome = try await onThread { try Program.shell(prepared + script, environment: environment) }
            let text = String(decoding: outcome.output, as: UTF8.self) + outcome.errors
            return text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
        }

        @Test(arguments: ["", "--mask"])
        func theProgramGetsTheSecretsInItsEnvironmentAlone(mask: String) async throws {
            let lines = try await shell(
                """
                ls > before
                X=y $K run \(mask) --env 'A=svc bob' -e "B=--url 'https://example.com' al" -- \
                    bash -c 'printf "%s %s %s %s" "$A" "$B" "$X" "$*" | tr a-z n-za-m | sed "s/^/rot /"; echo
                    tr "\\0" " " < /proc/$$/cmdline | grep -c $(echo f3perg | tr n-za-m a-z); ls /proc/$$/fd | tr "\\n" " "; echo' \
                    bash 'a b' -v
                bash -c 'ls /proc/$$/fd | tr "\\n" " "; echo'
                ls > after; diff before after
                """
            )
            // The result is shown in another form, since --mask would hide it.
            #expect(lines.first == "rot f3perg bgure l n o -i", "\(lines)")
            #expect(lines.dropFirst().first == "0", "\(lines)")
            try #require(lines.count == 6, "\(lines)")
            let descriptors = lines[2...3].map { Set($0.split(separator: " ")) }
            #expect(
                descriptors[0].isSuperset(of: ["0", "1", "2"]) && descriptors[0].isSubset(of: descriptors[1]),
                "\(lines)"
            )
            #expect(lines[5] == "> after", "Nothing was written: \(lines)")
        }

        @Test(arguments: ["", "--mask"])
        func statusesAndSignalsAreItsOwn(mask: String) async throws {
            // The tests run with signals blocked, which every program inherits.
            let lines = try await shell(
                """
                cat > script <<'END'
                r() { $K run \(mask) --env 'A=svc bob' -- "$@"; echo $?; }
                r true; r sh -c 'exit 7'; r sh -c 'kill -TERM $$'; r sh -c 'kill -KILL $$'
                r ./missing 2>/dev/null; : > plain; r ./plain 2>/dev/null; r sh -c 'ulimit -c'
                $K run \(mask) --env 'A=svc bob' -- sh -c 'trap "echo got; exit 9" TERM; echo $$ > pid; while :; do sleep 0.05; done' &
                until [ -s pid ]; do sleep 0.05; done; kill -TERM $!; wait $!; echo $?
                trap '' HUP; sh -c 'grep "^Sig[BI]" /proc/$$/status | grep -o ".\\{8\\}$"' > before
                $K run \(mask) --env 'A=svc bob' -- sh -c 'grep "^Sig[BI]" /proc/$$/status | grep -o ".\\{8\\}$"' | diff before -
                END
                python3 -c 'import os, signal
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                os.execvp("bash", ["bash", "script"])' 2>/dev/null
                """
            )
            #expect(lines == ["0", "7", "143", "137", "127", "126", "0", "0", "got", "9"], "\(lines)")
        }

        @Test func whatIsNotFoundStartsNothing() async throws {
            let lines = try await shell(
                """
                for a in 'nothing' 'svc eve' '--ref 00000000-0000-4000-8000-000000000000'; do
                    $K run --env 'A=svc bob' --env "B=$a" -- touch started; echo $?; done; ls started 2>/dev/null
                printf 'a\\0b' | $K set --raw zero; $K run --env A=zero -- touch started; echo $?; ls started 2>/dev/null
                """
            )
            #expect(lines.prefix(4) == ["1", "1", "1", "9"], "\(lines)")
            #expect(lines.dropFirst(4).prefix(3).allSatisfy { $0.contains("no item for B") }, "\(lines)")
            #expect(lines.count == 8 && lines.last?.contains("zero byte") == true, "\(lines)")
        }

        @Test func valuesGoThroughByteForByte() async throws {
            let lines = try await shell(
                """
                printf '\\377\\n\\303=' | $K set --raw odd; $K run --env A=odd -- sh -c 'printf %s "$A" | od -An -tx1'
                printf '' | $K set empty; $K run --env A=empty -- sh -c 'echo "${A-unset}."'
                A=old $K run --env 'A=svc bob' -- sh -c 'env | grep -c ^A='
                """
            )
            #expect(lines == [" ff 0a c3 3d", ".", "1"], "\(lines)")
        }

        @Test func theMaskHidesValuesInBothStreams() async throws {
            let lines = try await shell(
                """
                $K run --mask --env 'A=svc bob' -- sh -c 'echo "$A"; printf s3; sleep 0.1; echo cret; echo "x$A" >&2' 2>errors
                cat errors; wc -c < errors
                $K run --mask --env 'A=svc bob' -- sh -c 'sleep 5 & echo started'; echo $?
                echo input | $K run --mask --env 'A=svc bob' -- cat
                $K run --mask --env 'A=svc bob' -- seq 100000 | md5sum; seq 100000 | md5sum
                $K run --mask --env 'A=svc bob' -- yes | head -n 1; echo ${PIPESTATUS[0]}
                """
            )
            // Who prints without an end keeps neither the other stream nor the end from being seen.
            let endless = try await shell(
                """
                $K run --mask --env 'A=svc bob' -- sh -c 'yes & echo $! > pid; sleep 0.2' >/dev/null; echo $?
                kill $(cat pid) 2>/dev/null
                $K run --mask --env 'A=svc bob' -- sh -c 'yes & echo seen >&2; until [ -e go ]; do sleep 0.05; done; kill $!' \
                    2>errors >/dev/null &
                until [ -s errors ]; do sleep 0.05; done; touch go; wait $!; cat errors
                """
            )
            #expect(endless == ["0", "seen"], "\(endless)")
            #expect(lines.prefix(4) == ["[A]", "[A]", "x[A]", "5"], "\(lines)")
            #expect(lines.dropFirst(4).prefix(3) == ["started", "0", "input"], "\(lines)")
            #expect(lines.count == 11 && lines[7] == lines[8], "\(lines)")
            #expect(lines.suffix(2) == ["y", "141"], "\(lines)")
        }
    #endif
}
