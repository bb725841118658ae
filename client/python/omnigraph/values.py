"""Values: how arguments become JSON, and how rows become values of Python."""

import base64
import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, Union

Params = Mapping[str, Any]
"""Arguments by name. An aware datetime is an instant, and bytes are a Blob."""

Row = dict[str, Any]
"""A row, or the properties of an entity. Integers have all their digits."""


def wire_name(field: "dataclasses.Field[Any]") -> str:
    """Returns the name that a field of a row or of a record has in the query."""
    return str(field.metadata.get("name", field.name))


def plain(value: Any) -> Any:
    """Returns a value in the form in which the server takes it as JSON."""
    if isinstance(value, float) and not math.isfinite(value):  # the server refuses it with the name of the argument
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"the datetime {value} has no time zone; give it one, such as datetime.timezone.utc")
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = ((wire_name(f), getattr(value, f.name)) for f in dataclasses.fields(value))
        return {name: plain(v) for name, v in members if v is not None}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def to_json(value: Any) -> bytes:
    """Writes a value as JSON."""
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


Decode = Callable[[Any], Any]


def decoder(of: Any) -> Decode:
    """Returns a function that makes a value of a type from one of an answer."""
    return _decoder(of)


@functools.cache
def _decoder(of: Any) -> Decode:
    origin, args = typing.get_origin(of), typing.get_args(of)
    if origin in (Union, types.UnionType):
        inner = decoder(next(a for a in args if a is not types.NoneType))
        return lambda v: None if v is None else inner(v)
    if origin is list:
        element = decoder(args[0])
        return lambda v: [element(e) for e in v]
    if dataclasses.is_dataclass(of):
        return _record(typing.cast("type[Any]", of))
    if of is float:
        return float
    if of is Decimal:
        return Decimal
    if of is datetime:
        return lambda v: datetime.fromisoformat(v)
    if of is date:
        return lambda v: date.fromisoformat(v)
    if of is bytes:
        return base64.b64decode
    if origin is Literal or of in (str, int, bool, Any):
        return lambda v: v
    raise TypeError(f"no value of an answer has the type {of}")


def _record(of: type[Any]) -> Decode:
    hints = typing.get_type_hints(of)
    fields = [(f.name, wire_name(f), decoder(hints[f.name])) for f in dataclasses.fields(of)]

    def decode(row: Row) -> Any:
        try:
            return of(**{name: value(row[wire]) for name, wire, value in fields})
        except KeyError as e:
            raise ValueError(f"the answer has no {e.args[0]}; generate the types again from the server's queries") from None

    return decode
