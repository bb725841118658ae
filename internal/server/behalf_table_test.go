package server_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth/authtest"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// behalf is the world of the matrices with tokens of an issuer. Each action has a scope of its name.
type behalf struct {
	*restMatrix
	issuer *authtest.Issuer
	key    *authtest.Key
	scopes string // all of them
}

func newBehalf(t *testing.T) *behalf {
	t.Helper()
	key := authtest.NewKey(t, "k1", jose.ES256)
	b := &behalf{issuer: authtest.New(t, key), key: key}
	b.issuer.Now = testClock
	b.restMatrix = newRESTMatrix(t, func(o *server.Options) {
		c := &cluster.OIDC{Issuer: b.issuer.URL, Audiences: []string{authtest.Audience}, ActorClaim: "sub", SharedActors: true}
		for _, row := range tool.Actions() {
			c.Scopes = append(c.Scopes, cluster.Scope{Name: "graph." + string(row.Action), Actions: []tool.Action{row.Action}})
			b.scopes += " graph." + string(row.Action)
		}
		o.Cluster.Server.OIDC = c
		for _, name := range []string{"policy.yaml", "server.yaml"} { // act-helper may do what act-admin may
			path := filepath.Join(filepath.Dir(o.Cluster.Storage), name)
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, bytes.ReplaceAll(text, []byte("[act-admin"), []byte("[act-helper, act-admin")), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	return b
}

// token returns a token of an actor with these claims.
func (b *behalf) tokenOf(actor string, claims map[string]any) string {
	return b.issuer.Token(b.t, b.key, actor, claims)
}

// via returns a token with which an agent acts for an actor.
func (b *behalf) via(actor, agent string) string {
	return b.tokenOf(actor, map[string]any{"act": map[string]any{"sub": agent}})
}

// TestBehalfOverREST sends every route that needs a right with tokens of an agent for somebody, where only one of them has the right, and with a
// token without a scope for it.
func TestBehalfOverREST(t *testing.T) {
	slow.Test(t)
	b := newBehalf(t)
	sent := 0
	for i := range restRows {
		row := &restRows[i]
		if !strings.Contains(row.main, "a") || strings.Contains(row.main, "n") {
			continue // everybody may call it
		}
		for what, token := range map[string]string{
			"the agent lacks it": b.via("act-admin", "act-nothing"), "the subject lacks it": b.via("act-nothing", "act-admin"), "an earlier agent has it": b.tokenOf("act-admin", map[string]any{"act": map[string]any{"sub": "act-nothing", "act": map[string]any{"sub": "act-helper"}}}),
		} {
			if a := b.send(token, b.of(row, "main")); a.status != row.wants("act-nothing", "main") || a.header.Get("WWW-Authenticate") != "" {
				t.Errorf("%s, %s: %d %q %s", row.name(), what, a.status, a.header.Get("WWW-Authenticate"), a.body)
			}
		}
		for what, claims := range map[string]map[string]any{
			"a token without a scope": {"scope": "openid"}, "an agent without a scope": {"scope": "openid", "act": map[string]any{"sub": "act-helper"}},
		} {
			a := b.send(b.tokenOf("act-admin", claims), b.of(row, "main"))
			challenge := a.header.Get("WWW-Authenticate")
			if a.status != http.StatusForbidden || !strings.Contains(challenge, `error="insufficient_scope"`) || !strings.Contains(challenge, `scope="graph.`) {
				t.Errorf("%s, %s: %d %q %s", row.name(), what, a.status, challenge, a.body)
			}
		}
		for what, claims := range map[string]map[string]any{
			"all scopes": {"scope": b.scopes}, "an agent who may": {"act": map[string]any{"sub": "act-helper"}}, "an agent who may, with all scopes": {"scope": b.scopes, "act": map[string]any{"sub": "act-helper"}},
		} {
			if a := b.send(b.tokenOf("act-admin", claims), b.of(row, "main")); a.status != row.wants("act-admin", "main") {
				t.Errorf("%s, %s: %d %s", row.name(), what, a.status, a.body)
			}
		}
		sent++
	}
	if sent < 40 {
		t.Errorf("only %d routes need a right", sent)
	}
}

// TestBehalfOverMCP compares what an agent learns for somebody, where only one of them has rights, with what an actor without rights learns:
// every list, tool, resource and prompt, and the answers to wrong names.
func TestBehalfOverMCP(t *testing.T) {
	slow.Test(t)
	b := newBehalf(t)
	with := func(token string) *matrix {
		return &matrix{t: t, url: b.url + "/graphs/people", universe: []string{"find_person", "graph_query"}, token: func(actor string) string {
			if actor == "act-admin" { // which names everything there is
				return b.tokenOf(actor, nil)
			}
			return token
		}}
	}
	whole := with(b.tokenOf("act-admin", nil))
	calls := func(m *matrix) map[string]string {
		said := m.readable("the actor")
		for _, tl := range whole.list("act-admin") {
			for _, version := range versions {
				said["tool "+tl.Name+" of "+version] = m.call("the actor", version, tl.Name, whole.sampleArguments(tl, "main")).body
			}
		}
		for _, uri := range []string{"omnigraph://branches/main", "omnigraph://branches/nothing"} {
			said[uri] = m.rpc("the actor", versions[0], "resources/read", uri, fmt.Sprintf(`"uri":%q`, uri)).body
		}
		for _, list := range []string{"skills/list", "skills/get"} {
			said[list] = m.rpc("the actor", versions[1], list, "", "").body
		}
		return said
	}
	nothing := calls(with(b.tokenOf("act-nothing", nil)))
	for what, token := range map[string]string{"the agent lacks the rights": b.via("act-admin", "act-nothing"), "the subject lacks the rights": b.via("act-nothing", "act-admin")} {
		got := calls(with(token))
		for _, from := range slices.Sorted(maps.Keys(nothing)) {
			if got[from] != nothing[from] {
				t.Errorf("%s, %s:\n%s\n%s", what, from, got[from], nothing[from])
			}
		}
		if len(got) != len(nothing) {
			t.Errorf("%s: %d answers, not %d", what, len(got), len(nothing))
		}
	}
	free := map[string]bool{"graph_health": true, "gq_language": true, "tool_search": true, "proposal_resolve": true} // see TestScopesHideNothing
	narrow := with(b.tokenOf("act-admin", map[string]any{"scope": "openid"}))
	for _, tl := range whole.list("act-admin") {
		for _, version := range versions {
			a := narrow.call("the actor", version, tl.Name, whole.sampleArguments(tl, "main"))
			if challenge := a.header.Get("WWW-Authenticate"); !free[tl.Name] && (a.status != http.StatusForbidden || !strings.Contains(challenge, `error="insufficient_scope"`) || !strings.Contains(challenge, `scope="graph.`)) {
				t.Errorf("%s of %s without a scope: %d %q %s", tl.Name, version, a.status, challenge, a.body)
			}
		}
	}
	for _, uri := range append(members(whole.rpc("act-admin", versions[0], "resources/list", "", "").body, "resources", "uri"), "omnigraph://branches/main") {
		a := narrow.rpc("the actor", versions[1], "resources/read", uri, fmt.Sprintf(`"uri":%q`, uri))
		if challenge := a.header.Get("WWW-Authenticate"); !strings.HasPrefix(uri, "skill:") && (a.status != http.StatusForbidden || !strings.Contains(challenge, `scope="graph.read`)) {
			t.Errorf("%s without a scope: %d %q %s", uri, a.status, challenge, a.body)
		}
	}
	for _, name := range members(whole.rpc("act-admin", versions[0], "prompts/list", "", "").body, "prompts", "name") {
		a := narrow.rpc("the actor", versions[1], "prompts/get", name, fmt.Sprintf(`"name":%q,"arguments":{"intent":"who","type":"Person"}`, name))
		if challenge := a.header.Get("WWW-Authenticate"); a.status != http.StatusForbidden || !strings.Contains(challenge, `scope="graph.read`) {
			t.Errorf("the prompt %s without a scope: %d %q %s", name, a.status, challenge, a.body)
		}
	}
}
