"""Texts that may be shown: URLs without what they keep secret."""

from __future__ import annotations

import re

#: The login of a URL, up to the last ``@`` of the word: a password may hold ``@`` and ``/``.
_LOGIN = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*://)(?P<user>[^:/?#@\s]*)(?::\S*|[^/?#\s]*)@")
_QUERY = re.compile(r"(?P<name>[?&](?:password|passwd|pwd|token|auth_token|secret|sslpassword|key)=)[^&\s]*", re.IGNORECASE)


def redacted(text: str) -> str:
    """A text with the passwords of its URLs left out.

    >>> redacted("postgres://app:p@ss@db/shop?sslpassword=x")
    'postgres://app:***@db/shop?sslpassword=***'
    >>> redacted("http://localhost:8080")
    'http://localhost:8080'
    """
    if "://" not in text:
        return text
    text = _LOGIN.sub(lambda found: f"{found['scheme']}{found['user']}:***@", text)
    return _QUERY.sub(lambda found: f"{found['name']}***", text)
