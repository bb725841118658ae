"""What the blocking and the asynchronous client share: requests, retries, pages. It does no input or output."""

import json
import random
import re
import time
import uuid
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Literal, TypedDict
from urllib.parse import quote, urlencode, urlsplit

import httpx

from omnigraph.errors import ConnectionLost, NoProgress, OmnigraphError, ServerError
from omnigraph.refusals import TooLargeError, by_status
from omnigraph.values import plain, to_json
from omnigraph.wire import ChangeFeed, Envelope, ReadAnswer

ARROW = "application/vnd.apache.arrow.stream"
EVENTS = "text/event-stream"
FALLBACK_PAGE = 10_000  # rows of a page after the server refused to send all rows at once
PIECE = 8 << 20  # bytes of the pieces in which a load sends data; smaller data goes in one request
FOLLOW_PAUSE = 1.0  # seconds between two connections; a proxy may end every stream soon, but each begins with a page
FOLLOW_SILENCE = 60.0  # seconds in which a server may send nothing; it sends something every 15 seconds
now = time.monotonic


@dataclass(frozen=True, kw_only=True)
class Retries:
    """The attempts of one request, and the seconds for all of them; 0 for no limit."""

    attempts: int = 4
    within: float = 30


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Which state a read is of, and how many rows to read."""

    branch: str | None = None
    """The branch; main by default."""
    snapshot: str | None = None
    """A commit, instead of a branch."""
    max_rows: int | None = None
    """The maximum number of rows of all pages together."""
    page_size: int | None = None
    """The maximum number of rows of a page; by default the server decides."""
    page_token: str | None = None
    """The next_page_token of an earlier page, to continue after it."""


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """Where a write goes, and on which conditions."""

    branch: str | None = None
    """The branch; main by default."""
    dry_run: bool = False
    """Commit nothing, and report what the write would do."""
    idempotency_key: str | None = None
    """Within a day, a request with the same key gets the answer of the first one. By default the client makes a new key."""
    if_commit: str | None = None
    """Write only if this commit is the head of the branch."""
    message: str | None = None
    """Why the write is made: the message of its commit, at most 1,024 bytes of UTF-8."""

    def headers(self) -> dict[str, str]:
        """Returns the headers. Every write that commits has an idempotency key, so it can be repeated."""
        key = self.idempotency_key or (None if self.dry_run else str(uuid.uuid4()))
        message = quote(self.message, safe="") if self.message else None
        named = (("Idempotency-Key", key), ("Omnigraph-If-Graph-Commit", self.if_commit), ("Omnigraph-Message", message))
        return {n: v for n, v in named if v is not None}

    def path(self, path: str) -> str:
        """Returns the path of a conditional write, so that no server ignores the condition."""
        return path if self.if_commit is None else path + "/if-graph-commit"


class LoadQuery(TypedDict, total=False):
    """How to load data, besides the options of a write."""

    source: str
    mode: Literal["merge", "patch", "append", "overwrite", "sync"]
    new_edges: bool
    last_wins: bool
    types: list[str]
    cascade: bool
    approve_deletes: int


class ChangeFilter(TypedDict, total=False):
    """Which changes a list has; `limit` is the maximum number of changes of a page."""

    kind: list[Literal["node", "edge"]]
    type: list[str]
    op: list[Literal["insert", "update", "delete"]]
    limit: int
    page_token: str


class FeedQuery(ChangeFilter, total=False):
    """Which changes of a branch a feed has. It begins after `cursor`, or where `start` says."""

    branch: str
    cursor: str
    start: Literal["earliest", "latest"]


class ProposalQuery(TypedDict, total=False):
    """Which proposals a list has."""

    state: Literal["open", "merged", "closed"]
    source: str
    target: str
    author: str
    reviewer: str
    limit: int


def after(at: FeedQuery, page: ChangeFeed) -> FeedQuery:
    """Returns the query of the page of a feed that follows another one."""
    following = at.copy()
    following.pop("page_token", None)
    if page["next_page_token"] is not None:
        following["page_token"] = page["next_page_token"]
    elif page["cursor"] is not None:
        following.pop("start", None)
        following["cursor"] = page["cursor"]
    return following


@dataclass(frozen=True)
class Request:
    """A request. It may be sent again if it writes nothing or has an idempotency key."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    repeats: bool = True
    also: int = 200

    def accepting(self, media: str) -> "Request":
        """Returns the request for an answer of another media type."""
        return replace(self, headers={**self.headers, "Accept": media})

    def target(self) -> str:
        """Returns the path with the query string. It leaves out what is not set, and repeats the name of a list."""
        pairs = []
        for name, value in self.query.items():
            for v in value if isinstance(value, list) else [value]:
                if v is not None and v is not False and v != "":
                    pairs.append((name, "true" if v is True else str(plain(v))))
        return self.path + ("?" + urlencode(pairs) if pairs else "")


def get(path: str, query: Mapping[str, Any] | None = None, **more: Any) -> Request:
    return Request("GET", path, {**(query or {}), **more})


def post(path: str, body: Mapping[str, Any], *, repeats: bool, options: WriteOptions | None = None) -> Request:
    """Returns a POST request with a JSON object, without the members that are None."""
    headers = {"Content-Type": "application/json", **(options.headers() if options else {})}
    return Request("POST", path, {}, headers, to_json({k: v for k, v in body.items() if v is not None}), repeats)


def arguments(params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Returns the arguments without those that are None, for which the server takes the defaults."""
    return None if params is None else {k: v for k, v in params.items() if v is not None}


def segment(name: str) -> str:
    """Escapes a name as one segment of a path. Clients and proxies remove a segment of dots."""
    return "%2E" * len(name) if not name.strip(".") else quote(name, safe="")


def base_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password or re.search("[?#]", url):
        raise ValueError("the server's URL must be one such as http://127.0.0.1:8080, without a user, a password, ? or #")
    return url.rstrip("/")


def lost(error: httpx.HTTPError, what: str) -> Exception:
    """Returns the error of a request that got no whole answer."""
    if isinstance(error, httpx.TimeoutException):
        return TimeoutError(f"{what}: the time limit of the call has passed")
    temporary = isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError))
    return (ConnectionLost if temporary else OmnigraphError)(f"{what}: {error}")


class Attempts:
    """Decides whether and when to send a request again."""

    def __init__(self, retries: Retries, repeats: bool, timeout: float | None) -> None:
        self.retries, self.repeats = retries, repeats
        self.started = now()
        self.until = None if timeout is None else self.started + timeout
        self.pause, self.number = 0.5, 1

    def left(self) -> float | None:
        """Returns the seconds that are left for the call."""
        return None if self.until is None else max(self.until - now(), 0.001)

    def wait(self, error: Exception) -> float:
        """Returns the seconds to wait before the next attempt. It raises the error if there is none."""
        wait = self.pause * random.uniform(0.5, 1.5)
        if isinstance(error, ServerError):
            # A 503 without Retry-After means that the request took too long, which would happen again.
            temporary = error.status == 429 or (error.status == 503 and error.retry_after is not None)
            wait = wait if error.retry_after is None else error.retry_after
        else:
            temporary = isinstance(error, ConnectionLost)
        elapsed, within = now() - self.started, self.retries.within
        late = (within > 0 and elapsed + wait > within) or (self.until is not None and now() + wait > self.until)
        if not self.repeats or not temporary or self.number >= self.retries.attempts or late:
            raise error
        self.number, self.pause = self.number + 1, min(self.pause * 1.5, 60)
        return wait


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> ServerError:
    """Returns the error of an answer that is not a success."""
    envelope: Envelope = {"error": ""}
    try:
        decoded = json.loads(body)
        if isinstance(decoded, dict):
            envelope.update(decoded)  # type: ignore[typeddict-item]
    except ValueError:
        pass  # the answer is not of an omnigraph-server; it may come from a proxy
    hint = None
    if status == 304:
        envelope = {"error": "the client already has this answer"}
    elif status < 400:
        location = headers.get("Location", "")
        envelope = {"error": f"the server answered {status} and redirected to {location!r}; the client does not follow redirects"}
        hint = "if the redirect leads to the right server, give the client that URL"
    elif not envelope["error"]:
        envelope = {"error": f"the server answered {status} without an error message"}
        hint = "check that the URL is that of an omnigraph-server"
    elif status == 401:
        hint = "give the client a valid token"
    return by_status.get(status, ServerError)(envelope, status, retry_after(headers.get("Retry-After")), hint)


def retry_after(text: str | None) -> float | None:
    """Returns the seconds of the header, which has seconds or a date."""
    if text is None or text.isdigit():
        return None if text is None else float(text)
    try:
        return max((parsedate_to_datetime(text) - datetime.now(timezone.utc)).total_seconds(), 0)
    except (TypeError, ValueError):
        return None


class Paging:
    """Decides which pages of rows to ask for."""

    def __init__(self, options: ReadOptions) -> None:
        self.most, self.size, self.token = options.max_rows, options.page_size, options.page_token
        self.got, self.first, self.done = 0, True, False
        self.large: TooLargeError | None = None

    @property
    def rows(self) -> int | None:
        """The maximum number of rows of the next page."""
        limits = [n for n in (self.size, None if self.most is None else self.most - self.got) if n is not None]
        return min(limits, default=None)

    def passed(self, page: ReadAnswer) -> None:
        """Takes note of a page."""
        self.first, self.got, following = False, self.got + len(page["rows"]), page.get("next_page_token")
        self.done = not page.get("truncated") or not following or (self.most is not None and self.got >= self.most)
        if not self.done and (following == self.token or not page["rows"]):
            raise NoProgress
        self.token = following

    def failed(self, error: TooLargeError) -> None:
        """Makes the next page smaller, or raises the error."""
        if error.envelope.get("resource_limit", {}).get("resource") != "bytes" or self.rows == 1:
            raise error if self.large is None or not self.first else self.large
        self.large = error
        self.size = FALLBACK_PAGE if self.rows is None else min(FALLBACK_PAGE, max(self.rows // 10, 1))


def encode(part: Any) -> bytes:
    """Returns a part of the data of a load: bytes, a text, or an object for one line."""
    if isinstance(part, (bytes, bytearray, memoryview)):
        return bytes(part)
    return part.encode() if isinstance(part, str) else to_json(part) + b"\n"


def pieces(data: Any) -> Generator[bytes, None, None]:
    """Cuts data into pieces of PIECE bytes; the last may be smaller, also empty."""
    parts: Iterable[Any] = (data,) if isinstance(data, (str, bytes, bytearray, memoryview)) else data
    read: Any = getattr(data, "read", None)  # of an open file
    if read is not None:
        parts = iter(lambda: read(1 << 20), type(read(0))())
    buffer = bytearray()
    for part in parts:
        buffer += encode(part)
        while len(buffer) >= PIECE:
            yield bytes(buffer[:PIECE])
            del buffer[:PIECE]
    yield bytes(buffer)


class Events:
    """Reads the lines of a stream of server-sent events."""

    def __init__(self) -> None:
        self.name, self.data = "", ""

    def line(self, line: str) -> tuple[str, str] | None:
        """Takes a line, and returns the event that it ends, if that has data."""
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            event = (self.name, self.data) if self.data else None
            self.name, self.data = "", ""
            return event
        if key == "event":
            self.name = value
        elif key == "data":
            self.data = value  # the server writes the data of an event in one line
        return None
