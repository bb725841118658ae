package studio

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
)

// reviewPolicy lets act-ada review and merge, and act-bot only write to branches that are not protected.
const reviewPolicy = `version: 1
protected_branches:
  - { name: main, approvals: 1 }
rules:
  - id: all-read
    allow: { actors: any, actions: [read] }
  - id: bots-write
    allow: { actors: { ids: [act-bot, act-ada, act-dev] }, actions: [change, branch_create] }
  - id: ada-decides
    allow: { actors: { ids: [act-ada] }, actions: [proposal_review, branch_merge] }
  - id: dev-prepares-the-test
    allow: { actors: { ids: [act-dev] }, actions: [protection_bypass] }
`

const reviewSchema = `node Item {
  slug: String @key
  title: String
  price: I32?
}

edge Replaces: Item -> Item { why: String? }
`

// reviewSite serves the graph shop, whose branch main changes only by proposals.
func reviewSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	lines := `{"type":"Item","data":{"slug":"desk-lamp","title":"Desk lamp","price":4900}}
{"type":"Item","data":{"slug":"floor-lamp","title":"Floor lamp","price":12900}}
{"type":"Item","data":{"slug":"night-light","title":"Night light","price":1900}}
{"edge":"Replaces","from":"floor-lamp","to":"desk-lamp","data":{"why":"brighter"}}
`
	for name, text := range map[string]string{
		"shop.pg": reviewSchema, "policy.yaml": reviewPolicy, "shop.ndjson": lines,
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  shop: { schema: shop.pg }\npolicies:\n  p: { file: policy.yaml, applies_to: [shop] }\nserver: { studio: true }\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	fill(t, dir, "shop", filepath.Join(dir, "shop.ndjson"))
	return serve(t, command(t, "omnigraph-server"), dir, "shop")
}

// mutate runs a mutation on a branch.
func (s *site) mutate(t *testing.T, actor, branch, text string) {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"query": "query m() { " + text + " }", "branch": branch})
	s.send(t, actor, "POST", "/graphs/"+s.graph+"/mutate", string(body))
}

// propose makes a branch as act-bot with some changes, and opens a proposal. It returns the id of the
// proposal.
func (s *site) propose(t *testing.T, branch, title, description string, changes ...string) string {
	t.Helper()
	s.send(t, "act-bot", "POST", "/graphs/"+s.graph+"/branches", fmt.Sprintf(`{"name":%q}`, branch))
	for _, change := range changes {
		s.mutate(t, "act-bot", branch, change)
	}
	body, _ := json.Marshal(map[string]string{"source": branch, "title": title, "description": description})
	var p struct{ ID string }
	s.ask(t, "act-bot", "POST", "/graphs/"+s.graph+"/proposals", string(body), &p)
	return p.ID
}

// proposePrices opens a proposal with one conflict: main has another price for the desk lamp.
func (s *site) proposePrices(t *testing.T) string {
	t.Helper()
	id := s.propose(t, "try/prices", "Correct the prices of two lamps", "The supplier's list of November has these prices.\nThe night light is no longer made.",
		`update Item set { price: 5400 } where slug = "desk-lamp"`, `update Item set { price: 13500 } where slug = "floor-lamp"`,
		`delete Item where slug = "night-light"`, `insert Item { slug: "wall-lamp", title: "Wall lamp", price: 7900 }`)
	s.mutate(t, "act-dev", "main", `update Item set { price: 5000 } where slug = "desk-lamp"`)
	return id
}

// price returns the price of an item on main.
func (s *site) price(t *testing.T, slug string) int {
	t.Helper()
	var answer struct{ Rows []struct{ Price int } }
	body, _ := json.Marshal(map[string]any{"query": "query q($s: String) { match { $i: Item { slug: $s } } return { $i.price as price } }", "params": map[string]string{"s": slug}})
	s.ask(t, "act-dev", "POST", "/graphs/"+s.graph+"/query", string(body), &answer)
	if len(answer.Rows) != 1 {
		t.Fatalf("the item %s: %d rows", slug, len(answer.Rows))
	}
	return answer.Rows[0].Price
}
