"""One HTTP request and its answer."""
import http.client
import time
import urllib.parse

from values import MAX_BODY, parse_json


class Answer:
    def __init__(self, status, headers, raw, duration_ms):
        self.status, self.headers, self.raw, self.duration_ms = status, headers, raw, duration_ms
        self.doc = parse_json(raw)

    def header(self, name):
        return [v for k, v in self.headers if k.lower() == name.lower()]


class TransportError(Exception):
    pass


def call(base, method, path, headers=(), payload=None, timeout=30.0):
    """One HTTP exchange on a fresh connection. Redirects are not followed."""
    url = urllib.parse.urlsplit(base)
    conn_class = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    target = urllib.parse.quote(url.path.rstrip("/") + path, safe="/?&=%:;,+-._~!$'()*@#") or "/"
    deadline = time.monotonic() + timeout
    conn = conn_class(url.hostname, url.port, timeout=timeout)
    try:
        start = time.monotonic()
        conn.request(method, target, body=payload, headers=dict(headers))
        reply = conn.getresponse()
        duration_ms = int((time.monotonic() - start) * 1000)
        chunks, size = [], 0
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TransportError(f"the answer did not end within {timeout:g}s")
            if conn.sock is not None:
                conn.sock.settimeout(left)
            chunk = reply.read1(65536)
            if not chunk:
                break
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_BODY:
                raise TransportError("the answer is too large")
        return Answer(reply.status, reply.getheaders(), b"".join(chunks), duration_ms)
    except TransportError:
        raise
    except (OSError, http.client.HTTPException, ValueError) as e:
        raise TransportError(f"{type(e).__name__}: {e}") from None
    finally:
        conn.close()
