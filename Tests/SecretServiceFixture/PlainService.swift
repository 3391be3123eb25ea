// SPDX-License-Identifier: MIT

/// A small Secret Service that answers the request for an encrypted session with an error of its own, as a KWallet
/// without its plugin for encryption does.
public final class PlainService: SecretServer {
    /// The bus.
    public let bus: PrivateBus
    private let process: ChildProcess

    /// Its one collection, which is never locked.
    public var collection: String { "/org/freedesktop/secrets/collection/plain" }

    private static let script = """
        import dbus, dbus.service
        from dbus.mainloop.glib import DBusGMainLoop
        from gi.repository import GLib
        ROOT, S = '/org/freedesktop/secrets', 'org.freedesktop.Secret.'
        class Invalid(dbus.DBusException): _dbus_error_name = 'org.freedesktop.DBus.Error.InvalidArgs'
        class Thing(dbus.service.Object):
            properties = {}
            @dbus.service.method('org.freedesktop.DBus.Properties', 'ss', 'v')
            def Get(self, interface, name): return self.properties[name]
            @dbus.service.method('org.freedesktop.DBus.Properties', 's', 'a{sv}')
            def GetAll(self, interface): return self.properties
        class Service(Thing):
            @dbus.service.method(S + 'Service', 'sv', 'vo')
            def OpenSession(self, algorithm, input):
                if algorithm != 'plain': raise Invalid('createDLGroup failed: maybe libqca-ossl is missing')
                return dbus.String('', variant_level=1), dbus.ObjectPath(ROOT + '/session/1')
            @dbus.service.method(S + 'Service', 's', 'o')
            def ReadAlias(self, name): return ROOT + '/collection/plain'
        class Item(Thing):
            @dbus.service.method(S + 'Item', 'o', '(oayays)')
            def GetSecret(self, session): return self.secret
        class Collection(Thing):
            properties = {'Locked': False, 'Label': 'plain'}
            items = []
            @dbus.service.method(S + 'Collection', 'a{ss}', 'ao')
            def SearchItems(self, wanted):
                return dbus.Array([item.path for item in self.items if
                    wanted.items() <= item.properties['Attributes'].items()], signature='o')
            @dbus.service.method(S + 'Collection', 'a{sv}(oayays)b', 'oo')
            def CreateItem(self, properties, secret, replace):
                item = Item(bus, ROOT + '/collection/plain/%d' % len(self.items))
                item.path = dbus.ObjectPath(item.__dbus_object_path__)
                item.secret = secret
                item.properties = {name[len(S + 'Item.'):]: value for name, value in properties.items()}
                item.properties.update(Locked=False, Created=dbus.UInt64(1), Modified=dbus.UInt64(1))
                self.items.append(item)
                return item.path, '/'
        DBusGMainLoop(set_as_default=True)
        bus = dbus.SessionBus()
        objects = [Service(bus, ROOT), Collection(bus, ROOT + '/collection/plain')]
        name = dbus.service.BusName('org.freedesktop.secrets', bus)
        GLib.MainLoop().run()
        """

    /// Starts a bus and the service.
    ///
    /// - Throws: A ``FixtureError`` with what to install if Python or one of its modules is missing.
    public static func start() throws -> PlainService {
        let bus = try PrivateBus()
        let service = PlainService(
            bus,
            try ChildProcess("python3", ["-c", script], bus.environment)
        )
        try bus.waitForService("python3 with python3-dbus and python3-gi")
        return service
    }

    private init(_ bus: PrivateBus, _ process: ChildProcess) {
        self.bus = bus
        self.process = process
    }

    deinit {
        process.end()
        bus.stop()
    }

    /// It cannot be locked.
    public func lock() throws { throw FixtureError("The service cannot be locked.") }

    /// It is not locked.
    public func unlock() {}
}
