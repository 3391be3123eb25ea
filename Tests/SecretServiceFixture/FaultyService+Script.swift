// SPDX-License-Identifier: MIT

extension FaultyService {
    /// The service, for Python.
    ///
    /// A first process has everything loaded, and starts the one that serves: one that died is back in a few
    /// milliseconds. Its state is in a file, which is written before anything is answered.
    ///
    /// It speaks to the bus below the level at which answers are checked, so that it can say anything.
    static let script = """
        import base64, ctypes, json, os, signal, sys, time, dbus, dbus.bus, dbus.lowlevel
        from dbus.mainloop.glib import DBusGMainLoop
        from gi.repository import GLib
        FILE, NAMES = sys.argv[1], sys.argv[2:]
        ROOT, S = '/org/freedesktop/secrets', 'org.freedesktop.Secret.'
        COLLECTION, NOWHERE = ROOT + '/collection/faulty', '/nowhere'
        DIED, COMES_BACK = 42, 43
        state = {'items': {}, 'base': {}, 'next': 1, 'locked': False, 'prompt': '', 'faults': {}, 'fired': 0, 'log': []}

        class Failure(Exception):
            def __init__(self, name, text): self.name, self.text = name, text
        class Silence(Exception): pass

        def save():
            with open(FILE + '.new', 'w') as file: json.dump(state, file)
            os.rename(FILE + '.new', FILE)

        class Service:
            def __init__(self, bus): self.bus, self.sessions, self.last = bus, {}, 0

            def emit(self, path, interface, name, signature, *values):
                signal = dbus.lowlevel.SignalMessage(path, S + interface, name)
                signal.append(*values, signature=signature)
                self.bus.send_message(signal)
            def changed(self, name, path): self.emit(COLLECTION, 'Collection', name, 'o', path)
            def item(self, path):
                if path not in state['items']: raise Failure(S + 'Error.NoSuchObject', 'there is no such item')
                return state['items'][path]
            def open_item(self, path):
                item = self.item(path)
                if state['locked']: raise Failure(S + 'Error.IsLocked', 'the collection is locked')
                return item
            def check(self, session):
                if session not in self.sessions: raise Failure(S + 'Error.NoSession', 'there is no such session')

            def OpenSession(self, message, algorithm, value):
                if algorithm != 'plain':
                    raise Failure('org.freedesktop.DBus.Error.InvalidArgs', 'createDLGroup failed: no plugin')
                self.last += 1
                path = ROOT + '/session/%d' % self.last
                self.sessions[path] = message.get_sender()
                return 'vo', dbus.String('', variant_level=1), path
            def ReadAlias(self, message, name):
                return 'o', COLLECTION if name == 'default' else '/'
            def SearchItems(self, message, wanted):
                # As KeePassXC; GNOME Keyring finds what is locked as well.
                if state['locked'] and 'org.gnome.keyring' not in NAMES: return 'ao', []
                return 'ao', [path for path, item in state['items'].items() if wanted.items() <= item['attributes'].items()]
            def secret(self, path, session):
                self.check(session)
                return session, b'', base64.b64decode(self.open_item(path)['secret']), 'text/plain'
            def GetSecret(self, message, session):
                return '(oayays)', self.secret(message.get_path(), session)
            def GetSecrets(self, message, paths, session):
                self.check(session)
                return 'a{o(oayays)}', {path: self.secret(path, session) for path in paths if path in state['items']}
            def put(self, item, secret):
                self.check(secret[0])
                item.update(secret=base64.b64encode(secret[2]).decode(), modified=int(time.time()))
            def SetSecret(self, message, secret):
                self.put(self.open_item(message.get_path()), secret)
                save()
                return '',
            def CreateItem(self, message, properties, secret, replace):
                if state['locked']: raise Failure(S + 'Error.IsLocked', 'the collection is locked')
                attributes = {str(key): str(value) for key, value in properties[S + 'Item.Attributes'].items()}
                same = [path for path, item in state['items'].items() if item['attributes'] == attributes]
                path = same[0] if replace and same else COLLECTION + '/%d' % state['next']
                item = {'created': int(time.time()), 'attributes': attributes, 'label': str(properties[S + 'Item.Label'])}
                self.put(item, secret)
                state['items'][path] = item
                state['next'] += 1
                save()
                self.changed('ItemCreated', path)
                return 'oo', path, '/'
            def Delete(self, message):
                self.open_item(message.get_path())
                self.remove(message.get_path())
                return 'o', '/'
            def remove(self, path):
                state['items'].pop(path, None)
                save()
                self.changed('ItemDeleted', path)

            def properties(self, path):
                if path == COLLECTION:
                    items = dbus.Array(state['items'], signature='o')
                    return {'Locked': state['locked'], 'Label': 'faulty', 'Items': items,
                        'Created': dbus.UInt64(1), 'Modified': dbus.UInt64(1)}
                if path == ROOT: return {'Collections': dbus.Array([COLLECTION], signature='o')}
                item = self.item(path)
                return {'Attributes': dbus.Dictionary(item['attributes'], signature='ss'), 'Label': item['label'],
                    'Locked': state['locked'], 'Created': dbus.UInt64(item['created']),
                    'Modified': dbus.UInt64(item['modified'])}
            def Get(self, message, interface, name):
                return 'v', self.properties(message.get_path())[name]
            def GetAll(self, message, interface):
                return 'a{sv}', self.properties(message.get_path())
            def Set(self, message, interface, name, value):
                item = self.open_item(message.get_path())
                if name == 'Attributes': item['attributes'] = {str(k): str(v) for k, v in value.items()}
                if name == 'Label': item['label'] = str(value)
                item['modified'] = int(time.time())
                save()
                self.changed('ItemChanged', message.get_path())
                return '',

            def lock(self, locked):
                state['locked'] = locked
                save()
                self.emit(ROOT, 'Service', 'CollectionChanged', 'o', COLLECTION)
            def Lock(self, message, paths):
                self.lock(True)
                return 'aoo', paths, '/'
            def Unlock(self, message, paths):
                if state['locked'] and state['prompt']: return 'aoo', [], ROOT + '/prompt/1'
                if state['locked']: self.lock(False)
                return 'aoo', paths, '/'
            def Prompt(self, message, window):
                if message.get_path() != ROOT + '/prompt/1': raise Failure(S + 'Error.NoSuchObject', 'there is no such prompt')
                answer = state['prompt']
                if answer == 'accept': self.lock(False)
                if answer in ('accept', 'dismiss'): GLib.idle_add(self.completed, answer == 'dismiss')
                if answer == 'rubbish': self.emit(message.get_path(), 'Prompt', 'Completed', 's', 'rubbish')
                if answer == 'die': GLib.timeout_add(50, os._exit, DIED)
                return '',
            def completed(self, dismissed):
                result = dbus.Array([COLLECTION], signature='o', variant_level=1)
                self.emit(ROOT + '/prompt/1', 'Prompt', 'Completed', 'bv', dismissed, result)
            def Dismiss(self, message): return '',

            def received(self, bus, message):
                if isinstance(message, dbus.lowlevel.SignalMessage):
                    if message.get_member() == 'NameOwnerChanged':
                        name, old, new = message.get_args_list()
                        if not new: self.sessions = {path: who for path, who in self.sessions.items() if who != name}
                    return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
                if not isinstance(message, dbus.lowlevel.MethodCallMessage):
                    return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
                try:
                    signature, *values = self.answer(message)
                    reply = dbus.lowlevel.MethodReturnMessage(message)
                    if signature: reply.append(*values, signature=signature)
                except Failure as failure:
                    reply = dbus.lowlevel.ErrorMessage(message, failure.name, failure.text)
                except Silence:
                    return dbus.lowlevel.HANDLER_RESULT_HANDLED
                self.bus.send_message(reply)
                return dbus.lowlevel.HANDLER_RESULT_HANDLED

            def answer(self, message):
                method = message.get_member()
                body = getattr(self, method, None) if method[0].isupper() else None
                if body is None: raise Failure('org.freedesktop.DBus.Error.UnknownMethod', 'there is no such method')
                if method not in state['log']: state['log'].append(method)
                fault = state['faults'].get(method)
                if fault is None: return body(message, *message.get_args_list(byte_arrays=True))
                kind, after, once = fault
                if once: del state['faults'][method]
                state['fired'] += 1
                save()
                result = body(message, *message.get_args_list(byte_arrays=True)) if after else None
                return self.misbehave(kind, method, message, result)

            def misbehave(self, kind, method, message, result):
                if kind in ('dies', 'restarts'):
                    # Signals of what was done are not lost.
                    self.bus.flush()
                    os._exit(DIED if kind == 'dies' else COMES_BACK)
                if kind == 'silent': raise Silence()
                if kind == 'wrongType': return 'u', dbus.UInt32(7)
                if kind == 'noSession':
                    self.sessions = {}
                    raise Failure(S + 'Error.NoSession', 'there is no such session')
                if kind in ERRORS: raise Failure(ERRORS[kind], 'refused')
                if kind == 'vanishes':
                    result = self.SearchItems(message, *message.get_args_list())
                    for path in result[1]: self.remove(path)
                    return result
                if method in ('GetSecret', 'GetSecrets'):
                    secret = {
                        'nonsense': (NOWHERE, b'', b'x', 'text/plain'),
                        'huge': (NOWHERE, b'y' * 1000, b'x' * (4 << 20), '\\uffff' * 1000),
                        'hollow': (message.get_args_list()[-1], b'', b'', ''),
                    }[kind]
                    if method == 'GetSecret': return '(oayays)', secret
                    return 'a{o(oayays)}', {path: secret for path in list(state['items']) + [NOWHERE]}
                odd = {
                    'nonsense': {'Attributes': 'x', 'Label': dbus.UInt32(7), 'Locked': 'no', '\\uffff\\x01': 7},
                    'huge': {'x' * 100000: 'y' * 100000}, 'hollow': dbus.Dictionary(signature='sv'),
                }
                huge = {'nonsense': NOWHERE, 'huge': '/' + 'x' * 100000, 'hollow': '/'}[kind]
                return {
                    'SearchItems': ('ao', [huge, COLLECTION + '/99999', COLLECTION]), 'CreateItem': ('oo', huge, huge),
                    'Delete': ('o', NOWHERE), 'Unlock': ('aoo', [huge], NOWHERE), 'ReadAlias': ('o', huge),
                    'Get': ('v', {'nonsense': dbus.UInt32(7), 'huge': 'x' * 100000, 'hollow': ''}[kind]),
                    'GetAll': ('a{sv}', odd[kind]),
                    # As if it were encrypted: libsecret does not look at the type before it takes bytes from it.
                    'OpenSession': ('vo', dbus.ByteArray(b'x', variant_level=1), huge),
                }[method]

        ERRORS = {'denied': 'org.freedesktop.DBus.Error.AccessDenied', 'odd': 'org.example.Odd',
            'isLocked': S + 'Error.IsLocked'}

        def obey(service, order):
            what, answer = order['order'], {}
            if what == 'keep': state['base'] = json.loads(json.dumps(state['items']))
            if what == 'reset':
                state.update(items=json.loads(json.dumps(state['base'])), faults={}, log=[], prompt='')
                service.lock(False)
            if what == 'fault': state['faults'][order['method']] = order['kind'], order['isAfter'], order['isOnce']
            if what == 'lock':
                state['prompt'] = order['prompt']
                service.lock(True)
            if what == 'clear': state.update(faults={}, prompt='', locked=False)
            answer.update(fired=state['fired'], log=state['log'], sessions=len(service.sessions), items=[
                {'attributes': item['attributes'], 'secret': item['secret']} for item in state['items'].values()])
            if what == 'clear': state['fired'] = 0
            save()
            os.write(1, json.dumps(answer).encode() + b'\\n')

        def orders():
            text = b''
            while not text.endswith(b'\\n'):
                part = os.read(0, 65536)
                if not part: os._exit(0)
                text += part
            return json.loads(text)

        def serve(order):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            DBusGMainLoop(set_as_default=True)
            bus = dbus.SessionBus(private=True)
            if os.path.exists(FILE):
                with open(FILE) as file: state.update(json.load(file))
            service = Service(bus)
            bus.add_message_filter(service.received)
            bus.add_match_string("type='signal',member='NameOwnerChanged'")
            for name in NAMES: bus.request_name(name, dbus.bus.NAME_FLAG_DO_NOT_QUEUE)
            if order: obey(service, order)
            def ordered(*_):
                obey(service, orders())
                return True
            GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, ordered)
            GLib.MainLoop().run()

        order = None
        while True:
            child = os.fork()
            if child == 0: serve(order)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if code not in (DIED, COMES_BACK): sys.exit(code)
            # Who gives the next order starts it as well.
            order = orders() if code == DIED else None
        """
}
