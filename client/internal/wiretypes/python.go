package wiretypes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// python is what types look like in Python.
var python = &language{
	scalars: map[string]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool"},
	unknown: "Any", row: "Row", params: "Params", null: "None",
	list:     func(of string) string { return "list[" + of + "]" },
	literals: func(values []string) string { return "Literal[" + quoted(values, ", ") + "]" },
	object:   func(*language, properties) string { return "Row" },
}

// Python returns the types as a module of Python.
func (t *Types) Python() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n\"\"\"The types of requests and answers.\"\"\"\n\nfrom typing import Any, Literal, NotRequired, TypedDict\n\nfrom omnigraph.values import Params, Row\n", Header)
	for _, name := range t.names {
		s := t.schemas[name]
		// A class cannot have a member with the name of a keyword, or of a type that another member has.
		if slices.ContainsFunc(s.Properties, func(p property) bool { return p.name == "from" || p.name == "list" }) {
			fmt.Fprintf(&b, "\n\n%s = TypedDict(\n    %q,\n    {\n", name, name)
			for _, p := range s.Properties {
				pydoc(&b, "        ", p.schema.Description)
				fmt.Fprintf(&b, "        %q: %s,\n", p.name, t.pythonMember(s, p, name))
			}
			b.WriteString("    },\n)\n")
			continue
		}
		fmt.Fprintf(&b, "\n\nclass %s(TypedDict):\n", name)
		if s.Description != "" {
			fmt.Fprintf(&b, "    \"\"\"%s\"\"\"\n\n", s.Description)
		}
		for _, p := range s.Properties {
			pydoc(&b, "    ", p.schema.Description)
			fmt.Fprintf(&b, "    %s: %s\n", p.name, t.pythonMember(s, p, name))
		}
		if len(s.Properties) == 0 && s.Description == "" {
			b.WriteString("    pass\n")
		}
	}
	return []byte(b.String())
}

// pythonMember returns the type of a member. It is quoted if it names another type, which may be declared later.
func (t *Types) pythonMember(s *schema, p property, in string) string {
	typ := python.typeOf(p.schema, in)
	if slices.ContainsFunc(words.FindAllString(typ, -1), func(name string) bool { return t.schemas[name] != nil }) {
		typ = `"` + typ + `"`
	}
	if slices.Contains(s.Required, p.name) {
		return typ
	}
	return "NotRequired[" + typ + "]"
}

// words matches the names in a type.
var words = regexp.MustCompile(`\w+`)

// pydoc writes a comment, unless the text is empty.
func pydoc(b *strings.Builder, indent, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s# %s\n", indent, text)
	}
}

// PythonErrors returns the classes of errors as a module of Python.
func PythonErrors(refusals []Refusal) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n\"\"\"The errors of a server by the status of its answer.\"\"\"\n\nfrom omnigraph.errors import ServerError\n", Header)
	for _, r := range refusals {
		fmt.Fprintf(&b, "\n\nclass %s(ServerError):\n    \"\"\"Status %d: %s.\"\"\"\n", r.Class, r.Status, r.Text)
	}
	b.WriteString("\n\nby_status: dict[int, type[ServerError]] = {\n")
	for _, r := range refusals {
		fmt.Fprintf(&b, "    %d: %s,\n", r.Status, r.Class)
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// blocking are the names of asynchronous Python, and those that replace them.
var blocking = strings.NewReplacer(
	"The client for asyncio. The blocking client, _sync.py, is generated from this file.", "The blocking client.",
	"The answers of the client for asyncio. The blocking form, _sync_rows.py, is generated from this file.", "The answers of the blocking client.",
	"_async", "_sync", "AsyncIterator, Callable, Generator", "Callable, Iterator", "AsyncIterator, Callable, Iterable, Mapping", "Callable, Iterable, Iterator, Mapping",
	"async def ", "def ", "async with ", "with ", "async for ", "for ", "await ", "",
	"__aiter__", "__iter__", "__aenter__", "__enter__", "__aexit__", "__exit__",
	"AsyncIterator", "Iterator", "AsyncClient", "Client", "AsyncGraph", "Graph", "AsyncRows", "Rows", "AsyncStream", "Stream",
	"aclose", "close", "aread", "read", "aiter_bytes", "iter_bytes", "asyncio.sleep", "time.sleep", "import asyncio\nimport json\n", "import json\nimport time\n",
)

// onlyAsync matches what stands in the asynchronous module alone.
var onlyAsync = regexp.MustCompile(`(?s) *# async:\n.*?# end async\n`)

// Blocking returns the blocking form of the module with the given name, which uses asyncio.
func Blocking(name string, async []byte) []byte {
	text := onlyAsync.ReplaceAllString(string(async), "")
	return []byte("# Code generated from " + name + "; DO NOT EDIT.\n\n" + blocking.Replace(text))
}
