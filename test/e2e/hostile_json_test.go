package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// hostileJSON are JSON values, and texts that only look like one.
var hostileJSON = []struct {
	name, text string

	// `wellFormed` is true if the value may be accepted in a place where any value is allowed.
	// `fitting` is true if it may also be accepted where a string is required. All other texts must
	// be refused everywhere.
	wellFormed, fitting bool
}{
	{name: "100,000 objects deep", text: strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)},
	{name: "100,000 arrays deep", text: strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)},
	{name: "100,000 arrays deep and no end", text: strings.Repeat("[", 100_000)},
	{name: "500,000 ends", text: strings.Repeat("]", 500_000)},
	{name: "arrays and objects by turns", text: strings.Repeat(`[{"":`, 50_000) + "0" + strings.Repeat("}]", 50_000)},
	{name: "an array of 400,000", text: "[0" + strings.Repeat(",0", 400_000) + "]", wellFormed: true},
	{name: "an object of 50,000", text: wideObject(50_000), wellFormed: true},
	{name: "an object of 50,000 with one twice", text: `{"n1":0,` + wideObject(50_000)[1:]},
	{name: "a name twice", text: `{"a":1,"a":2}`},
	{name: "a name twice, once escaped", text: `{"a":1,"\u0061":2}`},
	{name: "a name twice, deeper", text: `{"x":[{"a":1,"a":2}]}`},
	{name: "bytes that are no UTF-8", text: "\"\xff\xfe\""},
	{name: "an overlong slash", text: "\"\xc0\xaf\""},
	{name: "a surrogate in UTF-8", text: "\"\xed\xa0\x80\""},
	{name: "a lone high surrogate", text: `"\ud800"`},
	{name: "a lone low surrogate", text: `"\udc00 x"`},
	{name: "surrogates the wrong way", text: `"\udc00\ud800"`},
	{name: "a byte order mark", text: "\ufeff\"a\""},
	{name: "a control character", text: "\"a\x01b\""},
	{name: "a line feed in a text", text: "\"a\nb\""},
	{name: "a NUL", text: "\x00"},
	{name: "a NUL, escaped", text: `"a\u0000b"`, wellFormed: true, fitting: true},
	{name: "1e999999", text: "1e999999", wellFormed: true, fitting: true},
	{name: "-1e-999999", text: "-1e-999999", wellFormed: true, fitting: true},
	{name: "900,000 digits", text: strings.Repeat("9", 900_000), wellFormed: true, fitting: true},
	{name: "900,000 digits after a point", text: "0." + strings.Repeat("9", 900_000), wellFormed: true, fitting: true},
	{name: "an exponent of 900,000 digits", text: "1e" + strings.Repeat("9", 900_000), wellFormed: true, fitting: true},
	{name: "NaN", text: "NaN"},
	{name: "Infinity", text: "-Infinity"},
	{name: "an octal number", text: "0777"},
	{name: "a hexadecimal number", text: "0xff"},
	{name: "a text of 900,000 bytes", text: `"` + strings.Repeat("a", 900_000) + `"`, wellFormed: true, fitting: true},
	{name: "a text of 150,000 escapes", text: `"` + strings.Repeat(`\u0041`, 150_000) + `"`, wellFormed: true, fitting: true},
	{name: "a text without end", text: `"` + strings.Repeat("a", 900_000)},
	{name: "900,000 blanks", text: strings.Repeat(" ", 900_000)},
	{name: "a comment", text: `/* a */ 1`},
	{name: "a trailing comma", text: `[1,]`},
	{name: "two values", text: `1 2`},
	{name: "nothing", text: ``},
}

func wideObject(n int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"n%d":0`, i)
	}
	return b.String() + "}"
}

// jsonPlaces are the places of a request that hold JSON. %s stands for the value.
var jsonPlaces = []struct {
	name, path, contentType, body string

	opaque   bool // any value is allowed
	optional bool // the value may be empty
}{
	{name: "a body", path: overREST, body: `%s`},
	{name: "the body of a mutation", path: "/graphs/code/mutate", body: `%s`},
	{name: "the body of a stored query", path: "/graphs/code/queries/notes_about", body: `%s`},
	{name: "params", path: overREST, body: `{"query":"query q($a: String) { match { $s: Symbol { path: $a } } return { $s.path as p } }","params":%s}`},
	{name: "a param", path: "/graphs/code/queries/notes_about", body: `{"params":{"symbol":%s}}`},
	{name: "an unknown param", path: "/graphs/code/queries/notes_about", body: `{"params":{"symbol":"a","other":%s}}`},
	{name: "a query", path: overREST, body: `{"query":%s}`},
	{name: "max_rows", path: overREST, body: `{"query":"query q() { match { $s: Symbol } return { $s.path as p } }","max_rows":%s}`},
	{name: "an unknown member", path: overREST, body: `{"query":"query q() { match { $s: Symbol } return { $s.path as p } }","other":%s}`},
	{name: "a message", path: overMCP, body: `%s`},
	{name: "a message in a batch", path: overMCP, body: `[%s]`},
	{name: "the id of a message", path: overMCP, body: `{"jsonrpc":"2.0","id":%s,"method":"ping"}`},
	{name: "the method of a message", path: overMCP, body: `{"jsonrpc":"2.0","id":1,"method":%s}`},
	{name: "the params of a message", path: overMCP, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`},
	{name: "the params of initialize", path: overMCP, body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":%s}`, opaque: true},
	{name: "an unknown member of a message", path: overMCP, body: `{"jsonrpc":"2.0","id":1,"method":"ping","other":%s}`, opaque: true},
	{name: "_meta", path: overMCP, body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":%s}}}`, opaque: true},
	{name: "arguments", path: overMCP, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_query","arguments":%s}}`},
	{name: "an argument", path: overMCP, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_query","arguments":{"query":%s}}}`},
	{name: "an argument's param", path: overMCP, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notes_about","arguments":{"params":{"symbol":%s}}}}`},
	{name: "a prompt's arguments", path: overMCP, body: `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"x","arguments":{"a":%s}}}`},
	{name: "a capability", path: overMCP, body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"n","version":"1"},"capabilities":{"experimental":{"x":%s}}}}`, opaque: true},
	{name: "a line of a load", path: "/graphs/code/load/ndjson?mode=merge", contentType: "application/x-ndjson", body: "%s\n", optional: true},
	{name: "the data of a line", path: "/graphs/code/load/ndjson?mode=merge", contentType: "application/x-ndjson", body: `{"type":"Note","data":%s}` + "\n"},
	{name: "a property of a line", path: "/graphs/code/load/ndjson?mode=merge", contentType: "application/x-ndjson", body: `{"type":"Note","data":{"slug":"s","created":"2026-01-01T00:00:00Z","text":%s}}` + "\n"},
	{name: "a number of a line", path: "/graphs/code/load/ndjson?mode=merge", contentType: "application/x-ndjson", body: `{"type":"File","data":{"path":"p","lines":%s}}` + "\n"},
	{name: "an unknown property of a line", path: "/graphs/code/load/ndjson?mode=merge", contentType: "application/x-ndjson", body: `{"type":"File","data":{"path":"p","lines":1,"other":%s}}` + "\n"},
}

// TestHostileJSON puts every hostile value into every place. Both transports must refuse a value
// that is malformed, is nested too deep or repeats a name.
func TestHostileJSON(t *testing.T) {
	b := besiege(t)
	for _, place := range jsonPlaces {
		for _, v := range hostileJSON {
			contentType := place.contentType
			if contentType == "" {
				contentType = asJSON
			}
			body := strings.Replace(place.body, "%s", v.text, 1)
			name := place.name + ": " + v.name
			r, err := b.exchange(b.request(place.path, contentType, body))
			if err == nil {
				err = r.check(200, 400, 404, 413)
			}
			blank := strings.TrimSpace(v.text) == ""
			may := v.fitting || v.wellFormed && place.opaque || blank && (place.optional || body == "")
			switch {
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case !may && !r.refused():
				t.Errorf("%s: taken with %d %.200s", name, r.status, r.body)
			}
		}
	}
}

// TestHostileNDJSON puts hostile values into the text that a load tool gets as one argument.
func TestHostileNDJSON(t *testing.T) {
	b := besiege(t)
	for _, v := range hostileJSON {
		for _, line := range []string{"%s", `{"type":"Note","data":%s}`, `{"type":"File","data":{"path":"p","lines":1,"other":%s}}`} {
			line = strings.Replace(line, "%s", v.text, 1)
			if len(line) < 1<<20 && !b.tool(t, "graph_load", map[string]any{"data": line, "mode": "merge"}) && strings.TrimSpace(line) != "" {
				t.Errorf("a load accepted %s in %.60s", v.name, line)
			}
		}
	}
	// The answer to many bad lines reports only a few of them.
	r, err := b.exchange(b.request("/graphs/code/load/ndjson?mode=merge", "application/x-ndjson", strings.Repeat("x\n", 1<<20)))
	if err == nil {
		err = r.check(400)
	}
	if err != nil {
		t.Errorf("a million bad lines: %v", err)
	}
	// A body over its limit ends the request, not the server. A stream of lines has no such limit.
	for _, length := range []int{32<<20 + 1, 64 << 20} {
		blanks := strings.Repeat(" ", length)
		r, err := b.exchange(b.request("/graphs/code/load", "application/json", blanks))
		if err == nil {
			err = r.check(413, closed)
		}
		if err != nil {
			t.Errorf("a body of %d bytes: %v", length, err)
		}
		if r, err = b.exchange(b.request("/graphs/code/load/ndjson?mode=merge", "application/x-ndjson", blanks)); err == nil {
			err = r.check(200)
		}
		if err != nil {
			t.Errorf("lines of %d bytes: %v", length, err)
		}
	}
}

// TestHostileQueries sends queries that are valid or almost valid, and that would run forever or
// use all memory. Each must end within the time and memory of a call.
func TestHostileQueries(t *testing.T) {
	b := besiege(t)
	read := func(clauses string) string {
		return "query q() { match { $s: Symbol " + clauses + " } return { $s.path as p } }"
	}
	var product, variables, params strings.Builder
	for i := range 9 {
		fmt.Fprintf(&product, "$p%d: Symbol ", i)
	}
	for i := range 5000 {
		fmt.Fprintf(&variables, "$v%d: Symbol { path: \"x\" } ", i)
		fmt.Fprintf(&params, "$p%d: String,", i)
	}
	queries := map[string]string{
		"100,000 nots deep":            read(strings.Repeat("not { ", 100_000) + strings.Repeat("}", 100_000)),
		"200 nots deep":                read(strings.Repeat("not { $s calls $_ ", 200) + strings.Repeat("}", 200)),
		"100,000 brackets":             read(strings.Repeat("[", 100_000)),
		"a list 100,000 deep":          read("$s.path = " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)),
		"functions 100,000 deep":       "query q() { match { $s: Symbol } return { " + strings.Repeat("count(", 100_000) + "$s" + strings.Repeat(")", 100_000) + " } }",
		"half a megabyte of one name":  strings.Repeat("a", 500_000),
		"half a megabyte of queries":   strings.Repeat("query q() {} ", 40_000),
		"half a megabyte of comments":  strings.Repeat("/*", 250_000),
		"half a megabyte of quotes":    strings.Repeat(`"`, 500_000),
		"half a megabyte of variables": strings.Repeat("$", 500_000),
		"half a megabyte of minus":     strings.Repeat("-", 500_000),
		"5,000 variables":              read(variables.String()),
		"5,000 parameters":             "query q(" + params.String() + "$z: String) { match { $s: Symbol { path: $z } } return { $s.path as p } }",
		"10,000 filters":               read(strings.Repeat(`$s.path != "x" `, 10_000)),
		"5,000 columns":                "query q() { match { $s: Symbol } return { " + strings.Repeat("$s.path ", 5000) + " } }",
		"a limit of 2^63":              "query q() { match { $s: Symbol } return { $s.path as p } limit 9223372036854775808 }",
		"a limit of 100,000 digits":    "query q() { match { $s: Symbol } return { $s.path as p } limit " + strings.Repeat("9", 100_000) + " }",
		"a walk of 2^31 steps":         read("$s calls{1,2147483647} $_"),
		"10^10 rows in a product":      "query q() { match { $s: Symbol " + product.String() + "} return { $s.path as p } }",
		"10^10 rows in order":          "query q() { match { $s: Symbol " + product.String() + "} return { $s.path as p } order { $p1.path } }",
		"10^10 rows counted":           "query q() { match { $s: Symbol " + product.String() + "} return { count($s) as n } }",
		"a search for half a megabyte": read(`search($s.words, "` + strings.Repeat("a b ", 100_000) + `")`),
		"a fuzzy half a megabyte":      read(`fuzzy($s.words, "` + strings.Repeat("a", 400_000) + `")`),
		"a match of half a megabyte":   read(`match_text($s.words, "` + strings.Repeat("(a+)+", 80_000) + `")`),
		"brackets in a text":           read(`match_text($s.words, "` + strings.Repeat("(", 200_000) + `")`),
		"half a megabyte of bm25":      "query q() { match { $s: Symbol } return { $s.path as p } order { bm25($s.words, \"" + strings.Repeat("w ", 200_000) + "\") } limit 1 }",
	}
	for name, query := range queries {
		for _, maxRows := range []string{"", `,"max_rows":9223372036854775807`, `,"max_rows":9223372036854775808`, `,"max_rows":-1`, `,"max_rows":1`} {
			if maxRows != "" && !strings.HasPrefix(name, "a limit") {
				continue
			}
			r, err := b.exchange(b.request(overREST, asJSON, `{"query":`+strconv.Quote(query)+maxRows+`}`, "X-Timeout-Ms: 3000"))
			if err == nil {
				// Status 503 means that the time ran out, and 413 that the memory did.
				err = r.check(200, 400, 413, 503)
			}
			if err != nil {
				t.Errorf("%s over REST%s: %v", name, maxRows, err)
			}
		}
		if !strings.Contains(name, "10^10") {
			b.tool(t, "graph_query", map[string]any{"query": query})
		}
		b.tool(t, "query_validate", map[string]any{"query": query})
	}
	// Send ten more of the widest query at the same time.
	done := make(chan error)
	for range 10 {
		go func() {
			r, err := b.exchange(b.request(overREST, asJSON, `{"query":`+strconv.Quote(queries["10^10 rows in a product"])+`}`, "X-Timeout-Ms: 5000"))
			if err == nil {
				err = r.check(413, 503) // 503 if the other queries use the memory
			}
			done <- err
		}()
	}
	for range 10 {
		if err := <-done; err != nil {
			t.Errorf("ten products at a time: %v", err)
		}
	}
}
