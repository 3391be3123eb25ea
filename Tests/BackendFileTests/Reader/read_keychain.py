#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads an encrypted keychain file.

Written from docs/FileFormat.md alone, to prove that the page suffices: what it does not know, the page does not say.
It checks everything that the page has a reader check, opens every value, and prints one JSON object a line for each
item, in the order of their references.

Exit status: 0; 1 if the file is damaged or refused; 2 if no slot opens with the key; 64 for wrong usage.
"""

import argparse
import base64
import ctypes
import json
import os
import struct
import sys
import uuid

MAGIC = bytes.fromhex("89534B430D0A1A0A")
HEADER_SIZE = 4096
MARK_OFFSETS = (8192, 12288)
MARK_SIZE = 80
MARK_PAGE_SIZE = 4096
FRAMES_OFFSET = 16384
TAG_SIZE = 16
MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30
LAST_NUMBER = (1 << 64) - 1

TEXT, DATA, INTEGER, BOOLEAN = 1, 2, 3, 4
FORMS = {TEXT: "text", DATA: "data", INTEGER: "integer", BOOLEAN: "boolean"}
DEFAULTS = {TEXT: "", DATA: b"", INTEGER: 0}

# The attributes of each class's primary key, with their forms.
PRIMARY_KEYS = {
    "genp": {"service": TEXT, "account": TEXT},
    "inet": {
        "server": TEXT, "protocol": TEXT, "port": INTEGER, "path": TEXT, "account": TEXT, "authenticationType": TEXT,
        "securityDomain": TEXT,
    },
    "keys": {
        "keyClass": TEXT, "keyType": TEXT, "keySizeInBits": INTEGER, "effectiveKeySize": INTEGER,
        "applicationTag": DATA, "applicationLabel": DATA,
    },
    "cert": {"certificateType": INTEGER, "issuer": DATA, "serialNumber": DATA},
}


class Refused(Exception):
    """The file is damaged, of a later version, not to be trusted, or no keychain file."""


class WrongKey(Exception):
    """No slot opens with the key."""


# -- The primitives ---------------------------------------------------------------------------------------------------

sodium = ctypes.CDLL("libsodium.so.23")
if sodium.sodium_init() < 0:
    sys.exit("read_keychain: libsodium does not start")


def hashed(message, key=b""):
    output = ctypes.create_string_buffer(32)
    status = sodium.crypto_generichash(
        output, ctypes.c_size_t(32), message, ctypes.c_ulonglong(len(message)), key or None, ctypes.c_size_t(len(key))
    )
    assert status == 0
    return output.raw


def mac(key, message):
    return hashed(message, key)


def subkey(master, identifier):
    output = ctypes.create_string_buffer(32)
    status = sodium.crypto_kdf_derive_from_key(
        output, ctypes.c_size_t(32), ctypes.c_uint64(identifier), b"KeychnF1", master
    )
    assert status == 0
    return output.raw


def opened(key, nonce, associated, sealed):
    """The plaintext, or None if the tag is not right."""
    if len(sealed) < TAG_SIZE:
        return None
    output = ctypes.create_string_buffer(max(len(sealed) - TAG_SIZE, 1))
    status = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
        output, None, None, sealed, ctypes.c_ulonglong(len(sealed)), associated, ctypes.c_ulonglong(len(associated)),
        nonce, key,
    )
    return output.raw[: len(sealed) - TAG_SIZE] if status == 0 else None


def argon2id(passphrase, salt, passes, memory):
    output = ctypes.create_string_buffer(32)
    status = sodium.crypto_pwhash(
        output, ctypes.c_ulonglong(32), passphrase, ctypes.c_ulonglong(len(passphrase)), salt,
        ctypes.c_ulonglong(passes), ctypes.c_size_t(memory), ctypes.c_int(2),
    )
    if status != 0:
        raise MemoryError("Argon2id needs %d bytes of memory" % memory)
    return output.raw


# -- Plain bytes ------------------------------------------------------------------------------------------------------


class Bytes:
    """Takes one field after the other, and refuses to go beyond the end."""

    def __init__(self, content, what):
        self.content = content
        self.what = what
        self.position = 0

    def take(self, count):
        if count > len(self.content) - self.position:
            raise Refused("%s ends within a field" % self.what)
        self.position += count
        return self.content[self.position - count : self.position]

    def number(self, form):
        (number,) = struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))
        return number

    def boolean(self):
        number = self.number("B")
        if number > 1:
            raise Refused("%s has a boolean that is neither 0 nor 1" % self.what)
        return number == 1

    def text(self, count):
        try:
            return self.take(count).decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("%s has text that is not UTF-8" % self.what) from None

    def rest(self):
        return self.take(len(self.content) - self.position)


# -- Header -----------------------------------------------------------------------------------------------------------


class Slot:
    def __init__(self, content):
        self.content = content
        self.kind, self.passes, self.memory = struct.unpack("<HxxIQ", content[:16])
        self.salt, self.nonce, self.sealed_key = content[16:32], content[32:56], content[56:104]
        self.hint = content[105 : 105 + min(content[104], 151)]

    def wrapping_key(self, passphrase, raw_key):
        if self.kind == 1 and passphrase is not None:
            return argon2id(passphrase, self.salt, self.passes, self.memory)
        if self.kind == 2 and raw_key is not None:
            return mac(raw_key, b"key slot" + self.salt)
        return None


class Header:
    def __init__(self, content):
        self.content = content
        fields = Bytes(content, "the header")
        self.is_ours = fields.take(8) == MAGIC
        self.version = fields.number("H")
        fields.take(2)
        self.frames_offset = fields.number("I")
        self.store, self.file = fields.take(16), fields.take(16)
        self.first_sequence, self.generation = fields.number("Q"), fields.number("Q")
        self.slots = [Slot(fields.take(256)) for _ in range(15)]
        self.makes_sense = self.frames_offset == FRAMES_OFFSET and max(self.first_sequence, self.generation) < LAST_NUMBER
        self.is_intact = self.is_ours and hashed(content[:4064]) == content[4064:]

    def check_limits(self):
        work = 0
        for slot in self.slots:
            if slot.kind in (1, 2):
                Bytes(slot.hint, "a hint").text(len(slot.hint))
            if slot.kind != 1:
                continue
            if slot.passes < 1 or slot.memory < 8192:
                raise Refused("damaged: a slot asks for less work than there can be")
            work += slot.passes * slot.memory
            if slot.passes > 16 or slot.memory > GIBIBYTE or work > 16 * GIBIBYTE:
                raise Refused("unsupported: the slots ask for too much work")

    def unlock(self, passphrase, raw_key):
        self.check_limits()
        for slot in self.slots:
            key = slot.wrapping_key(passphrase, raw_key)
            if key is None:
                continue
            master = opened(key, slot.nonce, MAGIC + self.store + slot.content[:32], slot.sealed_key)
            if master is not None:
                break
        else:
            raise WrongKey("no slot opens with this key")
        if mac(subkey(master, 1), self.content[:4032]) != self.content[4032:4064]:
            raise Refused("damaged: the header was changed by someone who does not know the key")
        return master


def choose_header(content):
    copies = [Header(content[start : start + HEADER_SIZE].ljust(HEADER_SIZE, b"\0")) for start in (0, HEADER_SIZE)]
    intact = [copy for copy in copies if copy.is_intact]
    if not intact:
        ours = any(copy.is_ours for copy in copies)
        raise Refused("damaged: no header is intact" if ours else "this is no keychain file")
    if any(copy.version != 1 for copy in intact):
        raise Refused("unsupported: the file is of a later version")
    intact = [copy for copy in intact if copy.makes_sense]
    if not intact:
        raise Refused("damaged: no header makes sense")
    return max(intact, key=lambda copy: copy.generation)


# -- Marks ------------------------------------------------------------------------------------------------------------


class Mark:
    def __init__(self, content):
        self.length, self.sequence, self.chain = struct.unpack("<QQ32s", content[:48])


def choose_mark(read, header, key):
    """The mark that counts, and the length of the file, which is looked at after the marks."""
    for _ in range(5):
        marks = [read(offset, MARK_SIZE) for offset in MARK_OFFSETS]
        length = read.length()
        authentic = [Mark(mark) for mark in marks if mac(key, header.file + mark[:48]) == mark[48:]]
        if authentic:
            mark = max(authentic, key=lambda mark: mark.sequence)
            if length < mark.length:
                raise Refused("damaged: the file is shorter than its mark says")
            return mark, length
    raise Refused("damaged: no mark is authentic")


# -- Frames -----------------------------------------------------------------------------------------------------------


class Item:
    def __init__(self, reference):
        self.reference = reference
        self.value = None  # Where its value is: sealed bytes, nonce, sequence number of the frame, true length.

    def read_record(self, fields):
        name = fields.take(4)
        if name not in (b"genp", b"inet", b"keys", b"cert"):
            raise Refused("unsupported: a class of a later version")
        self.item_class = name.decode("ascii")
        self.is_synchronizable = fields.boolean()
        self.created, self.modified = fields.number("q"), fields.number("q")
        self.group = fields.text(fields.number("I"))
        self.attributes = {}
        last = None
        for _ in range(fields.number("H")):
            name = fields.take(fields.number("B"))
            if last is not None and name <= last:
                raise Refused("damaged: attributes are out of order")
            last = name
            if not name.isascii():
                raise Refused("damaged: the name of an attribute is not ASCII")
            self.attributes[name.decode("ascii")] = self.read_attribute(fields)
        for name, form in PRIMARY_KEYS[self.item_class].items():
            if self.attributes.get(name) == (form, DEFAULTS[form]):
                del self.attributes[name]

    @staticmethod
    def read_attribute(fields):
        form = fields.number("B")
        if form == TEXT:
            return form, fields.text(fields.number("I"))
        if form == DATA:
            return form, fields.take(fields.number("I"))
        if form == INTEGER:
            return form, fields.number("q")
        if form == BOOLEAN:
            return form, fields.boolean()
        raise Refused("unsupported: a form of a later version")

    def primary_key(self):
        attributes = tuple(self.attributes.get(name) for name in PRIMARY_KEYS[self.item_class])
        return self.item_class, self.group, self.is_synchronizable, attributes

    def line(self, value):
        shown = {}
        for name, (form, attribute) in self.attributes.items():
            if form == DATA:
                attribute = base64.b64encode(attribute).decode("ascii")
            shown[name] = {FORMS[form]: attribute}
        return json.dumps(
            {
                "reference": str(uuid.UUID(bytes=self.reference)).upper(),
                "class": self.item_class,
                "group": self.group,
                "synchronizable": self.is_synchronizable,
                "created": self.created,
                "modified": self.modified,
                "attributes": shown,
                "value": base64.b64encode(value).decode("ascii"),
            },
            ensure_ascii=False,
            sort_keys=True,
        )


class Contents:
    """The outcome of the frames that were opened so far."""

    def __init__(self, header, master):
        self.header = header
        self.metadata_key, self.value_key = subkey(master, 3), subkey(master, 4)
        self.items = {}
        self.sequence = header.first_sequence
        self.chain = hashed(header.file + struct.pack("<Q", header.first_sequence))

    def follow_unmarked(self, read, offset, length):
        """The same behind the mark, where a frame whose values do not all open is an unfinished one."""
        before = (dict(self.items), self.sequence, self.chain)
        frame_length = self.follow(read, offset, length)
        if frame_length is None or all(self.opened_value(read, item) is not None for item in self.news):
            return frame_length
        self.items, self.sequence, self.chain = before
        return None

    def follow(self, read, offset, length):
        """Opens the frame at the offset if it follows; its length, or None if it does not."""
        if length - offset < 40 + TAG_SIZE:
            return None
        prefix = read(offset, 40)
        frame_length, metadata_length = struct.unpack("<QI", prefix[:12])
        if any(prefix[12:16]) or frame_length > length - offset or metadata_length > 64 * MEBIBYTE:
            return None
        if not TAG_SIZE < metadata_length <= frame_length - 40:
            return None
        sealed = read(offset + 40, metadata_length)
        nonce = prefix[16:40]
        metadata = opened(self.metadata_key, nonce, self.header.file + prefix[:16], sealed)
        if metadata is None:
            return None
        fields = Bytes(metadata, "a frame")
        if fields.take(32) != self.chain or fields.number("Q") != self.sequence + 1:
            return None
        if self.sequence + 1 == LAST_NUMBER:
            raise Refused("damaged: the sequence numbers are used up")
        self.sequence += 1
        self.chain = hashed(self.chain + nonce + sealed[-TAG_SIZE:])
        self.apply(fields, read, offset + 40 + metadata_length, offset + frame_length)
        return frame_length

    def apply(self, fields, read, values, end):
        self.news = []  # The items that come with a value.
        touched = fields.number("B")
        if 16 < touched < 255:
            raise Refused("damaged: a frame names too many items")
        if touched <= 16:
            fields.take(16 * touched)
        count = fields.number("I")
        if count < 1:
            raise Refused("damaged: a frame without operations")
        for _ in range(count):
            values = self.operate(fields, read, values, end)
        if any(fields.rest()):
            raise Refused("damaged: padding is not zero")
        if values != end:
            raise Refused("damaged: a frame has bytes that belong to no value")
        keys = {item.primary_key() for item in self.items.values()}
        if len(keys) != len(self.items):
            raise Refused("damaged: two items with one primary key")

    def operate(self, fields, read, values, end):
        kind, reference = fields.number("B"), fields.take(16)
        if kind not in (1, 2, 3, 4):
            raise Refused("unsupported: an operation of a later version")
        if (reference in self.items) != (kind != 1):
            raise Refused("damaged: an operation on an item that is there, or on one that is not")
        if kind == 4:
            del self.items[reference]
            return values
        item = Item(reference)
        item.read_record(fields)
        if kind == 3:
            item.value = self.items[reference].value
        else:
            true_length, sealed_length, nonce = fields.number("I"), fields.number("I"), fields.take(24)
            if true_length > 64 * MEBIBYTE or true_length + TAG_SIZE > sealed_length:
                raise Refused("damaged: a value is longer than it can be")
            if sealed_length > end - values:
                raise Refused("damaged: a value goes beyond its frame")
            item.value = (values, sealed_length, nonce, self.sequence, true_length)
            values += sealed_length
            self.news.append(item)
        self.items[reference] = item
        return values

    def opened_value(self, read, item):
        """The value of an item, or None if it does not open."""
        offset, sealed_length, nonce, sequence, true_length = item.value
        associated = self.header.file + struct.pack("<Q", sequence) + item.reference
        value = opened(self.value_key, nonce, associated, read(offset, sealed_length))
        return None if value is None else value[:true_length]


# -- The file ---------------------------------------------------------------------------------------------------------


class Reader:
    def __init__(self, file):
        self.file = file

    def __call__(self, offset, count):
        content = os.pread(self.file, count, offset)
        if len(content) != count:
            raise Refused("damaged: the file ends too early")
        return content

    def length(self):
        return os.fstat(self.file).st_size


def read_file(path, passphrase, raw_key):
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    status = os.fstat(file)
    if status.st_mode & 0o077:
        raise Refused("insecure: others than the owner may use the file")
    if os.geteuid() not in (status.st_uid, 0):
        raise Refused("insecure: the file is someone else's")
    read = Reader(file)

    header = choose_header(os.pread(file, 2 * HEADER_SIZE, 0))
    if read.length() < FRAMES_OFFSET:
        raise Refused("damaged: the file is shorter than its fixed part")
    master = header.unlock(passphrase, raw_key)
    for offset in MARK_OFFSETS:
        if any(read(offset + MARK_SIZE, MARK_PAGE_SIZE - MARK_SIZE)):
            raise Refused("damaged: the unused part of a mark's page is not zero")

    mark, length = choose_mark(read, header, subkey(master, 2))
    contents = Contents(header, master)
    offset = FRAMES_OFFSET
    while offset < mark.length:
        frame_length = contents.follow(read, offset, mark.length)
        if frame_length is None:
            raise Refused("damaged: a frame before the mark does not follow")
        offset += frame_length
    if (offset, contents.sequence, contents.chain) != (mark.length, mark.sequence, mark.chain):
        raise Refused("damaged: the frames do not meet the mark")
    while (frame_length := contents.follow_unmarked(read, offset, length)) is not None:
        offset += frame_length

    for reference in sorted(contents.items):
        item = contents.items[reference]
        value = contents.opened_value(read, item)
        if value is None:
            raise Refused("damaged: a value does not open")
        yield item.line(value)


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        self.exit(64, "read_keychain: %s\n" % message)


def main():
    arguments = Arguments(description="Reads an encrypted keychain file.")
    arguments.add_argument("file")
    key = arguments.add_mutually_exclusive_group(required=True)
    key.add_argument("--passphrase-file", help="a file that has the passphrase, and nothing else")
    key.add_argument("--key-file", help="a file that has the raw key, 32 bytes")
    given = arguments.parse_args()

    with open(given.passphrase_file or given.key_file, "rb") as file:
        secret = file.read()
    if given.key_file and len(secret) != 32:
        arguments.error("a raw key has exactly 32 bytes")
    try:
        lines = list(read_file(given.file, *((None, secret) if given.key_file else (secret, None))))
    except Refused as refused:
        print("read_keychain: %s" % refused, file=sys.stderr)
        return 1
    except WrongKey as wrong:
        print("read_keychain: %s" % wrong, file=sys.stderr)
        return 2
    # Bytes, since the locale has no say in the form of JSON.
    sys.stdout.buffer.write("".join(line + "\n" for line in lines).encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
