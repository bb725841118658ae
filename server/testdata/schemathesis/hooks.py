"""What the fuzzer has to be told of media types that it does not know."""

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


@schemathesis.hook
def before_call(context, case, kwargs):
    """A deadline that no request meets is answered 503, as it should be; that says nothing
    of the server. Whatever is no such number stays."""
    header = next((name for name in case.headers or {} if name.lower() == "x-timeout-ms"), None)
    if header is None:
        return
    value = str(case.headers[header])
    if value.isascii() and value.isdigit() and 1 <= int(value) < 60_000:
        case.headers[header] = "60000"
