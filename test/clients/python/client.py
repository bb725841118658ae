"""Calls stored queries of the code graph with a client that was generated from the graph's OpenAPI
document. mypy checks the types before the program runs."""

import os

from code_client import AuthenticatedClient
from code_client.api.queries import add_note, find_symbols, most_called, notes_about
from code_client.models import (
    AddNoteBody,
    AddNoteArguments,
    AddNoteOmnigraphIntegers,
    Envelope,
    FindSymbolsAnswer,
    FindSymbolsBody,
    FindSymbolsOmnigraphIntegers,
    FindSymbolsArguments,
    FindSymbolsRow,
    MostCalledAnswer,
    MostCalledBody,
    MostCalledArguments,
    MostCalledOmnigraphIntegers,
    MutationAnswer,
    NotesAboutAnswer,
    NotesAboutBody,
    NotesAboutOmnigraphIntegers,
    NotesAboutArguments,
)
from code_client.types import Unset

client = AuthenticatedClient(base_url=os.environ["OMNIGRAPH_URL"], token=os.environ["OMNIGRAPH_TOKEN"])

found = find_symbols.sync(client=client, omnigraph_integers=FindSymbolsOmnigraphIntegers.STRING, body=FindSymbolsBody(params=FindSymbolsArguments(words="shelf", limit=5)))
assert isinstance(found, FindSymbolsAnswer), found
rows: list[FindSymbolsRow] = found.rows
first = rows[0]
path: str = first.path
signature: str | None = first.signature
assert found.row_count == len(rows) and path and (signature is None or signature)

called = most_called.sync(client=client, omnigraph_integers=MostCalledOmnigraphIntegers.STRING, body=MostCalledBody(params=MostCalledArguments(limit=1)))
assert isinstance(called, MostCalledAnswer), called
callers: str = called.rows[0].callers  # an integer of 64 bits is a string of digits
assert int(callers) > 0

pages: list[str] = []
body = FindSymbolsBody(params=FindSymbolsArguments(words="shelf"), max_rows=1)
while True:
    page = find_symbols.sync(client=client, omnigraph_integers=FindSymbolsOmnigraphIntegers.STRING, body=body)
    assert isinstance(page, FindSymbolsAnswer), page
    pages += [row.path for row in page.rows]
    if isinstance(page.next_page_token, Unset):
        break
    body.page_token = page.next_page_token
assert 1 < len(pages) == len(set(pages))

note = AddNoteBody(params=AddNoteArguments(slug="from-python", symbol=path, text="Hello."))
for _ in range(2):
    added = add_note.sync(client=client, omnigraph_integers=AddNoteOmnigraphIntegers.STRING, body=note, idempotency_key="python-1")
    assert isinstance(added, MutationAnswer), added
    assert added.affected_nodes == 1
notes = notes_about.sync(client=client, omnigraph_integers=NotesAboutOmnigraphIntegers.STRING, body=NotesAboutBody(params=NotesAboutArguments(symbol=path)))
assert isinstance(notes, NotesAboutAnswer), notes
assert [row.slug for row in notes.rows].count("from-python") == 1

refused = find_symbols.sync(client=client, omnigraph_integers=FindSymbolsOmnigraphIntegers.STRING, body=FindSymbolsBody(params=FindSymbolsArguments(words="x", limit=100_000)))
assert isinstance(refused, Envelope), refused
assert refused.error


def faults() -> None:
    """These calls would be faults, and mypy must find each: the function is never called."""
    FindSymbolsArguments()  # type: ignore[call-arg]
    MostCalledArguments(limit="many")  # type: ignore[arg-type]
    first.nothing  # type: ignore[attr-defined]
