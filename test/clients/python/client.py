"""Calls stored queries of the code graph with a client that was generated from the graph's OpenAPI
document. mypy checks the types before the program runs."""

import os

from code_client import AuthenticatedClient
from code_client.api.queries import add_note, find_symbols, most_called, notes_about
from code_client.models import (
    AddNoteBody,
    AddNoteParams,
    Error,
    FindSymbolsAnswer,
    FindSymbolsBody,
    FindSymbolsParams,
    FindSymbolsRow,
    MostCalledAnswer,
    MostCalledBody,
    MostCalledParams,
    MutationAnswer,
    NotesAboutAnswer,
    NotesAboutBody,
    NotesAboutParams,
)
from code_client.types import Unset

client = AuthenticatedClient(base_url=os.environ["OMNIGRAPH_URL"], token=os.environ["OMNIGRAPH_TOKEN"])

found = find_symbols.sync(client=client, body=FindSymbolsBody(params=FindSymbolsParams(words="shelf", limit=5)))
assert isinstance(found, FindSymbolsAnswer), found
rows: list[FindSymbolsRow] = found.rows
first = rows[0]
path: str = first.path
signature: str | None = first.signature
assert found.row_count == len(rows) and path and (signature is None or signature)

called = most_called.sync(client=client, body=MostCalledBody(params=MostCalledParams(limit=1)))
assert isinstance(called, MostCalledAnswer), called
callers: int = called.rows[0].callers
assert callers > 0

pages: list[str] = []
body = FindSymbolsBody(params=FindSymbolsParams(words="shelf"), max_rows=1)
while True:
    page = find_symbols.sync(client=client, body=body)
    assert isinstance(page, FindSymbolsAnswer), page
    pages += [row.path for row in page.rows]
    if isinstance(page.next_page_token, Unset):
        break
    body.page_token = page.next_page_token
assert 1 < len(pages) == len(set(pages))

note = AddNoteBody(params=AddNoteParams(slug="from-python", symbol=path, text="Hello."))
for _ in range(2):
    added = add_note.sync(client=client, body=note, idempotency_key="python-1")
    assert isinstance(added, MutationAnswer), added
    assert added.affected_nodes == 1
notes = notes_about.sync(client=client, body=NotesAboutBody(params=NotesAboutParams(symbol=path)))
assert isinstance(notes, NotesAboutAnswer), notes
assert [row.slug for row in notes.rows].count("from-python") == 1

refused = find_symbols.sync(client=client, body=FindSymbolsBody(params=FindSymbolsParams(words="x", limit=100_000)))
assert isinstance(refused, Error), refused
assert refused.error


def faults() -> None:
    """These calls would be faults, and mypy must find each: the function is never called."""
    FindSymbolsParams()  # type: ignore[call-arg]
    MostCalledParams(limit="many")  # type: ignore[arg-type]
    first.nothing  # type: ignore[attr-defined]
