// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import Testing

    @testable import KeychainCommand

    /// Git and Docker themselves, with the built program as their helper, against a server that asks for basic
    /// authentication.
    @Suite(.serialized, .timeLimit(.minutes(3)))
    struct GitAndDockerTests {
        private let bench = Bench()

        /// What every script begins with: the helpers by their names, a server, and a repository on it.
        private func script(_ body: String) throws -> String {
            let server = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "Support/basic-auth-server.py"
            )
            return """
                mkdir $HOME/bin $HOME/served; export PATH=$HOME/bin:$PATH
                for name in git docker; do ln -s $K $HOME/bin/$name-credential-keychainctl; done
                export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
                git config --global credential.helper keychainctl
                git config --global user.name test; git config --global user.email test@example.com
                git init -q -b main $HOME/work; cd $HOME/work; git commit -q --allow-empty -m first
                for name in one two; do git clone -q --bare $HOME/work $HOME/served/$name.git; done
                cd $HOME
                password() { echo "bob:$1" > $HOME/credential; }
                password first
                /usr/bin/python3 '\(server.path())' $HOME/served $HOME/credential > $HOME/port 2> /dev/null &
                server=$!; trap 'kill -KILL $server' EXIT
                until [ -s $HOME/port ]; do kill -0 $server || exit; sleep 0.05; done
                url=http://127.0.0.1:$(cat $HOME/port); port=${url##*:}
                # Asked for a user and a password, says these.
                answers() {
                    printf '#!/bin/sh\\ncase $1 in User*) echo %s;; *) echo %s;; esac\\n' "$1" "$2" > $HOME/bin/asked
                    chmod +x $HOME/bin/asked; export GIT_ASKPASS=$HOME/bin/asked
                }
                silence() { export GIT_ASKPASS=/bin/false; }
                try() { rm -rf $HOME/clone; git clone -q $url/$1.git $HOME/clone 2>/dev/null && echo cloned || echo refused; }
                kept() { $K get --url $url/$1 bob || echo nothing; echo; }
                silence
                \(body)
                """
        }

        private func lines(_ body: String) async throws -> [String] {
            let script = try script(body)
            let environment = try bench.fileEnvironment()
            let outcome = try await onThread { try Program.shell(script, environment: environment) }
            #expect(outcome.status == 0, "\(outcome.errors)")
            return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        @Test func gitStoresWhatWasTypedAndUsesItUntilItIsWrong() async throws {
            let seen = try await lines(
                """
                printf x | $K -q set other; try one
                answers bob wrong; try one; kept
                answers bob first; try one; kept
                silence; try one; try two
                password second; try one; kept
                answers bob second; try one; kept
                silence; cd $HOME/clone; git fetch -q && git push -q origin main:new && echo pushed
                $K ls | cut -f2,3 | sed "s/$port/PORT/" | sort
                """
            )
            #expect(
                seen == [
                    "refused", "refused", "nothing", "cloned", "first", "cloned", "cloned", "refused", "nothing",
                    "cloned",
                    "second", "pushed", "http://127.0.0.1:PORT\tbob", "other\t",
                ],
                "\(seen)"
            )
        }

        @Test func gitFindsWhatAPersonHasStored() async throws {
            let seen = try await lines("printf first | $K -q set --url $url bob; try one; kept")
            #expect(seen == ["cloned", "first"])
        }

        @Test func gitKeepsRepositoriesApartIfItIsTold() async throws {
            let seen = try await lines(
                """
                git config --global credential.useHttpPath true
                answers bob first; try one; silence; try two; kept one.git; kept two.git; try one
                """
            )
            #expect(seen == ["cloned", "refused", "first", "nothing", "cloned"])
        }

        private static let docker: String? = ["/usr/bin/docker", "/usr/local/bin/docker"].first { (path: String) in
            access(path, X_OK) == 0
        }

        /// The client alone: logging in to a registry takes no daemon.
        @Test(.enabled(if: docker != nil, "Docker's client is not installed."))
        func dockerStoresAndForgets() async throws {
            let docker = try #require(Self.docker)
            let seen = try await lines(
                """
                printf x | $K -q set other
                export DOCKER_CONFIG=$HOME/docker DOCKER_HOST=unix://$HOME/none; mkdir $DOCKER_CONFIG
                echo '{"credsStore":"keychainctl"}' > $DOCKER_CONFIG/config.json
                login() { printf $1 | \(docker) login 127.0.0.1:$port -u bob --password-stdin 2>&1 | grep -o Succeeded || echo refused; }
                listed() { $K docker-credential list | sed "s/$port/PORT/"; }
                login wrong; listed; login first; listed
                grep -c first $DOCKER_CONFIG/config.json
                \(docker) logout 127.0.0.1:$port > /dev/null; listed; $K ls | wc -l
                """
            )
            #expect(seen == ["refused", "{}", "Succeeded", #"{"127.0.0.1:PORT":"bob"}"#, "0", "{}", "1"], "\(seen)")
        }

        private static let sourceTree = ProcessInfo.processInfo.environment["GIT_SOURCE_TREE"]

        /// Git's own tests of helpers, where `GIT_SOURCE_TREE` names a source tree of Git in which `t` can run.
        @Test(.enabled(if: sourceTree != nil, "GIT_SOURCE_TREE names no source tree of Git."))
        func gitsOwnTestsOfHelpers() async throws {
            let tree = try #require(Self.sourceTree)
            let environment = try bench.fileEnvironment()
            let outcome = try await onThread {
                try Program.shell(
                    """
                    mkdir $HOME/bin; ln -s $K $HOME/bin/git-credential-keychainctl; export PATH=$HOME/bin:$PATH
                    printf x | $K -q set other
                    cd '\(tree)/t' && HOME=$HOME GIT_TEST_CREDENTIAL_HELPER=keychainctl ./t0303-credential-external.sh
                    """,
                    environment: environment
                )
            }
            let text = String(decoding: outcome.output, as: UTF8.self)
            #expect(outcome.status == 0 && text.contains("# passed all"), "\(text) \(outcome.errors)")
        }
    }
#endif
