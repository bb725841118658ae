package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
)

// TestServerAnswers checks the handling of answers that a working server would not send.
func TestServerAnswers(t *testing.T) {
	inFolder(t)
	write(t, "q.gq", "query q() { match { $p: Person } return { $p.name } }\n")
	for _, tt := range []struct {
		name   string
		status int
		body   string
		exit   int
		want   string
	}{
		{"a proxy's page", 502, "<html>Bad Gateway</html>", 1, "502 Bad Gateway without an error message"},
		{"an empty refusal", 500, "", 1, "500 Internal Server Error"},
		{"no JSON", 200, "<html>Welcome</html>", 1, "invalid character"},
		{"rows that are no objects", 200, `{"columns":["a"],"rows":[1]}`, 1, "is not an object"},
		{"denied", 403, `{"error":"the policy does not allow read","code":"forbidden"}`, 3, "does not allow read"},
		{"no token", 401, `{"error":"no token","code":"unauthorized"}`, 3, "set OMNIGRAPH_TOKEN"},
		{"another head", 412, `{"error":"the branch is at commit X"}`, 4, "at commit X"},
		{"a message for the terminal", 400, `{"error":"one\u001b[2J\ntwo\r","code":"bad_request"}`, 1, "omnigraph: one\\x1b[2J\ntwo\\r\n"},
		{"busy", 429, `{"error":"too many requests","code":"too_many_requests"}`, 1, "too many requests"},
		{"a severity from the future", 400, `{"error":"faults","diagnostics":[{"code":"T1","severity":"fatal","message":"m"}]}`, 1, "400 Bad Request without an error message"},
		{"a span outside of the text", 400, `{"error":"faults","diagnostics":[{"code":"T1","severity":"error","message":"m","span":{"file":"query","start":{"offset":900,"line":70,"column":3},"end":{"offset":-4,"line":-1,"column":0}}}]}`, 1, "error T1: m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer srv.Close()
			code, stdout, stderr := omnigraph(t, "", "query", "--server", srv.URL, "--graph", "g", "--query", "q.gq", "--format", "csv")
			if code != tt.exit || stdout != "" || !strings.Contains(stderr, tt.want) {
				t.Errorf("exit code %d, printed %q and %q, want %d and %q", code, stdout, stderr, tt.exit, tt.want)
			}
		})
	}
}

// TestValues checks that a list of changes prints values of every kind in the same form as the
// result of a read.
func TestValues(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "s.pg", `node All {
  key: String @key
  flag: Bool?
  i: I32?
  l: I64?
  u: U32?
  w: U64?
  f: F32?
  d: F64?
  day: Date?
  at: DateTime?
  raw: Blob?
  v: Vector(3)?
  tags: [String]?
  days: [Date]?
  none: String?
}
`)
	write(t, "data.ndjson", `{"type":"All","data":{"key":"a <&> \"b\"","flag":true,"i":-7,"l":"-9223372036854775808","u":4294967295,"w":"18446744073709551615","f":0.1,"d":1e300,`+
		`"day":"2020-02-29","at":"2021-01-02T03:04:05.678Z","raw":"AQID","v":[0.25,-1,3e-9],"tags":["x","y \u00e9"],"days":["1999-12-31"]}}`+"\n")
	names := strings.Fields("key flag i l u w f d day at v tags days none")
	for i, n := range names {
		names[i] = "$a." + n + " as " + n
	}
	write(t, "q.gq", "query q() { match { $a: All } return { "+strings.Join(names, ", ")+" } }\n")
	run := func(args string) []byte {
		t.Helper()
		code, stdout, stderr := omnigraph(t, "", strings.Fields(args)...)
		if code != 0 {
			t.Fatalf("%s: %d %s", args, code, stderr)
		}
		return []byte(stdout)
	}
	run("init --schema s.pg --store g")
	run("load --store g --data data.ndjson")
	var read struct {
		Rows   []map[string]json.RawMessage `json:"rows"`
		Commit string                       `json:"graph_commit_id"`
	}
	if err := json.Unmarshal(run("query --store g --query q.gq"), &read); err != nil {
		t.Fatal(err)
	}
	var changes client.ChangesAnswer
	if err := json.Unmarshal(run("changes --store g "+read.Commit), &changes); err != nil {
		t.Fatal(err)
	}
	if len(changes.Changes) != 1 || changes.Changes[0].After == nil || len(changes.Changes[0].After.Properties) != 15 {
		t.Fatalf("%+v", changes)
	}
	for name, value := range changes.Changes[0].After.Properties {
		want := string(read.Rows[0][name])
		if name == "raw" {
			want = `"AQID"` // a query cannot return blobs
		}
		if got := string(value); got != want {
			t.Errorf("%s is %s in the changes, %s in the read", name, got, want)
		}
	}
}
