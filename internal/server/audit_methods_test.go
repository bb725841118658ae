package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
)

// TestAuditMethods sends each method of MCP as an actor who may read main and as one who may do nothing. Each call makes one record, with what
// was denied.
func TestAuditMethods(t *testing.T) {
	w := newRESTMatrix(t)
	m := &matrix{t: t, url: w.url + "/graphs/people"}
	records := func(query string) (found []client.AuditRecord) {
		t.Helper()
		var list struct{ Records []client.AuditRecord }
		if err := json.Unmarshal([]byte(w.must("act-admin", "GET", "/audit?limit=200&"+query, "").body), &list); err != nil {
			t.Fatal(err)
		}
		return list.Records
	}
	none := map[string]bool{"ping": true, "subscriptions/listen": true} // a stream lasts; see TestPartListens for one
	for _, name := range mcp.Methods() {
		if strings.HasPrefix(name, "notifications/") || none[name] {
			continue
		}
		want := 0
		for _, actor := range []string{"act-reader", "act-nothing"} {
			for _, params := range partMethods[name].params {
				_, subject, _ := strings.Cut(params, `":"`)
				subject, _, _ = strings.Cut(subject, `"`)
				for _, version := range versions {
					if a := m.rpc(actor, version, name, subject, params); !strings.Contains(a.body, "-32601") { // else this version has no such method
						want++
					}
				}
			}
		}
		found := len(records("tool=" + url.QueryEscape(name)))
		switch name {
		case "tools/call":
			continue // the records have the tools
		case "resources/read":
			found += len(records("actor=act-reader&tool=proposals")) // a call of an operation
		}
		if found != want || want == 0 {
			t.Errorf("%s has %d records, not %d", name, found, want)
		}
	}
	for _, uri := range []string{"omnigraph://schema", "omnigraph://branches/main"} {
		m.rpc("act-nothing", versions[0], "resources/read", uri, fmt.Sprintf(`"uri":%q`, uri))
		if r := records("actor=act-nothing&tool=resources/read")[0]; r.Outcome != "not_found" || r.DeniedAction != "read" || r.Digest == "" {
			t.Errorf("the record of %s is %+v", uri, r)
		}
	}
	m.rpc("act-nothing", versions[0], "prompts/get", "write_query", `"name":"write_query","arguments":{"intent":"x"}`)
	if r := records("actor=act-nothing&tool=prompts/get")[0]; r.DeniedAction != "read" {
		t.Errorf("the record of a prompt is %+v", r)
	}
	m.rpc("act-reader", versions[0], "resources/read", "omnigraph://nothing", `"uri":"omnigraph://nothing"`)
	if r := records("actor=act-reader&tool=resources/read")[0]; r.DeniedAction != "" || r.Outcome != "not_found" {
		t.Errorf("the record of a resource that does not exist is %+v", r)
	}
	for _, tt := range []struct{ method, subject, params string }{
		{"resources/read", "omnigraph://schema", `"uri":"omnigraph://schema"`},
		{"resources/read", "omnigraph://branches/main", `"uri":"omnigraph://branches/main"`},
		{"prompts/get", "write_query", `"name":"write_query","arguments":{"intent":"x"}`},
	} {
		m.rpc("act-guarded", versions[0], tt.method, tt.subject, tt.params)
		if r := records("actor=act-guarded&tool=" + tt.method)[0]; r.DeniedAction != "read" || !slices.Equal(r.Rules, []string{"guarded-not-on-protected"}) {
			t.Errorf("the record of %s, which a rule hides, is %+v", tt.subject, r)
		}
	}
	for range 50 {
		w.send("no-such-token", exchange{"GET", "/graphs/people/snapshot", "", nil})
		w.send("", exchange{"POST", "/graphs/people/mcp", "{}", nil})
	}
	w.send("", exchange{"GET", "/graphs/no-such-graph/snapshot", "", nil})
	if all := records("outcome=unauthorized"); len(all) != 1 || all[0].Rows != 1 || all[0].Decision != "denied" || all[0].ActorID != nil {
		t.Errorf("the records of requests without a valid token are %+v", all)
	}
}
