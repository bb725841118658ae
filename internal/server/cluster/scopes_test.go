package cluster

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestScopes reads server.oidc.scopes as a list and as a map.
func TestScopes(t *testing.T) {
	for text, want := range map[string][]Scope{
		"[graph.read, b]": {{Name: "graph.read"}, {Name: "b"}},
		"{ graph.read: [read, invoke_query], graph.write: [change], graph.none: [] }": {
			{"graph.read", []tool.Action{tool.Read, tool.InvokeQuery}}, {"graph.write", []tool.Action{tool.Change}}, {"graph.none", []tool.Action{}}},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"schema.pg": "", "cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg }\n" +
			"server: { oidc: { issuer: 'https://idp.example', audience: a, scopes: " + text + " } }\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := Read(filepath.Join(dir, "cluster.yaml"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := c.Server.OIDC.Scopes; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: read %+v, want %+v", text, got, want)
		}
	}
}
