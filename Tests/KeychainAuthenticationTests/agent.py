# SPDX-License-Identifier: MIT
"""Runs a program as the user nobody, and answers for the person whom polkit asks about it.

Usage: agent.py confirm|deny|dismiss|wait PROGRAM [ARGUMENTS]

Prints the message that polkit wants the person to see. With "wait" the person never answers, and "withdrawn" is printed
when polkit takes the question back, for which twenty seconds are allowed. Root alone may say that someone has proved who they are, so this
is run by root.
"""

import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

AUTHORITY = "org.freedesktop.PolicyKit1"
AGENT = AUTHORITY + ".AuthenticationAgent"
NOBODY = 65534


class Dismissed(dbus.DBusException):
    _dbus_error_name = AUTHORITY + ".Error.Cancelled"


class Agent(dbus.service.Object):
    def __init__(self, bus, answer, authority, end):
        super().__init__(bus, "/agent")
        self.end = end
        self.answer = answer
        self.authority = authority

    @dbus.service.method(AGENT, in_signature="sssa{ss}sa(sa{sv})", async_callbacks=("done", "failed"))
    def BeginAuthentication(self, action, message, icon, details, cookie, identities, done, failed):
        print("asked:", message, flush=True)
        if self.answer == "dismiss":
            failed(Dismissed())
        elif self.answer == "deny":
            done()
        elif self.answer == "confirm":
            self.authority.AuthenticationAgentResponse2(
                dbus.UInt32(0), cookie, identities[0], reply_handler=done, error_handler=failed
            )

    @dbus.service.method(AGENT, in_signature="s")
    def CancelAuthentication(self, cookie):
        print("withdrawn", flush=True)
        self.end()


def main():
    answer, command = sys.argv[1], sys.argv[2:]
    dropped, drop = os.pipe()
    registered, register = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.write(drop, b"x")
        os.read(registered, 1)
        os.execv(command[0], command)
    os.read(dropped, 1)
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SystemBus()
    authority = dbus.Interface(bus.get_object(AUTHORITY, "/org/freedesktop/PolicyKit1/Authority"), AUTHORITY + ".Authority")
    loop = GLib.MainLoop()
    agent = Agent(bus, answer, authority, loop.quit)
    with open(f"/proc/{child}/stat") as stat:
        start = int(stat.read().rpartition(")")[2].split()[19])
    subject = {"pid": dbus.UInt32(child), "start-time": dbus.UInt64(start), "uid": dbus.Int32(NOBODY)}
    authority.RegisterAuthenticationAgent(("unix-process", subject), "C", "/agent")
    os.write(register, b"x")
    if answer == "wait":
        GLib.timeout_add_seconds(20, loop.quit)
    else:
        GLib.child_watch_add(GLib.PRIORITY_DEFAULT, child, lambda *_: loop.quit())
    loop.run()


main()
