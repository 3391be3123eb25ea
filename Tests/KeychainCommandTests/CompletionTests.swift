// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

@testable import KeychainCommand

/// What shells offer, and how they insert it.
struct CompletionTests {
    private let bench = Bench()

    private func offer(_ words: String...) -> Candidates.Offer { Candidates.offer(for: words).offer }

    private func words(_ words: String...) -> [String] {
        if case .words(let offered) = Candidates.offer(for: words).offer { offered.map(\.word) } else { ["not words"] }
    }

    @Test func commandsAreOfferedWhereOneIsMissing() {
        #expect(words("").starts(with: ["set", "get"]) && words("").filter { $0 == "key" }.count == 1)
        #expect(words("key", "") == ["list", "add", "change", "remove", "rotate", "generate"])
        #expect(words("--store", "memory:", "-q", "g").contains("get"))
        #expect(words("help", "").contains("get"))
        #expect(words("frobnicate", "").contains("get"))
    }

    @Test func optionsAreThoseOfTheCommand() {
        #expect(words("get", "svc", "-").contains("--output") && !words("get", "-").contains("--raw"))
        #expect(
            words("set", "--").contains("--raw") && words("--").contains("--store") && !words("--").contains("--raw")
        )
        #expect(offer("get", "--", "-") == .services)
    }

    @Test func valuesAreOfferedWhereTheyAreKnown() {
        #expect(words("get", "--store", "") == ["file:", "secret-service:", "memory:"])
        #expect(words("get", "--store=") == ["--store=file:", "--store=secret-service:", "--store=memory:"])
        #expect(words("-k", "").contains("keyfile:") && words("-k", "").contains("prompt"))
        #expect(words("set", "--if-exists", "") == ["replace-value", "fail", "replace"])
        #expect(words("ls", "--class", "").contains("certificate"))
        #expect(words("set", "--accessible", "").contains("after-first-unlock"))
        #expect(words("update", "svc", "--clear", "").contains("comment"))
        #expect(words("git-credential", "") == ["get", "store", "erase"])
        #expect(words("completion", "") == ["bash", "zsh", "fish"])
        #expect(words("get", "--timeout", "") == [])
        for files in [["get", "-o", ""], ["export", ""], ["import", "x"], ["key", "generate", ""]] {
            #expect(Candidates.offer(for: files).offer == .files, "\(files)")
        }
    }

    @Test func itemsAreOfferedWhereOneIsNamed() {
        #expect(offer("get", "") == .services && offer("export", "x.archive", "") == .services)
        #expect(offer("get", "--json", "svc", "") == .accounts(service: "svc"))
        #expect(offer("get", "svc", "bob", "") == .words([]) && offer("get", "--url", "https://x", "") == .words([]))
        #expect(
            offer("ls", "--label", "") == .labels(prefix: "") && offer("ls", "--label=") == .labels(prefix: "--label=")
        )
    }

    private static let hostile = [
        "$(touch pwned)", "a b'c\"d", "`touch pwned`", "x;touch pwned", "*", "~", "-dash", "ü:é", "\\",
    ]

    @Test func namesComeFromTheStore() async throws {
        for name in Self.hostile + ["two\nlines", "\u{1B}[2J"] {
            _ = try await bench.run("set", "--service", name, "--account", "of \(name)", input: Data("v".utf8))
        }
        let services = try await bench.run("completion", "candidates", "--", "get", "")
        #expect(Set(services.text.split(separator: "\n").map(String.init)) == Set(["words"] + Self.hostile))
        let accounts = try await bench.run("completion", "candidates", "--", "get", "a b'c\"d", "")
        #expect(accounts.text == "words\nof a b'c\"d\n")
        let other = "memory:\(UUID().uuidString)"
        #expect(try await bench.run("completion", "candidates", "--", "--store", other, "get", "").text == "words\n")
        for line in [
            ["--store", "file:/nonexistent/x", "get", ""], ["--store", "nonsense", "get", ""],
            ["-k", "prompt", "get", ""],
        ] {
            let outcome = try await bench.run(arguments: ["completion", "candidates", "--"] + line)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(line)")
        }
    }

    @Test func wrongUse() async throws {
        #expect(try await bench.run("completion").status == 2)
        #expect(try await bench.run("completion", "tcsh").status == 2)
        #expect(try await bench.run("completion", "bash", "zsh").status == 2)
    }

    // The shells themselves. On CI a missing one is a failure.

    private static func isThere(_ shell: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\(shell)")
            || ProcessInfo.processInfo.environment["CI"] == "true"
    }

    #if File
        /// What a shell's script prints, with hostile names in a store and a folder that shows if one of them was run.
        private func shell(_ script: String) async throws -> [String] {
            let environment = [
                "HOME": bench.folder, "KEYCHAIN_STORE": "file:\(bench.folder)/a.keychain",
                "KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())",
            ]
            for name in Self.hostile {
                let outcome = try await bench.run(
                    "set",
                    "--service",
                    name,
                    "--account",
                    "acc",
                    input: Data("v".utf8),
                    environment: environment
                )
                try #require(outcome.status == 0)
            }
            let prepared = "cd $HOME; PATH=$(dirname $K):$PATH\n"
            let outcome = try await onThread { try Program.shell(prepared + script, environment: environment) }
            #expect(outcome.errors.isEmpty, "\(outcome.errors)")
            #expect(!FileManager.default.fileExists(atPath: "\(bench.folder)/pwned"))
            return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        @Test func bash() async throws {
            let lines = try await shell(
                #"""
                source <(keychainctl completion bash)
                try() {
                    compopt() { echo "compopt $*"; }
                    COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
                    _keychainctl
                    for reply in "${COMPREPLY[@]}"; do echo "$reply"; done
                    echo .
                }
                try 'keychainctl ge'; try 'keychainctl get --store me'; try 'keychainctl get --store=file:/x --out'
                try 'keychainctl export '; try 'keychainctl key ro'; try 'keychainctl ls --class=cert'
                try "keychainctl get 'a b"; try 'keychainctl get "a b'"'"'c\"d" '
                COMP_LINE='keychainctl get ' COMP_POINT=16; _keychainctl
                for reply in "${COMPREPLY[@]}"; do eval "printf '<%s>\n' $reply"; done | sort
                complete -p keychainctl
                """#
            )
            let expected = [
                "get", "generate", ".", "compopt -o nospace", "memory:", ".", "--output", ".", "compopt -o default",
                ".", "rotate",
                ".", "certificate", ".", #"a\ b\'c\"d"#, ".", "acc", ".",
            ]
            #expect(Array(lines.prefix(expected.count)) == expected, "\(lines)")
            #expect(Set(lines.dropFirst(expected.count).dropLast()) == Set(Self.hostile.map { "<\($0)>" }), "\(lines)")
            #expect(lines.last == "complete -F _keychainctl keychainctl")
        }

        @Test(.enabled(if: isThere("fish"))) func fish() async throws {
            let lines = try await shell(
                #"""
                keychainctl completion fish > k.fish
                fish --no-config -c "source k.fish; complete -C 'keychainctl ge'; complete -C 'keychainctl get '" | cut -f1
                """#
            )
            #expect(Set(lines) == Set(["get", "generate"] + Self.hostile), "\(lines)")
        }

        @Test(.enabled(if: isThere("zsh"))) func zsh() async throws {
            // In a terminal of zsh's own: keys are typed, and the line that they lead to is shown, between marks that do not
            // stand in what is typed, since that may be echoed.
            let lines = try await shell(
                #"""
                keychainctl completion zsh > _keychainctl
                cat > try.zsh <<'END'
                zmodload zsh/zpty
                zpty z zsh -f -i
                zpty -w z 'PROMPT=; fpath=($HOME $fpath); autoload -U compinit; compinit -u -D; stty -echo; unsetopt ALWAYS_LAST_PROMPT'
                zpty -w z 'show() { print -r -- "{""{$BUFFER}""}"; BUFFER=; zle accept-line; }; zle -N show; bindkey ^X show; print re''ady'
                zpty -r -m z junk '*ready*'
                for line in 'keychainctl gen' 'keychainctl --store mem' 'keychainctl get a' 'keychainctl get \$' 'keychainctl get x'; do
                    zpty -w -n z "$line"$'\t'$'\x18'
                    zpty -r -m z text '*{{*}}*'
                    print -r -- "${${text##*\{\{}%%\}\}*}"
                done
                zpty -d z
                END
                timeout 60 zsh -f try.zsh
                """#
            )
            #expect(
                lines == [
                    "keychainctl generate ", "keychainctl --store memory:", #"keychainctl get a\ b\'c\"d "#,
                    #"keychainctl get \$\(touch\ pwned\) "#, #"keychainctl get x\;touch\ pwned "#,
                ],
                "\(lines)"
            )
        }
    #endif
}
