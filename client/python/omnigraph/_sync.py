# Code generated from _async.py; DO NOT EDIT.

"""The blocking client."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, Unpack, cast

import httpx

from omnigraph import _core as core
from omnigraph import wire as w
from omnigraph._core import ChangeFilter, FeedQuery, LoadQuery, ProposalQuery, ReadOptions, Request, Retries, WriteOptions, get, post, segment
from omnigraph._sync_rows import Rows, Stream
from omnigraph.errors import ConnectionLost, NoProgress, OmnigraphError, ServerError
from omnigraph.values import Params, Row, decoder

T = TypeVar("T")
LoadData = str | bytes | Iterable[str | bytes | Mapping[str, Any]]
"""NDJSON to load: a text or bytes, whole, in chunks or in an open file, or one mapping for each line."""


class Client:
    """Sends requests to one server. It follows no redirects, so that the token reaches only this server.

    Use an https URL for a server on another machine. `token` may be a function that returns the token of each request.
    `timeout` limits each call that returns no stream, in seconds. `on_retry` is called before each wait for the next attempt.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | Callable[[], str | None] | None = None,
        timeout: float | None = None,
        retries: Retries = Retries(),
        on_retry: Callable[[Exception, float], None] | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        self._base, self._token, self._timeout, self._retries, self._on_retry = core.base_url(url), token, timeout, retries, on_retry
        self._http = http or httpx.Client()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def graph(self, id: str) -> "Graph":
        """Returns a graph. It sends no request."""
        return Graph(self, id)

    def _attempt(self, request: Request, left: float | None, silence: float | None = None) -> httpx.Response:
        headers = dict(request.headers)
        if left is not None:
            headers["X-Timeout-Ms"] = str(max(int(left * 1000), 1))
        token = self._token() if callable(self._token) else self._token
        if token:
            headers["Authorization"] = f"Bearer {token}"
        limit = httpx.Timeout(left, read=silence if left is None else left)
        sent = self._http.build_request(request.method, self._base + request.target(), headers=headers, content=request.body, timeout=limit)
        try:
            response = self._http.send(sent, stream=True, follow_redirects=False)
            if response.status_code in (200, 206, request.also):
                return response
            try:
                body = response.read()
            finally:
                response.close()
        except httpx.HTTPError as e:
            raise core.lost(e, f"{self._base} did not answer") from e
        raise core.refusal(response.status_code, response.headers, body)

    def _retry(self, attempts: core.Attempts, error: Exception) -> None:
        wait = attempts.wait(error)
        if self._on_retry is not None:
            self._on_retry(error, wait)
        time.sleep(wait)

    def _open(self, request: Request, timeout: float | None = None, silence: float | None = None) -> httpx.Response:
        attempts = core.Attempts(self._retries, request.repeats, timeout)
        while True:
            try:
                return self._attempt(request, attempts.left(), silence)
            except OmnigraphError as e:
                self._retry(attempts, e)

    def _bytes(self, request: Request) -> bytes:
        attempts = core.Attempts(self._retries, request.repeats, self._timeout)
        while True:
            try:
                response = self._attempt(request, attempts.left())
                try:
                    return response.read()
                except httpx.HTTPError as e:
                    raise core.lost(e, "the server's answer ended early") from e
                finally:
                    response.close()
            except OmnigraphError as e:
                self._retry(attempts, e)

    def _json(self, request: Request) -> Any:
        try:
            return json.loads(self._bytes(request))
        except ValueError:
            raise OmnigraphError("the server's answer is not JSON; check that the URL is that of an omnigraph-server") from None

    def _stream(self, request: Request, what: str) -> Stream:
        return Stream(self._open(request), what)

    def _pages(self, request: Request) -> Iterator[Any]:
        while True:
            page = self._json(request)
            yield page
            following = page.get("next_page_token")
            if not following:
                return
            if following == request.query.get("page_token"):
                raise NoProgress
            request = replace(request, query={**request.query, "page_token": following})

    def _follow(self, event: str, following: Callable[[], Request], passed: Callable[[Any], None]) -> Iterator[Any]:
        while True:
            earliest = core.now() + core.FOLLOW_PAUSE
            response = self._open(following().accepting(core.EVENTS), None, core.FOLLOW_SILENCE)
            if not response.headers.get("Content-Type", "").startswith(core.EVENTS):
                response.close()
                raise OmnigraphError("the server's answer is not a stream of events; check that the URL is that of an omnigraph-server")
            events = core.Events()
            lines = Stream(response, "the feed").lines()
            try:
                # The end of the stream is no fault: the next request continues, or gets the error.
                with suppress(ConnectionLost, TimeoutError):
                    for line in lines:
                        done = events.line(line.decode())
                        if done is None:
                            continue
                        if done[0] != event:
                            break
                        page = json.loads(done[1])
                        passed(page)
                        yield page
            finally:
                response.close()
            time.sleep(max(earliest - core.now(), 0))

    def health(self) -> w.Health:
        """Asks whether the server is up."""
        return cast(w.Health, self._json(get("/healthz")))

    def ready(self) -> w.Readiness:
        """Asks whether the server serves everything in its configuration."""
        return cast(w.Readiness, self._json(replace(get("/readyz"), also=503)))

    def actor(self) -> w.ActorAnswer:
        """Asks who the caller is."""
        return cast(w.ActorAnswer, self._json(get("/actor")))

    def graphs(self) -> w.GraphList:
        """Lists the graphs of the server."""
        return cast(w.GraphList, self._json(get("/graphs")))

    def metrics(self) -> str:
        """Returns the metrics in the text format of Prometheus."""
        return (self._bytes(get("/metrics"))).decode()

    def openapi(self) -> Row:
        """Returns the OpenAPI document of the server."""
        return cast(Row, self._json(get("/openapi.json")))

    def resource_metadata(self) -> w.ResourceMetadata:
        """Returns the issuers of tokens that the server accepts."""
        return cast(w.ResourceMetadata, self._json(get("/.well-known/oauth-protected-resource")))


class Graph:
    """One graph of a server. Its methods have the names of the operations, see docs/reference/rest.md."""

    def __init__(self, client: Client, id: str) -> None:
        self._c, self.id, self._path = client, id, f"/graphs/{segment(id)}"

    def _get(self, path: str, query: Mapping[str, Any] | None = None, **more: Any) -> Any:
        return self._c._json(get(self._path + path, query, **more))

    def _post(self, path: str, body: Mapping[str, Any], *, repeats: bool = False, options: WriteOptions | None = None) -> Any:
        return self._c._json(post(self._path + path, body, repeats=repeats, options=options))

    def query(self, query: str, params: Params | None = None, options: ReadOptions = ReadOptions(), *, name: str | None = None) -> Rows[Row]:
        """Runs a read that is given as GQ text."""
        body = {"query": query, "name": name, "params": params}
        return Rows(self._c, f"{self._path}/query", body, options, lambda row: row)

    def mutate(self, query: str, params: Params | None = None, options: WriteOptions = WriteOptions(), *, name: str | None = None) -> w.MutationAnswer:
        """Runs a mutation that is given as GQ text, as one commit."""
        body = {"query": query, "name": name, "params": params, "branch": options.branch, "dry_run": options.dry_run}
        return cast(w.MutationAnswer, self._post(options.path("/mutate"), body, repeats=True, options=options))

    def read(self, name: str, params: Params | None = None, options: ReadOptions = ReadOptions()) -> Rows[Row]:
        """Runs a stored read."""
        body = {"params": core.arguments(params), "expect_mutation": False}
        return Rows(self._c, f"{self._path}/queries/{segment(name)}", body, options, lambda row: row)

    def read_as(self, row: type[T], name: str, params: Params | None = None, options: ReadOptions = ReadOptions()) -> Rows[T]:
        """Runs a stored read whose rows become objects of a dataclass."""
        body = {"params": core.arguments(params), "expect_mutation": False}
        return Rows(self._c, f"{self._path}/queries/{segment(name)}", body, options, decoder(row))

    def write(self, name: str, params: Params | None = None, options: WriteOptions = WriteOptions()) -> w.MutationAnswer:
        """Runs a stored mutation, as one commit."""
        body = {"params": core.arguments(params), "branch": options.branch, "dry_run": options.dry_run, "expect_mutation": True}
        return cast(w.MutationAnswer, self._post(options.path(f"/queries/{segment(name)}"), body, repeats=True, options=options))

    def write_as(self, row: type[T], name: str, params: Params | None = None, options: WriteOptions = WriteOptions()) -> tuple[T | None, w.MutationAnswer]:
        """Runs a stored mutation, and returns its row too; None if it matched nothing."""
        answer = self.write(name, params, options)
        rows = answer.get("rows")
        return (decoder(row)(rows[0]) if rows else None), answer

    def queries(self) -> w.QueryList:
        """Lists the stored queries that the caller may run."""
        return cast(w.QueryList, self._get("/queries"))

    def explain(self, name: str, *, branch: str | None = None, snapshot: str | None = None) -> w.QueryDescription:
        """Describes a stored query: its parameters, and the plan with which the server runs it."""
        return cast(w.QueryDescription, self._get(f"/queries/{segment(name)}", branch=branch, snapshot=snapshot))

    def load(self, data: LoadData, options: WriteOptions = WriteOptions(), *, from_: str | None = None, yield_: list[str] | None = None, **how: Unpack[LoadQuery]) -> w.LoadAnswer:
        """Loads nodes and edges as NDJSON, as one commit or not at all. LoadQuery has the other arguments."""
        query = {n: ",".join(v) if isinstance(v, list) else v for n, v in {**how, "from": from_, "yield": yield_}.items()}
        query |= {"branch": options.branch, "dry_run": options.dry_run}
        headers = {"Content-Type": "application/x-ndjson", **options.headers()}
        request = Request("POST", f"{self._path}/load/ndjson", query, headers)
        pieces = core.pieces(data)
        piece = next(pieces)
        following = next(pieces, None)
        if following is None:
            return cast(w.LoadAnswer, self._c._json(replace(request, body=piece)))
        id, offset = self.open_upload(options.branch), 0
        try:
            while True:
                self._send_piece(id, offset, piece, offset + len(piece) if following is None else None)
                offset += len(piece)
                if following is None:
                    break
                piece, following = following, next(pieces, None)
            return cast(w.LoadAnswer, self._c._json(replace(request, query={**query, "upload": id}, body=b"")))
        finally:
            with suppress(OmnigraphError):  # the server deletes it within a day anyway
                self.delete_upload(id)

    def open_upload(self, branch: str | None = None, length: int | None = None) -> str:
        """Opens an upload of data for a load into a branch, and returns its id."""
        headers = {"Upload-Defer-Length": "1"} if length is None else {"Upload-Length": str(length)}
        response = self._c._open(Request("POST", f"{self._path}/uploads", {"branch": branch}, headers, also=201), self._c._timeout)
        response.close()
        return str(response.headers["Location"]).rpartition("/")[2]

    def upload(self, id: str) -> w.Upload:
        """Returns the state of an upload. If a piece is still arriving, the server cuts it off."""
        return cast(w.Upload, self._get(f"/uploads/{segment(id)}"))

    def append_upload(self, id: str, offset: int, piece: bytes, length: int | None = None) -> None:
        """Appends a piece. With the last piece of an upload without a length, `length` is that of all data. It sends the piece once."""
        headers = {"Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset)}
        if length is not None:
            headers["Upload-Length"] = str(length)
        response = self._c._open(Request("PATCH", f"{self._path}/uploads/{segment(id)}", {}, headers, piece, repeats=False, also=204))
        response.close()

    def delete_upload(self, id: str) -> None:
        """Deletes an upload."""
        response = self._c._open(Request("DELETE", f"{self._path}/uploads/{segment(id)}", repeats=False, also=204), 5)
        response.close()

    def _send_piece(self, id: str, begin: int, whole: bytes, length: int | None) -> None:
        offset, failed = begin, 0
        while True:
            try:
                return self.append_upload(id, offset, whole[offset - begin :], length)
            except OmnigraphError as e:
                failed += 1
                repairable = isinstance(e, ConnectionLost) or (isinstance(e, ServerError) and e.status in (409, 429, 502, 503, 504))
                if not repairable or failed >= self._c._retries.attempts:
                    raise
            state = self.upload(id)  # with its own retries and waits
            if not offset <= state["offset"] <= begin + len(whole):
                raise OmnigraphError(f"{state['offset']} bytes of the upload have arrived, expected {offset} to {begin + len(whole)}")
            if state["offset"] > offset:
                failed = 0  # some bytes have arrived, so the connection is not lost for good
            offset = state["offset"]
            if offset == begin + len(whole) and (length is None or state["length"] is not None):
                return

    def export(self, body: w.ExportBody = {}) -> Stream:
        """Exports the entities of a commit as NDJSON that `load` takes."""
        return self._c._stream(post(f"{self._path}/export", body, repeats=True), "the export")

    def export_arrow(self, type: str, *, branch: str | None = None, snapshot: str | None = None) -> Stream:
        """Exports the entities of one type as an Arrow IPC stream."""
        body = {"type_names": [type], "branch": branch, "snapshot": snapshot}
        return self._c._stream(post(f"{self._path}/export", body, repeats=True).accepting(core.ARROW), "the export")

    def blob(
        self,
        entity: Literal["node", "edge"],
        type: str,
        id: str,
        property: str,
        *,
        branch: str | None = None,
        snapshot: str | None = None,
        first: int | None = None,
        last: int | None = None,
        if_commit: str | None = None,
    ) -> Stream:
        """Returns the bytes of a Blob, or of a part of it; `last` is included."""
        headers = {} if first is None else {"Range": f"bytes={first}-{'' if last is None else last}"}
        if if_commit is not None:
            headers["If-Match"] = f'"{if_commit}"'
        request = get(f"{self._path}/blob", entity=entity, type=type, id=id, property=property, branch=branch, snapshot=snapshot)
        return self._c._stream(replace(request, headers=headers), "the Blob")

    def branches(self, limit: int = 1000) -> Iterator[w.BranchHead]:
        """Returns all branches that the caller may read, each with its last commit."""
        for page in self._c._pages(get(f"{self._path}/branches", limit=limit)):
            for head in page["heads"]:
                yield head

    def create_branch(self, body: w.BranchBody) -> w.BranchCreated:
        return cast(w.BranchCreated, self._post("/branches", body))

    def delete_branch(self, name: str) -> w.BranchDeleted:
        return cast(w.BranchDeleted, self._c._json(Request("DELETE", f"{self._path}/branches/{segment(name)}", repeats=False)))

    def merge_branches(self, body: w.MergeBody, options: WriteOptions = WriteOptions()) -> w.MergeAnswer:
        """Merges a branch into another one, as one commit. A ConflictError lists the conflicts, if there are any."""
        dry = bool(body.get("dry_run")) or options.dry_run
        # A repeated merge that has deleted its source could find another branch of that name.
        once = bool(body.get("delete_branch")) and not dry and options.idempotency_key is None
        of = replace(options, dry_run=dry)
        return cast(w.MergeAnswer, self._post("/branches/merge", {**body, "dry_run": dry}, repeats=not once, options=of))

    def snapshot(self, *, branch: str | None = None, snapshot: str | None = None, if_changed: str | None = None) -> w.SnapshotAnswer:
        """Describes the state of a branch or of a commit. With `if_changed`, a NotModifiedError says that it still is that commit."""
        request = get(f"{self._path}/snapshot", branch=branch, snapshot=snapshot)
        if if_changed is not None:
            request = replace(request, headers={"If-None-Match": f'"{if_changed}"'})
        return cast(w.SnapshotAnswer, self._c._json(request))

    def commits(self, branch: str | None = None, limit: int | None = None) -> Iterator[w.CommitAnswer]:
        """Returns the commits of a branch, the newest first."""
        for page in self._c._pages(get(f"{self._path}/commits", branch=branch, limit=limit)):
            for commit in page["commits"]:
                yield commit

    def commit(self, id: str, *, branch: str | None = None) -> w.CommitAnswer:
        return cast(w.CommitAnswer, self._get(f"/commits/{segment(id)}", branch=branch))

    def commit_changes(self, id: str, filter: ChangeFilter = {}, *, branch: str | None = None) -> Iterator[w.EntityChange]:
        """Returns the changes that a commit made against its first parent."""
        for page in self._c._pages(get(f"{self._path}/commits/{segment(id)}/changes", filter, branch=branch)):
            for change in page["changes"]:
                yield change

    def changes(self, query: FeedQuery = {}) -> w.ChangeFeed:
        """Lists a page of the changes of a branch. After a GoneError, start again from a baseline."""
        return cast(w.ChangeFeed, self._get("/changes", query))

    def feed(self, at: FeedQuery = {}) -> Iterator[w.ChangeFeed]:
        """Returns the changes of a branch up to its head."""
        while True:
            page = self.changes(at)
            before, at = at, core.after(at, page)
            yield page
            if page["caught_up"] and page["next_page_token"] is None:
                return
            if at == before:
                raise NoProgress

    def follow(self, at: FeedQuery = {}) -> Iterator[w.ChangeFeed]:
        """Returns the changes of a branch, and goes on when it gets new commits. Store the cursor of each page to continue in another process."""

        def passed(page: w.ChangeFeed) -> None:
            nonlocal at
            at = core.after(at, page)

        for page in self._c._follow("changes", lambda: get(f"{self._path}/changes", at), passed):
            yield page

    def baseline(self, body: w.BaselineBody = {}) -> Stream:
        """Returns the entities of a branch as NDJSON. The last line has the cursor with which the feed continues."""
        return self._c._stream(post(f"{self._path}/changes/baseline", body, repeats=True), "the baseline")

    def history(self, type: str, id: str, *, branch: str | None = None, before: int | None = None, limit: int | None = None) -> w.NodeHistory:
        """Lists the commits that changed a node, the newest first."""
        return cast(w.NodeHistory, self._get("/node/history", type=type, id=id, branch=branch, before=before, limit=limit))

    def schema(self, *, branch: str | None = None, snapshot: str | None = None) -> w.SchemaAnswer:
        return cast(w.SchemaAnswer, self._get("/schema", branch=branch, snapshot=snapshot))

    def types(self, *, branch: str | None = None, snapshot: str | None = None) -> w.TypeList:
        return cast(w.TypeList, self._get("/schema/types", branch=branch, snapshot=snapshot))

    def apply_schema(self, body: w.SchemaBody, options: WriteOptions = WriteOptions()) -> w.SchemaApplied:
        """Replaces the schema of a branch and converts the data, as one commit."""
        dry = bool(body.get("dry_run")) or options.dry_run
        return cast(w.SchemaApplied, self._post("/schema/apply", {**body, "dry_run": dry}, repeats=True, options=replace(options, dry_run=dry)))

    def proposals(self, query: ProposalQuery = {}) -> Iterator[w.ProposalSummary]:
        """Returns the proposals between branches that the caller may read, the newest first."""
        for page in self._c._pages(get(f"{self._path}/proposals", query)):
            for proposal in page["proposals"]:
                yield proposal

    def proposal(self, id: str) -> w.ProposalAnswer:
        return cast(w.ProposalAnswer, self._get(f"/proposals/{segment(id)}"))

    def proposal_changes(self, id: str, filter: ChangeFilter = {}) -> w.ProposalChanges:
        """Lists a page of what the merge of a proposal changes on the target."""
        return cast(w.ProposalChanges, self._get(f"/proposals/{segment(id)}/changes", filter))

    def open_proposal(self, body: w.ProposalBody) -> w.ProposalAnswer:
        """Opens a proposal. If the request fails, it is not repeated, because it may have opened the proposal."""
        return cast(w.ProposalAnswer, self._post("/proposals", body))

    def change_proposal(self, id: str, body: w.ProposalChangeBody) -> w.ProposalAnswer:
        """Changes the title, the description or the resolutions of an open proposal."""
        return cast(w.ProposalAnswer, self._post(f"/proposals/{segment(id)}", body))

    def review_proposal(self, id: str, body: w.ProposalReviewBody) -> w.ProposalAnswer:
        """Approves an open proposal, asks for changes, or adds a comment."""
        return cast(w.ProposalAnswer, self._post(f"/proposals/{segment(id)}/review", body))

    def close_proposal(self, id: str, body: w.ProposalCloseBody = {}) -> w.ProposalAnswer:
        return cast(w.ProposalAnswer, self._post(f"/proposals/{segment(id)}/close", body))

    def merge_proposal(self, id: str, body: w.ProposalMergeBody = {}) -> w.ProposalAnswer:
        return cast(w.ProposalAnswer, self._post(f"/proposals/{segment(id)}/merge", body))

    def propose_query(self, body: w.QueryProposalBody) -> w.ProposalAnswer:
        """Proposes a stored query. It changes the caller's open proposal of a query with this name, if there is one."""
        return cast(w.ProposalAnswer, self._post("/proposed-queries", body))

    def published_queries(self) -> w.PublishedQueries:
        """Lists the proposed queries that were merged and that the caller may run."""
        return cast(w.PublishedQueries, self._get("/proposed-queries"))

    def proposal_events(self, *, cursor: str | None = None, start: Literal["earliest", "latest"] | None = None, limit: int | None = None) -> w.ProposalFeed:
        """Lists a page of the events of proposals."""
        return cast(w.ProposalFeed, self._get("/proposals/events", cursor=cursor, start=start, limit=limit))

    def follow_proposals(self, *, cursor: str | None = None, start: Literal["earliest", "latest"] | None = None) -> Iterator[w.ProposalFeed]:
        """Returns the events of proposals, and goes on when there are new ones."""
        at = {"cursor": cursor, "start": start}

        def passed(page: w.ProposalFeed) -> None:
            nonlocal at
            at = {"cursor": page["cursor"], "start": None}

        for page in self._c._follow("proposals", lambda: get(f"{self._path}/proposals/events", at), passed):
            yield page

    def create_watch(self, body: w.WatchBody) -> w.Watch:
        """Keeps a stored read with its arguments as a watch. If the request fails, it is not repeated, because it may have made the watch."""
        return cast(w.Watch, self._post("/watches", body))

    def watches(self) -> w.WatchList:
        """Lists the watches of the caller, the oldest first."""
        return cast(w.WatchList, self._get("/watches"))

    def watch_event(self, id: str, cursor: str | None = None) -> w.WatchEvent:
        """Returns the answer of a watch, or how it has changed after a cursor."""
        return cast(w.WatchEvent, self._get(f"/watches/{segment(id)}/events", cursor=cursor))

    def follow_watch(self, id: str, cursor: str | None = None) -> Iterator[w.WatchEvent]:
        """Returns the answer of a watch, or how it has changed after a cursor, and goes on when the answer changes.

        Store the cursor of each event together with its rows to continue in another process."""
        at = cursor

        def passed(event: w.WatchEvent) -> None:
            nonlocal at
            at = event["cursor"]

        for event in self._c._follow("watch", lambda: get(f"{self._path}/watches/{segment(id)}/events", cursor=at), passed):
            yield event

    def redeliver_watch(self, id: str) -> w.Watch:
        """Sends the events of the webhook of a watch again that could not be delivered."""
        return cast(w.Watch, self._c._json(Request("POST", f"{self._path}/watches/{segment(id)}/redeliver", repeats=False)))

    def dismiss_undelivered(self, id: str) -> w.Watch:
        """Removes the events of the webhook of a watch from its list that could not be delivered."""
        return cast(w.Watch, self._c._json(Request("POST", f"{self._path}/watches/{segment(id)}/dismiss", repeats=False)))

    def delete_watch(self, id: str) -> w.WatchDeleted:
        return cast(w.WatchDeleted, self._c._json(Request("DELETE", f"{self._path}/watches/{segment(id)}", repeats=False)))

    def checks(self, branch: str | None = None) -> w.ChecksAnswer:
        """Runs the checks of the graph on the head of a branch."""
        return cast(w.ChecksAnswer, self._get("/checks", branch=branch))

    def access(self, *, actor: str | None = None, group: list[str] | None = None, branch: str | None = None) -> w.AccessAnswer:
        """Says what an actor may do on the graph, and which rules decide it."""
        return cast(w.AccessAnswer, self._get("/access", actor=actor, group=group, branch=branch))

    def audit(self, query: Mapping[str, Any] | None = None) -> Iterator[w.AuditRecord]:
        """Returns calls in the audit trail, the latest first. The query may have actor, tool, entity, decision, from, to and limit."""
        for page in self._c._pages(get(f"{self._path}/audit", query)):
            for record in page["records"]:
                yield record

    def verify(self) -> w.Verified:
        """Reads all stored data and lists the faults."""
        return cast(w.Verified, self._post("/verify", {}, repeats=True))

    def cleanup(self, body: w.CleanupBody) -> w.CleanedUp:
        """Makes old commits unreadable and frees their space."""
        return cast(w.CleanedUp, self._post("/cleanup", body, repeats=bool(body.get("dry_run"))))

    def openapi(self) -> Row:
        """Returns the OpenAPI document of the stored queries that the caller may run."""
        return cast(Row, self._get("/openapi.json"))

    def resource_metadata(self, endpoint: Literal["rest", "mcp"] = "rest") -> w.ResourceMetadata:
        """Returns the issuers of tokens that the server accepts for the routes of the graph, or for its MCP endpoint."""
        path = f"/.well-known/oauth-protected-resource{self._path}{'/mcp' if endpoint == 'mcp' else ''}"
        return cast(w.ResourceMetadata, self._c._json(get(path)))
