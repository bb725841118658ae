package rest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// send sends a JSON body as servedtest.Writer, and decodes the answer.
func (z *zoo) send(path, body string, into any) {
	z.Helper()
	w := do(z.h, servedtest.Writer, "POST", "/graphs/people"+path, body)
	if w.Code != 200 {
		z.Fatalf("%s %s: got %d %s", path, body, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		z.Fatal(err)
	}
}

// diff writes random changes to a branch, and opens a proposal from it. It returns the id of the proposal.
func (z *zoo) diff(rng *rand.Rand, branch string) string {
	z.Helper()
	if _, err := z.g.CreateBranch(z.Context(), branch, engine.Target{}); err != nil {
		z.Fatal(err)
	}
	var lines []string
	node := func() string { return fmt.Sprintf("n%02d", rng.IntN(30)) }
	mutate := func(statement string) {
		var ignored any
		body, err := json.Marshal(map[string]any{"query": "query m() { " + statement + " }", "branch": branch})
		if err != nil {
			z.Fatal(err)
		}
		z.send("/mutate", string(body), &ignored)
	}
	for range rng.IntN(20) {
		mutate(fmt.Sprintf("delete Zebra where name = %q", node()))
	}
	// A load must not have an entity twice.
	apes, zebras, edges := rng.Perm(30)[:20], rng.Perm(30)[:20], rng.Perm(40)[:20]
	for _, i := range edges {
		mutate(fmt.Sprintf("delete Sees where id = %q", fmt.Sprintf("s%02d", i))) // because an edge keeps its ends
	}
	for i := range apes {
		lines = append(lines, fmt.Sprintf(`{"type":"Ape","data":{"name":"n%02d"}}`, apes[i]), fmt.Sprintf(`{"type":"Zebra","data":{"name":"n%02d","stripes":%d}}`, zebras[i], rng.IntN(3)),
			fmt.Sprintf(`{"edge":"Sees","from":"n%02d","to":"n%02d","data":{"id":"s%02d","note":"%d"}}`, apes[rng.IntN(20)], zebras[rng.IntN(20)], edges[i], rng.IntN(3)))
	}
	if _, err := z.g.Load(z.Context(), strings.NewReader(strings.Join(lines, "\n")), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: branch}}); err != nil {
		z.Fatal(err)
	}
	var p client.ProposalAnswer
	z.send("/proposals", `{"source":"`+branch+`","title":"Random changes"}`, &p)
	return p.ID
}

// inProposalOrder returns the changes of a branch against main, as a proposal lists them: new and deleted nodes, then
// changed nodes, then edges.
func (z *zoo) inProposalOrder(branch string) (all []engine.EntityChange) {
	z.Helper()
	c, err := z.g.Compare(z.Context(), engine.Target{Branch: branch}, engine.Target{}, engine.CompareOptions{Changes: &engine.ChangeRange{}, ListOnly: true})
	if err != nil {
		z.Fatal(err)
	}
	for _, first := range []func(c *engine.EntityChange) bool{
		func(c *engine.EntityChange) bool { return c.Entity == "node" && c.Kind != engine.Updated },
		func(c *engine.EntityChange) bool { return c.Entity == "node" && c.Kind == engine.Updated },
		func(c *engine.EntityChange) bool { return c.Entity == "edge" },
	} {
		for i := range c.List {
			if first(&c.List[i]) {
				all = append(all, c.List[i])
			}
		}
	}
	return all
}

// TestProposalOrder lists random changes of proposals with random filters and in pages of random sizes, and compares
// the list with the sorted changes of the engine, over both engines.
func TestProposalOrder(t *testing.T) {
	const seed = 11
	overZoos(t, func(z *zoo) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var lines []string
		for i := range 20 {
			lines = append(lines, fmt.Sprintf(`{"type":"Ape","data":{"name":"n%02d"}}`, i), fmt.Sprintf(`{"type":"Zebra","data":{"name":"n%02d","stripes":1}}`, i),
				fmt.Sprintf(`{"edge":"Sees","from":"n%02d","to":"n%02d","data":{"id":"s%02d"}}`, i, i, i))
		}
		z.load(lines...)
		phases := map[string]bool{}
		for round := range 3 {
			branch := fmt.Sprintf("try%d", round)
			id := z.diff(rng, branch)
			all := z.inProposalOrder(branch)
			for range 25 {
				some := func(of ...string) (list []string) {
					for _, s := range of {
						if rng.IntN(3) == 0 {
							list = append(list, s)
						}
					}
					return list
				}
				q := url.Values{"kind": some("node", "edge"), "type": some("Ape", "Zebra", "Sees"), "op": some("insert", "update", "delete")}
				ops := map[engine.ChangeKind]string{engine.Inserted: "insert", engine.Updated: "update", engine.Deleted: "delete"}
				var want []string
				for i := range all {
					c := &all[i]
					in := func(name, value string) bool { return len(q[name]) == 0 || slices.Contains(q[name], value) }
					if in("kind", c.Entity) && in("type", c.Type) && in("op", ops[c.Kind]) {
						want = append(want, c.Entity+" "+c.Type+" "+c.ID+" "+ops[c.Kind])
						phases[c.Entity+" "+ops[c.Kind]] = true
					}
				}
				limit := 1 + rng.IntN(len(all)+2)
				q.Set("limit", fmt.Sprint(limit))
				var got []string
				for pages := 0; ; pages++ {
					var page client.ProposalChanges
					get(z.T, z.h, "/proposals/"+id+"/changes?"+q.Encode(), &page)
					for _, c := range page.Changes {
						got = append(got, places([]client.EntityChange{c.EntityChange})...)
					}
					if page.NextPageToken == nil {
						break
					}
					if len(page.Changes) != limit || len(got) >= len(want) || pages > len(want) {
						z.Fatalf("%s: page %d has %d changes and says that more follow", q.Encode(), pages, len(page.Changes))
					}
					q.Set("page_token", *page.NextPageToken)
				}
				if !slices.Equal(got, want) {
					z.Fatalf("seed %d, %s: found\n%s\nwant\n%s", seed, q.Encode(), strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
		if len(phases) < 6 {
			z.Errorf("the changes are only %v", phases)
		}
	})
}
