"""Calls everything in the package omnigraph and in the generated module against a server that is killed again and again.

`main.py async` uses the client for asyncio, and `main.py sync` the blocking one.
"""

import asyncio
import datetime as dt
import inspect
import os
import sys
import urllib.request
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from decimal import Decimal
from typing import Any, TypeVar, cast

import duckdb
import httpx
import omnigraph
from omnigraph import AsyncClient, Client, ReadOptions, Retries, WriteOptions
from omnigraph.wire import MutationAnswer
from shop import AsyncShop, ByMakerRow, ReceiveParamsBox, Shop, ThingState

T = TypeVar("T")
URL = os.environ["OMNIGRAPH_URL"]
SYNC = sys.argv[1] == "sync"
called: set[str] = set()
retried = 0


# The methods that send no request.
lazy = {"graph", "query", "read", "read_as", "by_maker", "maker_with_things", "find_things", "things_without_maker"}


class Awaited:
    """Gives an object of the blocking client the form of one for asyncio, and records the calls of methods."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._of, name)
        if not callable(value):
            return value
        called.add(f"{type(self._of).__name__.removeprefix('Async')}.{name}")

        def call(*args: Any, **named: Any) -> Any:
            if name in lazy and not isinstance(self._of, omnigraph.Stream):
                return Awaited(value(*args, **named))
            if not SYNC:
                return value(*args, **named)
            if inspect.isgeneratorfunction(value):
                return self._each(value(*args, **named))
            return self._wrapped(value, *args, **named)

        return call

    @staticmethod
    async def _wrapped(value: Any, *args: Any, **named: Any) -> Any:
        result = await asyncio.to_thread(value, *args, **named)
        return Awaited(result) if isinstance(result, omnigraph.Stream) else result

    @staticmethod
    async def _each(items: Any) -> AsyncIterator[Any]:
        end = object()
        while (item := await asyncio.to_thread(next, items, end)) is not end:
            yield item

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._each(iter(self._of)) if SYNC else cast(AsyncIterator[Any], aiter(self._of))

    def __await__(self) -> Any:
        return asyncio.to_thread(self._of.all).__await__() if SYNC else self._of.__await__()


async def kill() -> None:
    await asyncio.to_thread(urllib.request.urlopen, urllib.request.Request(f"{os.environ['CONTROL']}/kill", method="POST"))


async def down(call: Callable[[], Awaitable[T]]) -> T:
    """Runs a call that may be repeated while the server is down."""
    await kill()
    return await call()


async def refused(error: type[T], call: Awaitable[Any]) -> T:
    try:
        await call
    except Exception as e:
        assert isinstance(e, error), repr(e)
        return e
    raise AssertionError(f"expected {error}")


async def every(items: AsyncIterator[T]) -> list[T]:
    return [item async for item in items]


def count(error: Exception, wait: float) -> None:
    global retried
    retried += 1


def connect(actor: str, **options: Any) -> AsyncClient:
    options = {"retries": Retries(attempts=30, within=60), "on_retry": count, "token": os.environ[f"{actor}_TOKEN"], **options}
    made: Any = (Client if SYNC else AsyncClient)(URL, **options)
    return cast(AsyncClient, Awaited(made))


def scripted(*answers: tuple[int, Any, dict[str, str]]) -> AsyncClient:
    """Returns a client that gets the answers, and no others."""
    rest = list(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        status, body, headers = rest.pop(0)
        return httpx.Response(status, json=body, headers=headers)

    transport = httpx.MockTransport(answer)
    made: Any = Client("http://scripted", http=httpx.Client(transport=transport)) if SYNC else AsyncClient("http://scripted", http=httpx.AsyncClient(transport=transport))
    return cast(AsyncClient, Awaited(made))


def refused_by_types(db: Shop) -> None:
    db.by_maker(make="acme")  # type: ignore[call-arg]  # pyright: ignore
    db.find_things(state="sold")  # type: ignore[arg-type]  # pyright: ignore
    db.by_maker(WriteOptions(), maker="acme")  # type: ignore[arg-type]  # pyright: ignore


async def main() -> None:
    client = connect("ADA", token=lambda: os.environ["ADA_TOKEN"])
    graph, bo = client.graph("shop"), connect("BO").graph("shop")
    own: Any = cast(Any, graph)._of
    typed: Any = Awaited(Shop(own) if SYNC else AsyncShop(own))
    db = cast(AsyncShop, typed)

    # The server.
    assert (await down(client.health))["status"] == "ok"
    assert (await client.ready())["status"] == "ready"
    assert (await down(client.actor))["actor_id"] == "act-ada"
    assert [g["graph_id"] for g in (await client.graphs())["graphs"]] == ["shop", "team"]
    assert "omnigraph_" in await client.metrics()
    assert "/graphs/{id}/query" in (await client.openapi())["paths"]
    assert "/graphs/shop/queries/by_maker" in (await graph.openapi())["paths"]
    await refused(omnigraph.NotFoundError, client.resource_metadata())
    await refused(omnigraph.NotFoundError, graph.resource_metadata("mcp"))
    unknown = await refused(omnigraph.UnauthorizedError, connect("ADA", token="wrong").actor())
    assert unknown.code == "unauthorized" and "valid token" in str(unknown)

    # Loads, and 64-bit integers at their bounds.
    extremes = [-(2**63), 2**63 - 1, 2**53 + 1]
    made = dt.datetime(2026, 3, 1, 12, 30, 0, 123456, dt.timezone.utc)
    things = [{"type": "Thing", "data": {"sku": f"t-{i}", "state": "on-sale", "stock": n, "serial": 2**64 - 1, "lots": extremes, "made": made}} for i, n in enumerate(extremes)]
    makes = [{"edge": "Makes", "from": "acme", "to": f"t-{i}"} for i in range(3)]
    loaded = await down(lambda: graph.load([{"type": "Maker", "data": {"slug": "acme", "name": "Acme", "founded": dt.date(1950, 1, 2)}}, *things, *makes]))
    assert loaded["total_entities"] == 7 and loaded["commit"]
    rows: list[ByMakerRow] = await down(lambda: db.by_maker(maker="acme"))
    assert [r.stock for r in rows] == extremes and rows[0].lots == extremes and rows[0].serial == 2**64 - 1
    assert rows[0].made_at == made and rows[0].founded == dt.date(1950, 1, 2) and rows[0].weight is None
    state: ThingState = rows[0].state
    assert state == "on-sale"

    # Stored queries.
    key, photo = WriteOptions(idempotency_key=str(uuid.uuid4())), bytes([0, 1, 255, 128])
    dry = await db.add_thing(WriteOptions(dry_run=True), sku="lamp-1", stock=1, maker="acme")
    assert dry.get("dry_run") and dry["commit"] is None and len(dry.get("changes", [])) == 2

    def add(options: WriteOptions) -> Awaitable[MutationAnswer]:
        return db.add_thing(options, sku="lamp-1", stock=2**62, maker="acme", weight=0.1, price=Decimal("12.50"), made_at=made, lots=[-1], photo=photo)

    added = await down(lambda: add(key))
    again = await down(lambda: add(key))
    assert added["commit"] and again["commit"] and added["commit"]["graph_commit_id"] == again["commit"]["graph_commit_id"]
    head = added["commit"]["graph_commit_id"]
    exists = await refused(omnigraph.ConflictError, add(WriteOptions()))
    assert exists.envelope.get("key_conflict", {}).get("id") == "lamp-1"
    await refused(omnigraph.InvalidError, db.add_thing(sku="lamp-2", stock=1, maker="acme", weight=float("nan")))
    moved = await refused(omnigraph.PreconditionError, db.restock(WriteOptions(if_commit=loaded["commit"]["graph_commit_id"]), sku="lamp-1", by=1))
    assert moved.envelope.get("precondition_failure", {}).get("actual") == head
    restocked = await db.restock(WriteOptions(if_commit=head, message="one more,\n100 % sûr"), sku="lamp-1", by=1)
    assert restocked["commit"]
    assert (await graph.commit(restocked["commit"]["graph_commit_id"])).get("message") == "one more,\n100 % sûr"
    lamp = next(r for r in await db.by_maker(maker="acme") if r.sku == "lamp-1")
    assert (lamp.stock, lamp.weight, lamp.price, lamp.lots) == (2**62 + 1, 0.1, Decimal("12.50"), [-1])
    whole = await down(lambda: db.maker_with_things(maker="acme").one())
    assert whole.maker.name == "Acme" and len(whole.things) == 4 and whole.things[0].in_stock == 2**62 + 1
    assert await db.maker_with_things(maker="nobody").first() is None
    assert [r.sku for r in await db.find_things(state="on-sale", at_least=2**63 - 1)] == ["t-1"]
    row, received = await db.receive(maker="bolt", boxes=[ReceiveParamsBox(sku="b-1", stock=1, made_at=made), ReceiveParamsBox(sku="b-2", stock=2)])
    assert row and row.maker.slug == "bolt" and row.letters == 4 and received["affected_nodes"] == 3
    assert await db.things_without_maker() == []
    assert any(q["name"] == "by_maker" for q in (await down(graph.queries))["queries"])
    assert "Maker" in (await down(lambda: graph.explain("by_maker"))).get("plan", "")
    await refused(omnigraph.NotFoundError, graph.read("no_such").all())
    await refused(omnigraph.InvalidError, graph.write("by_maker", {"maker": "acme"}))
    assert (await graph.read_as(ByMakerRow, "by_maker", {"maker": "bolt"}).one()).sku == "b-1"
    await refused(ValueError, graph.write("restock", {"sku": "b-1", "by": dt.datetime.now()}))
    assert (await graph.write_as(ByMakerRow, "restock", {"sku": "no", "by": 1}))[0] is None

    # Texts.
    text = "query q($s: String) { match { $t: Thing { sku: $s } } return { $t.sku as sku, $t.stock as stock } limit 1 }"
    assert await down(lambda: graph.query(text, {"s": "t-1"})) == [{"sku": "t-1", "stock": 2**63 - 1}]
    wrong = await refused(omnigraph.InvalidError, graph.query("query q() { match { $t: Thingy } return { $t } limit 1 }").all())
    assert wrong.envelope.get("diagnostics")
    mutated = await down(lambda: graph.mutate('query m() { update Thing set { title: "Lamp" } where sku = "lamp-1" }'))
    assert mutated["affected_nodes"] == 1

    # Frames.
    shown = graph.query("query q() { match { $t: Thing } return { $t.sku as sku, $t.stock as stock, $t.serial as serial } order { $t.sku } limit 100 }")
    table = await shown.to_arrow()
    assert table.column("serial").to_pylist()[-1] == 2**64 - 1
    frame = await shown.to_polars()
    assert frame["stock"].to_list()[-3:] == extremes
    pandas = cast(Any, await shown.to_pandas())
    assert pandas["stock"].tolist()[-3:] == extremes and pandas["serial"].tolist()[-1] == 2**64 - 1
    relation = await shown.to_duckdb(duckdb.connect())
    assert relation.aggregate("max(stock)").fetchall() == [(2**63 - 1,)]

    # Big pages, an upload in pieces, and streams.
    many = 30_000
    lines = (f'{{"type":"Thing","data":{{"sku":"m-{i}","state":"draft","stock":{i},"title":"{"x" * 400}"}}}}\n{{"edge":"Makes","from":"bolt","to":"m-{i}"}}\n' for i in range(many))
    sending = asyncio.ensure_future(graph.load(lines, WriteOptions(branch="many"), from_="main"))
    await kill()
    assert (await sending)["total_entities"] == 2 * many
    with open("bolt.ndjson", "w+") as file:
        file.write('{"type":"Maker","data":{"slug":"bolt","name":"Bolt"}}\n')
        file.seek(0)
        assert (await graph.load(file, WriteOptions(branch="many"), mode="patch"))["total_entities"] == 1
    on_many = ReadOptions(branch="many")
    n = 0
    async for _ in db.by_maker(on_many, maker="bolt"):
        n += 1
    assert n == many + 2
    titles = graph.query("query q() { match { $t: Thing } return { $t.sku as sku, $t.title as title } order { $t.sku } limit 100000 }", None, on_many)
    assert (await titles.answer())["row_count"] == many + 6
    assert len(await graph.read("by_maker", {"maker": "bolt"}, ReadOptions(branch="many", max_rows=25_000, page_size=10_000))) == 25_000
    pages = await every(graph.read("by_maker", {"maker": "bolt"}, ReadOptions(branch="many", page_size=12_000)).pages())
    assert [p["row_count"] for p in pages] == [12_000, 12_000, 6_002]
    assert len(await (await down(titles.arrow)).read()) > many * 400
    exported = await down(lambda: graph.export({"type_names": ["Thing"], "branch": "many"}))
    assert len(await every(exported.records())) == many + 6
    assert exported.commit == (await graph.snapshot(branch="many"))["graph_commit_id"]
    assert len(await (await graph.export_arrow("Maker")).read()) > 100
    assert await (await down(lambda: graph.blob("node", "Thing", "lamp-1", "photo"))).read() == photo
    assert await (await graph.blob("node", "Thing", "lamp-1", "photo", first=1, last=2)).read() == photo[1:3]
    await refused(omnigraph.PreconditionError, graph.blob("node", "Thing", "lamp-1", "photo", if_commit="01M0000000000000000000000A"))
    id = await down(lambda: graph.open_upload("main"))
    await graph.append_upload(id, 0, b"{}")
    assert (await down(lambda: graph.upload(id)))["offset"] == 2
    await graph.delete_upload(id)

    # Branches, commits and changes.
    created = await graph.create_branch({"name": "review/june"})
    assert sorted(b["name"] for b in await down(lambda: every(graph.branches(2)))) == ["main", "many", "review/june"]
    await down(lambda: db.restock(WriteOptions(branch="review/june"), sku="t-2", by=5))
    assert (await graph.merge_branches({"source": "review/june", "dry_run": True})).get("dry_run")
    assert (await down(lambda: graph.merge_branches({"source": "review/june"})))["outcome"] == "fast_forward"
    await graph.delete_branch("review/june")
    await refused(omnigraph.NotFoundError, graph.delete_branch("review/june"))
    head = (await down(graph.snapshot))["graph_commit_id"]
    await refused(omnigraph.NotModifiedError, graph.snapshot(if_changed=head))
    commits = await down(lambda: every(graph.commits("main", 2)))
    assert len(commits) >= 6 and commits[0]["graph_commit_id"] == head
    assert (await down(lambda: graph.commit(created["graph_commit_id"])))["graph_commit_id"] == created["graph_commit_id"]
    changed = added["commit"]["graph_commit_id"]
    changes = await down(lambda: every(graph.commit_changes(changed, {"kind": ["node"], "limit": 1})))
    assert changes[0]["after"] and changes[0]["after"]["properties"]["stock"] == 2**62
    assert len((await down(lambda: graph.history("Thing", "t-2")))["versions"]) == 2
    assert (await graph.changes({"start": "latest"}))["caught_up"]
    blocks = [b for p in await down(lambda: every(graph.feed({"limit": 2}))) for b in p["blocks"]]
    assert len({b["cause"]["graph_commit_id"] for b in blocks}) == len(commits)
    baseline = await every((await down(graph.baseline)).records())
    seen: list[str] = []
    async for page in graph.follow({"cursor": baseline[-1]["baseline"]["resume_cursor"], "op": ["update"]}):
        seen += [c["id"] for b in page["blocks"] for c in b["changes"]]
        if len(seen) >= 3:
            break
        if page["caught_up"]:
            await down(lambda: db.restock(sku=f"t-{len(seen)}", by=1 if not seen else -1))
    assert seen == ["t-0", "t-1", "t-2"], seen

    # Watches. Each change is told once, although the server is killed in between.
    watch = await graph.create_watch({"query": "by_maker", "params": {"maker": "acme"}, "webhook": "http://127.0.0.1:1/hook"})
    watch_id = watch["watch_id"]
    its_hook = watch.get("webhook")
    assert its_hook and its_hook.get("secret", "").startswith("whsec_")
    hooks = [(w["watch_id"], w.get("webhook")) for w in (await down(graph.watches))["watches"]]
    assert [(of, h["url"], "secret" in h) for of, h in hooks if h] == [(watch_id, "http://127.0.0.1:1/hook", False)]
    resent = (await graph.redeliver_watch(watch_id)).get("webhook")
    assert resent and resent["undelivered"] == []
    emptied = (await graph.dismiss_undelivered(watch_id)).get("webhook")
    assert emptied and emptied["undelivered"] == []
    answered = await down(lambda: graph.watch_event(watch_id))
    assert answered["reset"] == "first" and len(answered.get("rows", [])) > 3
    told: list[int] = []
    async for event in graph.follow_watch(watch_id, answered["cursor"]):
        assert event["reset"] is None
        told += [int(c["after"]["stock"]) - int(c["before"]["stock"]) for c in event.get("changed", [])]
        if len(told) == 2:
            break
        if not told or "changed" in event:
            await down(lambda: db.restock(sku="t-2", by=-1))
    assert told == [-1, -1], told
    assert (await graph.delete_watch(watch_id))["deleted"] == watch_id

    # Proposals.
    await graph.create_branch({"name": "work"})
    await db.restock(WriteOptions(branch="work"), sku="b-1", by=1)
    opened = await graph.open_proposal({"source": "work", "title": "Count"})
    await graph.change_proposal(opened["id"], {"title": "Count again"})
    assert len((await down(lambda: graph.proposal_changes(opened["id"])))["changes"]) == 1
    await bo.review_proposal(opened["id"], {"decision": "comment", "comment": "Why?"})
    await bo.review_proposal(opened["id"], {"decision": "approve", "digest": opened["digest"]})
    proposal = await down(lambda: graph.proposal(opened["id"]))
    assert proposal["title"] == "Count again" and "act-bo" in proposal["approved_by"]
    assert (await graph.merge_proposal(opened["id"], {"digest": proposal["digest"]}))["state"] == "merged"
    await graph.create_branch({"name": "other"})
    await db.restock(WriteOptions(branch="other"), sku="b-2", by=1)
    other = await graph.open_proposal({"source": "other", "title": "Not this"})
    assert (await graph.close_proposal(other["id"]))["state"] == "closed"
    assert [p["state"] for p in await down(lambda: every(graph.proposals({"limit": 1})))] == ["closed", "merged"]
    events = await down(graph.proposal_events)
    assert events["caught_up"] and len(events["events"]) == 7
    async for following in graph.follow_proposals(cursor=events["events"][4]["id"]):
        assert len(following["events"]) == 2
        break
    counting = await graph.propose_query(
        {"name": "counted", "query": "query counted() { match { $t: Thing } return { count($t) as n } }", "description": "Counts all things.", "why": "It is asked each day."}
    )
    assert counting.get("query", {}).get("name") == "counted"
    assert (await down(graph.published_queries))["queries"] == []
    await graph.close_proposal(counting["id"])

    # The graph as a whole.
    assert "node Thing" in (await down(graph.schema))["schema_source"]
    assert len((await down(graph.types))["types"]) == 3
    belongs = await refused(omnigraph.ConflictError, graph.apply_schema({"schema_source": "node A { a: String @key }", "dry_run": True}))
    assert "belongs to a cluster" in str(belongs)
    assert (await down(graph.checks))["checks"][0]["outcome"] == "passed"
    assert len((await down(lambda: graph.access(actor="act-bo")))["decisions"]) > 5
    for _ in range(3):
        await db.find_things(state="gone")
    for _ in range(100):  # a record is in the trail soon after the answer
        if len(await every(graph.audit({"tool": "find_things", "limit": 2}))) > 2:
            break
        await asyncio.sleep(0.1)
    else:
        raise AssertionError("the audit trail lacks calls")
    assert (await down(graph.verify))["faults"] == []
    assert (await graph.cleanup({"keep_commits": 1, "dry_run": True}))["dry_run"]
    await refused(omnigraph.ForbiddenError, connect("FEW").graph("shop").schema())

    # Writes during kills count once.
    async def stock() -> int:
        return next(r.stock for r in await db.find_things(state="on-sale") if r.sku == "b-1")

    before = await stock()

    async def killing() -> None:
        while True:
            await kill()
            await asyncio.sleep(1.2)

    killer = asyncio.create_task(killing())
    for _ in range(40):
        await db.restock(sku="b-1", by=1)
    killer.cancel()
    await asyncio.wait([killer])
    assert await stock() == before + 40

    await kill()
    await refused(Exception, connect("ADA", timeout=0.05).health())
    # Answers that only a script gives.
    answer = {"query_name": "q", "target": {}, "columns": ["a"], "rows": [{"a": 1}], "row_count": 1, "truncated": True, "next_page_token": "same"}
    soon = {"Retry-After": "0"}
    await refused(omnigraph.UnavailableError, scripted((503, {"error": "too slow"}, {})).health())
    await refused(omnigraph.BusyError, scripted((429, {"error": "busy"}, soon)).graph("g").create_branch({"name": "b"}))
    redirect = await refused(omnigraph.ServerError, scripted((302, {}, {"Location": "http://elsewhere"})).health())
    assert "does not follow redirects" in str(redirect)
    assert (await scripted((429, {"error": "busy"}, soon), (503, {"error": "stops"}, soon), (200, {"status": "ok"}, {})).health())["status"] == "ok"
    await refused(omnigraph.NoProgress, scripted((200, answer, {}), (200, answer, {})).graph("g").query("…").all())

    if not SYNC:
        await client.aclose()
    for of in (omnigraph.Client, omnigraph.Graph):
        left = {n for n in vars(of) if not n.startswith("_") and inspect.isfunction(vars(of)[n])} - {c.partition(".")[2] for c in called if c.startswith(of.__name__ + ".")}
        assert left <= {"close"}, left
    print(f"every call of Python ({sys.argv[1]}) answered; {retried} requests repeated")


asyncio.run(main())
