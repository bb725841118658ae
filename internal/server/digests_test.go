package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/rest"
)

// TestDigestsOfWrites sends every write over both transports. For each write, the log must contain
// a digest of the arguments and a digest of the idempotency key. Different arguments must have
// different digests.
func TestDigestsOfWrites(t *testing.T) {
	log, with := logTo(t, "debug")
	m := newRESTMatrix(t, with)
	const secret = "hush-7f3"
	asked := 0
	// line returns the log line of a request with one of the given messages. There must be exactly
	// one such line.
	line := func(id, what string, messages ...string) map[string]any {
		t.Helper()
		var found []map[string]any
		for _, l := range log.lines(t, "") {
			if l["request"] == id && slices.Contains(messages, l["msg"].(string)) {
				found = append(found, l)
			}
		}
		if len(found) != 1 {
			t.Errorf("%s: the lines %v are %v", what, messages, found)
			return map[string]any{}
		}
		return found[0]
	}
	// The requests of the matrix contain these names. The test replaces them with a name that is
	// unique for each request.
	written := []string{"zoe", "eve", "dan"}
	for _, row := range m.writes() {
		if strings.HasSuffix(row.path, "/import") {
			continue // there is no such upload, so nothing is called
		}
		r := routeOf(row.route)
		var digests []any
		for range 2 {
			asked++
			x := m.of(row, "main")
			id, word := fmt.Sprintf("write-%d", asked), fmt.Sprintf("%s-%d", secret, asked)
			for _, name := range written {
				x.body = strings.ReplaceAll(x.body, name, word)
			}
			if strings.Contains(row.path, "merge") {
				m.must("act-admin", "POST", "/mutate", fmt.Sprintf(`{"query":"query m() { insert Person { name: \"%s\" } }","branch":"release"}`, word))
			}
			x.header.Set("X-Request-Id", id)
			keyed := slices.ContainsFunc(r.Params, func(p rest.Param) bool { return p.Name == "Idempotency-Key" })
			if keyed {
				x.header.Set("Idempotency-Key", word)
			}
			if a := m.send("the-token-of-act-admin", x); a.status >= 500 {
				t.Errorf("%s: %d %s", row.name(), a.status, a.body)
			}
			call := line(id, row.name(), "call")
			if call["args"] == nil {
				t.Errorf("%s: no digest of its arguments in %v", row.name(), call)
			}
			digests = append(digests, call["args"])
			if r.Operation == "cleanup" || strings.Contains(row.path, "find_person") || strings.Contains(row.path, "everyone") {
				continue // not a write, but a dry run or a query that only reads
			}
			if audit := line(id, row.name(), "write", "write refused"); keyed && audit["idempotency_key"] == nil {
				t.Errorf("%s: no digest of its key in %v", row.name(), audit)
			}
		}
		differs := strings.Contains(row.path+row.body, "{A}") || strings.Contains(row.path, "{R}") || slices.ContainsFunc(written, func(s string) bool { return strings.Contains(row.body, s) })
		if (digests[0] != digests[1]) != differs {
			t.Errorf("%s: the digests are %v, and the arguments differ: %t", row.name(), digests, differs)
		}
	}
	tools := &matrix{t: t, url: m.url + "/graphs/people"}
	for _, tl := range tools.list("act-admin") {
		if tl.Annotations.ReadOnlyHint {
			continue
		}
		asked++
		id := fmt.Sprintf("write-%d", asked)
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tl.Name, tools.sampleArguments(tl, "feature"))
		a := tools.send("act-admin", "POST", "/mcp", call, http.Header{"X-Request-Id": {id}, "Mcp-Protocol-Version": {versions[0]}})
		if got := line(id, tl.Name, "call"); got["args"] == nil {
			t.Errorf("%s: no digest of its arguments in %v, which answered %s", tl.Name, got, a.body)
		}
	}
	for _, l := range log.lines(t, "") {
		if s := fmt.Sprint(l); strings.Contains(s, secret) {
			t.Errorf("the log tells what was sent: %s", s)
		}
	}
}
