// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing

/// Asks the real polkitd, in a process of a user without privileges.
///
/// It runs in namespaces of its own, with a bus, actions and rules of its own: nothing of the machine's is touched, and
/// all that was started ends with it.
@Suite struct PolkitTests {
    private static let isCI = ProcessInfo.processInfo.environment["CI"] == "true"
    private static let polkitd = ["/usr/lib/polkit-1/polkitd", "/usr/libexec/polkitd"].first(
        where: FileManager.default.isExecutableFile(atPath:)
    )
    private static let namespaces = ["unshare", "-m", "-p", "--fork", "--kill-child", "--mount-proc"]
    private static let mayMount =
        geteuid() == 0 && (try? run(namespaces + ["mount", "-t", "tmpfs", "none", "/tmp"]))?.status == 0

    @Test(
        .enabled(
            if: isCI || (polkitd != nil && mayMount),
            "It needs polkitd, and root, which may mount in a namespace of its own."
        )
    )
    func everyAnswerOfTheRealServiceIsUnderstood() throws {
        let polkitd = try #require(Self.polkitd, "polkitd is missing. Run: apt-get install polkitd")
        try #require(Self.mayMount, "Run the tests as root, where unshare(1) may make namespaces for mounts.")
        let scene = try Scene()
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let agent = sources.appendingPathComponent("agent.py").path
        let result = try Self.run(
            Self.namespaces + ["/bin/sh", "-ec", Self.script, "sh", scene.folder.path, scene.tool, polkitd, agent]
        )
        #expect(result.status == 0, "\(result.output)")
        var answers: [Substring: [Substring]] = [:]
        var name: Substring = ""
        for line in result.output.split(separator: "\n") {
            if line.hasPrefix("== ") { name = line.dropFirst(3) } else { answers[name, default: []].append(line) }
        }
        func expect(_ name: Substring, _ expected: String..., sourceLocation: SourceLocation = #_sourceLocation) {
            // Two programs print; which of them is first is chance.
            let lines = (answers[name] ?? []).sorted()
            let fit = lines.count == expected.count && zip(lines, expected).allSatisfy { $0.contains($1) }
            #expect(fit, "\(name): \(lines)", sourceLocation: sourceLocation)
        }
        expect("no bus", "unavailable: polkit could not be asked")
        expect("no service", "unavailable: polkit could not be asked")
        expect("missing", "unavailable: polkit does not know the action ‘org.swift-keychain.missing’")
        expect("yes", "confirmed")
        expect("no", "authenticationFailed")
        expect("no agent", "interactionNotAllowed")
        let question = "asked: Confirm that a protected item of your keychain may be read"
        expect("agent confirm", question, "confirmed")
        expect("agent deny", question, "authenticationFailed")
        expect("agent dismiss", question, "userCanceled")
        // The person is no longer shown a question whose answer nobody waits for.
        expect("agent wait", question, "timedOut", "withdrawn")
        expect("root", "unsupported")
    }

    /// Asks in each situation, behind a line with its name.
    private static let script = """
        folder=$1 tool=$2 polkitd=$3 agent=$4
        mount --bind "$folder/actions" /usr/share/polkit-1/actions
        mount --bind "$folder/rules" /etc/polkit-1/rules.d
        address=unix:path=$folder/bus
        confirm=org.swift-keychain.confirm
        as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
        echo "== no bus"
        as_nobody "$tool" "unix:path=$folder/nothing" $confirm 60000
        dbus-daemon --config-file="$folder/bus.conf" --fork --nopidfile 2>/dev/null
        echo "== no service"
        as_nobody "$tool" "$address" $confirm 60000
        export DBUS_SYSTEM_BUS_ADDRESS="$address"
        "$polkitd" --no-debug >/dev/null 2>&1 &
        gdbus wait --system --timeout 20 org.freedesktop.PolicyKit1
        for action in missing yes no; do
            echo "== $action"
            as_nobody "$tool" "$address" org.swift-keychain.$action 60000
        done
        echo "== no agent"
        as_nobody "$tool" "$address" $confirm 60000
        for answer in confirm deny dismiss; do
            echo "== agent $answer"
            /usr/bin/python3 "$agent" $answer "$tool" "$address" $confirm 60000
        done
        echo "== agent wait"
        /usr/bin/python3 "$agent" wait "$tool" "$address" $confirm 5000
        echo "== root"
        "$tool" "$address" $confirm 60000
        """

    private static func run(_ command: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.environment = [
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
        ]
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}

/// A folder with what a polkitd and its bus need, readable by everyone.
private final class Scene {
    let folder: URL
    /// The program that asks, where a user without privileges can run it.
    var tool: String { folder.appendingPathComponent("tool").path }

    init() throws {
        let files = FileManager.default
        folder = files.temporaryDirectory.appendingPathComponent("polkit-\(UUID().uuidString.prefix(13))")
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let policy = "org.swift-keychain.confirm.policy"
        for name in ["actions", "rules"] {
            try files.createDirectory(
                at: folder.appendingPathComponent(name),
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755]
            )
        }
        try files.copyItem(
            at: package.appendingPathComponent("Sources/KeychainAuthentication/Resources/\(policy)"),
            to: folder.appendingPathComponent("actions/\(policy)")
        )
        let own = try files.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let built = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("AuthenticationTool")
        try files.copyItem(atPath: built.path, toPath: tool)
        try write(Self.actions, "actions/test.policy")
        try write(Self.rules, "rules/10-test.rules")
        try write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(folder.path)/bus</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow user="*"/>
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """,
            "bus.conf"
        )
        for name in ["", "tool"] { chmod(folder.appendingPathComponent(name).path, 0o755) }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func write(_ text: String, _ name: String) throws {
        let path = folder.appendingPathComponent(name).path
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, 0o644)
    }

    /// Without a rule, either would ask.
    private static let actions = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE policyconfig PUBLIC "-//freedesktop//DTD PolicyKit Policy Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/PolicyKit/1/policyconfig.dtd">
        <policyconfig>
          <action id="org.swift-keychain.yes">
            <description>Yes</description>
            <message>Yes</message>
            <defaults><allow_any>auth_self</allow_any></defaults>
          </action>
          <action id="org.swift-keychain.no">
            <description>No</description>
            <message>No</message>
            <defaults><allow_any>auth_self</allow_any></defaults>
          </action>
        </policyconfig>
        """

    private static let rules = """
        polkit.addRule(function(action, subject) {
            if (action.id == "org.swift-keychain.yes") { return polkit.Result.YES; }
            if (action.id == "org.swift-keychain.no") { return polkit.Result.NO; }
        });
        """
}
