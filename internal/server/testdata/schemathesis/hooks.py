"""What the fuzzer has to be told of media types that it does not know."""

import atexit
import json
from collections import Counter

import schemathesis
from hypothesis import strategies as st

LINES = [
    b'{"type":"Package","data":{"path":"example.com/new","name":"new","files":1,"lines":2}}',
    b'{"type":"Package","data":{"path":"example.com/new"}}',
    b'{"type":"Note","data":{"slug":"n","text":"t","created":"2026-01-02T03:04:05Z"}}',
    b'{"edge":"Imports","from":"example.com/new","to":"example.com/shop/stock"}',
    b"",
]

NDJSON = st.lists(st.one_of(st.sampled_from(LINES), st.binary(max_size=40)), max_size=8).map(b"\n".join)

schemathesis.openapi.media_type("application/x-ndjson", NDJSON)


# Parameters that fit the stored queries.
PARAMS = {
    "get_package": {"path": "example.com/shop/stock"},
    "importers": {"package": "example.com/shop/stock"},
    "notes_about": {"symbol": "example.com/shop/stock.Shelf"},
    "add_note": {"slug": "n", "symbol": "example.com/shop/stock.Shelf", "text": "t"},
    "remove_note": {"slug": "n"},
}

# What no request of this run can be served by, and why.
NEVER_SERVED = {
    "POST /graphs/{id}/proposals/{proposal}/merge": "it needs writes to the source between two requests",
    "POST /graphs/{id}/proposals/{proposal}/review": "it needs a proposal that is still open, which the run seldom has",
    "POST /graphs/{id}/schema/apply": "the schemas of a cluster follow its configuration",
}

operations = set()
statuses = Counter()
with open("loaded.json", encoding="utf-8") as loaded:
    commits = [json.load(loaded)["commit"]["graph_commit_id"]]  # of main, the last one last
proposals = []  # ids of the proposals that this run opened, the last one last
stand_in = None  # what examples have for the last commit of main


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Takes out the example of a body that a strategy makes, since those have to be bytes."""
    global stand_in
    for parameter in raw_schema["paths"]["/graphs/{id}/commits/{commit}"]["get"]["parameters"]:
        if parameter["name"] == "commit":
            stand_in = parameter["example"]
    for item in raw_schema["paths"].values():
        for operation in item.values():
            operation.get("requestBody", {}).get("content", {}).get("application/x-ndjson", {}).pop("example", None)


@schemathesis.hook
def after_load_schema(context, schema):
    for path, item in schema.raw_schema["paths"].items():
        operations.update(f"{method.upper()} {path}" for method in item)


def header(case, name):
    return next((key for key in case.headers or {} if key.lower() == name), None)


def commit_for(value):
    """Is the last commit in the place of the examples' one, and of every other text."""
    return commits[-1] if value == stand_in or len(str(value)) % 2 == 1 else value


@schemathesis.hook
def before_call(context, case, kwargs):
    """Puts what only a caller of this server knows where the fuzzer left room for it."""
    # A deadline that no request meets is answered 503, as it should be; that says nothing
    # of the server. Whatever is no such number stays.
    timeout = header(case, "x-timeout-ms")
    if timeout is not None:
        value = str(case.headers[timeout])
        if value.isascii() and value.isdigit() and 1 <= int(value) < 60_000:
            case.headers[timeout] = "60000"
    condition = header(case, "omnigraph-if-graph-commit")
    if condition is not None:
        case.headers[condition] = commit_for(case.headers[condition])
    path = case.path_parameters or {}
    if "commit" in path:
        path["commit"] = commit_for(path["commit"])
    if "proposal" in path and proposals and len(str(path["proposal"])) % 3 != 1:
        path["proposal"] = proposals[-1]
    if case.operation.path == "/graphs/{id}/proposals" and isinstance(case.body, dict) and (not proposals or len(str(case.body)) % 2 == 1):
        case.body = {"source": "proposed", "title": "A package"}  # run.sh makes this branch; no request deletes it
    if case.operation.path.endswith("/review") and isinstance(case.body, dict) and len(case.body) % 2 == 1:
        case.body = {"decision": "comment", "comment": "a comment"}  # a decision needs the digest of an answer
    query = case.query if isinstance(case.query, dict) else {}
    if case.operation.path == "/graphs/{id}/changes" and len(str(query)) % 3 == 1:
        query = case.query = {"cursor": commits[-1]}  # the fuzzer guesses no cursor
    if "snapshot" in query and "branch" in query:
        # A read is of one of them. With both it is refused, and that is soon tried.
        del query["branch" if len(str(query["snapshot"])) % 2 == 1 else "snapshot"]
    if "snapshot" in query:
        query["snapshot"] = commit_for(query["snapshot"])
    if "/queries/{name}" in case.operation.path and isinstance(case.body, dict) and not case.body.get("params"):
        name = str(path.get("name"))
        if name in PARAMS:
            case.body["params"] = PARAMS[name]


@schemathesis.hook
def after_call(context, case, response):
    """Counts the answers by operation and status, and keeps the last commit."""
    operation = case.operation
    statuses[f"{operation.method.upper()} {operation.path}", response.status_code] += 1
    media = response.headers.get("content-type", [""])[0]
    if response.status_code == 200 and media == "application/json":
        answer = response.json()
        if f"{operation.method.upper()} {operation.path}" == "POST /graphs/{id}/proposals":
            proposals.append(answer["id"])
        commit = answer.get("graph_commit_id") or (answer.get("commit") or {}).get("graph_commit_id")
        if answer.get("branch", answer.get("target")) == "main" and commit:
            commits.append(commit)


@atexit.register
def report():
    """Writes the counts, and which operations never were served: of those the run has shown
    little."""
    with open("statuses", "w", encoding="utf-8") as f:
        for (operation, status), n in sorted(statuses.items()):
            print(operation, status, n, sep="\t", file=f)
    served = {operation for (operation, status) in statuses if status < 400}
    with open("unserved", "w", encoding="utf-8") as f:
        for operation in sorted(operations - served - NEVER_SERVED.keys()):
            print(operation, file=f)
