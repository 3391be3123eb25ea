#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A server that asks for basic authentication: Git repositories at /NAME.git, and the entrance of a registry at /v2/.

Takes the folder of the repositories, and a file with `user:password` that is read for each request. Prints its port.
"""
import base64
import gzip
import http.server
import os
import subprocess
import sys
import urllib.parse

FOLDER, CREDENTIAL = sys.argv[1:3]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def handle_request(self):
        body = self.read_body()
        with open(CREDENTIAL, "rb") as file:
            wanted = b"Basic " + base64.b64encode(file.read().strip())
        if self.headers.get("Authorization", "").encode() != wanted:
            return self.answer(401, headers=[("WWW-Authenticate", 'Basic realm="test"')])
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/v2/":
            return self.answer(200, b"{}", [("Docker-Distribution-Api-Version", "registry/2.0")])
        environment = dict(
            os.environ,
            GIT_PROJECT_ROOT=FOLDER,
            GIT_HTTP_EXPORT_ALL="1",
            PATH_INFO=url.path,
            QUERY_STRING=url.query,
            REQUEST_METHOD=self.command,
            REMOTE_USER="test",
            CONTENT_TYPE=self.headers.get("Content-Type", ""),
            CONTENT_LENGTH=str(len(body)),
            GIT_PROTOCOL=self.headers.get("Git-Protocol", ""),
        )
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        self.answer(status, content, [header for header in headers if header[0] != "Status"])

    do_GET = do_POST = do_HEAD = handle_request


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
