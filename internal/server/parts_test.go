package server_test

import (
	"reflect"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestExplainParts asks a server what its policy shows another actor of each type.
func TestExplainParts(t *testing.T) {
	w := newProposalWorldWith(t, `version: 1
filters:
  young: { type: Person, where: "$it.age < 40" }
rules:
  - id: ada-sees-all
    allow: { actors: { ids: [act-ada] }, actions: [read, change, policy_read] }
  - id: bo-sees-the-young
    allow: { actors: { ids: [act-bo] }, actions: [read], rows: young }
  - id: without-big
    deny: { actors: { ids: [act-bo] }, actions: [read], properties: [Person.big] }
`, servedtest.Catalog(t))
	e, err := w.person("act-ada").Access(t.Context(), client.AccessQuery{Actor: "act-bo"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range e.Decisions {
		if d.Action != "read" {
			if d.Parts != nil {
				t.Errorf("%s has parts: %+v", d.Action, d.Parts)
			}
			continue
		}
		if !d.Allowed || len(d.Rules) != 1 || d.Rules[0].ID != "bo-sees-the-young" {
			t.Errorf("the decision is %+v", d)
		}
		for _, p := range d.Parts {
			if p.Type != "Person" {
				if !p.Hidden || p.Reason != "no rule allows it" {
					t.Errorf("the part is %+v", p)
				}
				continue
			}
			var rules []string
			for _, r := range p.Rules {
				rules = append(rules, r.ID)
			}
			if p.Hidden || !reflect.DeepEqual(p.Rows, [][]string{{"young"}}) || !reflect.DeepEqual(p.Without, []string{"big"}) ||
				!reflect.DeepEqual(rules, []string{"bo-sees-the-young", "without-big"}) {
				t.Errorf("the part is %+v", p)
			}
		}
		if len(d.Parts) < 2 {
			t.Errorf("the parts are %+v", d.Parts)
		}
	}
	if _, err := w.person("act-bo").Access(t.Context(), client.AccessQuery{Actor: "act-ada"}); !denied(err) {
		t.Errorf("act-bo reads the policy: %v", err)
	}
}
