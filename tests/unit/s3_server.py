"""A bucket behind HTTP, as much of S3 as listing and reading take: two objects on a page, in the order of the dict."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

PAGE = 2
_CONTENT = (
    "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>{tag}<Size>{size}</Size></Contents>"
)


class Bucket(ThreadingHTTPServer):
    """`objects`: their bytes by key, listed in that order. `answer`: a status for every request instead."""

    def __init__(self, name="night"):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.name, self.objects, self.tags, self.answer = name, {}, {}, None
        self.requests = []

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server_port}"

    def tag(self, key):
        return self.tags.get(key, "1")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        bucket, _, key = unquote(url.path).lstrip("/").partition("/")
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        self.server.requests.append((self.command, key or query.get("prefix", ""), self.headers["Range"]))
        if self.server.answer is not None:
            self._send(self.server.answer, b"<Error><Code>No</Code><Message>secret</Message></Error>")
        elif bucket != self.server.name:
            self._send(404, b"<Error><Code>NoSuchBucket</Code></Error>")
        elif "list-type" in query:
            self._list(query.get("prefix", ""), int(query.get("continuation-token", "0")))
        elif key not in self.server.objects:
            self._send(404, b"<Error><Code>NoSuchKey</Code></Error>")
        elif self.headers["If-Match"] not in {None, f'"{self.server.tag(key)}"'}:
            self._send(412, b"<Error><Code>PreconditionFailed</Code></Error>")
        else:
            self._object(self.server.objects[key], key)

    do_HEAD = do_GET  # noqa: N815 - likewise

    def _list(self, prefix, start):
        found = [(key, data) for key, data in self.server.objects.items() if key.startswith(prefix)]
        page, more = found[start : start + PAGE], start + PAGE < len(found)
        entries = (_CONTENT.format(key=escape(key), tag=self._tag_of(key), size=len(data)) for key, data in page)
        token = f"<NextContinuationToken>{start + PAGE}</NextContinuationToken>" if more else ""
        truncated = f"<IsTruncated>{str(more).lower()}</IsTruncated>"
        self._send(200, f"<ListBucketResult>{truncated}{token}{''.join(entries)}</ListBucketResult>".encode())

    def _tag_of(self, key):
        tag = self.server.tag(key)
        return f"<ETag>&quot;{tag}&quot;</ETag>" if tag else ""

    def _object(self, data, key):
        wanted = self.headers["Range"]
        if wanted is None:
            self._send(200, data, tag=self.server.tag(key))
            return
        start, _, end = wanted.removeprefix("bytes=").partition("-")
        part = data[int(start) : int(end) + 1 if end else None]
        span = f"bytes {start}-{int(start) + len(part) - 1}/{len(data)}"
        self._send(206, part, tag=self.server.tag(key), span=span)

    def _send(self, status, data, tag="0", span=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        if tag:
            self.send_header("ETag", f'"{tag}"')
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        if span:
            self.send_header("Content-Range", span)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_):
        pass
