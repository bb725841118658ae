"""Calls stored queries of the code graph with a client that openapi-generator made from the graph's
OpenAPI document. mypy checks the types before the program runs."""

import os

from openapi_client import (
    ApiClient,
    Configuration,
    QueriesApi,
    AddNoteArguments,
    AddNoteBody,
    Envelope,
    FindSymbolsArguments,
    FindSymbolsBody,
    FindSymbolsRow,
    MostCalledArguments,
    MostCalledBody,
    NotesAboutArguments,
    NotesAboutBody,
)
from openapi_client.exceptions import BadRequestException

queries = QueriesApi(ApiClient(Configuration(host=os.environ["OMNIGRAPH_URL"], access_token=os.environ["OMNIGRAPH_TOKEN"])))

found = queries.find_symbols(omnigraph_integers="string", find_symbols_body=FindSymbolsBody(params=FindSymbolsArguments(words="shelf", limit=5)))
rows: list[FindSymbolsRow] = found.rows
path: str = rows[0].path
signature: str | None = rows[0].signature
assert found.row_count == len(rows) and path and (signature is None or signature)

called = queries.most_called(omnigraph_integers="string", most_called_body=MostCalledBody(params=MostCalledArguments(limit=1)))
callers: str = called.rows[0].callers  # an integer of 64 bits is a string of digits
assert int(callers) > 0

pages: list[str] = []
body = FindSymbolsBody(params=FindSymbolsArguments(words="shelf"), max_rows=1)
while True:
    page = queries.find_symbols(omnigraph_integers="string", find_symbols_body=body)
    pages += [row.path for row in page.rows]
    if page.next_page_token is None:
        break
    body.page_token = page.next_page_token
assert 1 < len(pages) == len(set(pages))

note = AddNoteBody(params=AddNoteArguments(slug="from-generator", symbol=path, text="Hello."))
for _ in range(2):
    added = queries.add_note(omnigraph_integers="string", add_note_body=note, idempotency_key="generator-1")
    assert added.affected_nodes == 1 and added.commit is not None
notes = queries.notes_about(omnigraph_integers="string", notes_about_body=NotesAboutBody(params=NotesAboutArguments(symbol=path)))
assert [row.slug for row in notes.rows].count("from-generator") == 1

try:
    queries.find_symbols(omnigraph_integers="string", find_symbols_body=FindSymbolsBody(params=FindSymbolsArguments.model_construct(words="x", limit=100_000)))
    raise AssertionError("the server took a limit of 100,000")
except BadRequestException as e:
    assert isinstance(e.data, Envelope) and e.data.code == "bad_request", e
