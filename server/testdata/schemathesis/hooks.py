"""What the fuzzer has to be told of media types that it does not know."""

import atexit
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


@schemathesis.serializer("application/x-ndjson")
def serialize_ndjson(ctx, value):
    return value if isinstance(value, (bytes, str)) else str(value)


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
    "POST /graphs/{id}/schema/apply": "the schemas of a cluster follow its configuration",
}

operations = set()
statuses = Counter()
commits = ["none"]  # of main, the last one last


@schemathesis.hook
def after_load_schema(context, schema):
    for path, item in schema.raw_schema["paths"].items():
        operations.update(f"{method.upper()} {path}" for method in item)


def header(case, name):
    return next((key for key in case.headers or {} if key.lower() == name), None)


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
    if condition is not None and len(str(case.headers[condition])) % 2 == 1:
        case.headers[condition] = commits[-1]
    if "/queries/{name}" in case.operation.path and isinstance(case.body, dict) and not case.body.get("params"):
        name = str((case.path_parameters or {}).get("name"))
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
        if answer.get("branch") == "main" and answer.get("commit"):
            commits.append(answer["commit"])


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
