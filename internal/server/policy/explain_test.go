package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func TestExplain(t *testing.T) {
	p := team(t)
	native, err := Read("testdata/native.cedar", nativeOptions)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, q := range []struct {
		policy *Policy
		actor  string
		grant  tool.Grant
	}{
		{p, "act-ada", tool.Grant{Action: tool.Read}},
		{p, "act-ada", tool.Grant{Action: tool.Change}},
		{p, "act-wil", tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("main")}},
		{p, "act-wil", tool.Grant{Action: tool.BranchMerge, Branch: tool.BranchNamed("main")}},
		{p, "act-rex", tool.Grant{Action: tool.Read}},
		{p, "act-rex", tool.Grant{Action: tool.InvokeQuery, Query: "drop_orders"}},
		{p, "act-rex", tool.Grant{Action: tool.InvokeQuery, Query: "find_user"}},
		{p, "act-kay", tool.Grant{Action: tool.BranchMerge, Branch: tool.BranchNamed("feature")}},
		{p, "act-eve", tool.Grant{Action: tool.Admin}},
		{p, "act-eve", tool.Grant{Action: tool.InvokeQuery}},
		{native, "act-wil", tool.Grant{Action: tool.Change}},
		{native, "act-wil", tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("release")}},
		{native, "act-bot", tool.Grant{Action: tool.Read}},
	} {
		fmt.Fprintf(&b, "%s %s branch=%q query=%q\n", q.actor, q.grant.Action, q.grant.Branch, q.grant.Query)
		e := q.policy.Explain(actor(q.actor), q.grant)
		fmt.Fprintf(&b, "  allowed %v\n", e.Allowed)
		for _, r := range e.Deciding {
			fmt.Fprintf(&b, "  by %s at %s, deny %v\n", r.ID, r.At, r.Deny)
		}
		for _, r := range e.Near {
			fmt.Fprintf(&b, "  near %s at %s: %s\n", r.ID, r.At, r.Part)
		}
		if e.Unanswerable != "" {
			fmt.Fprintf(&b, "  %s\n", e.Unanswerable)
		}
	}
	golden.Check(t, "testdata/explain.golden", []byte(b.String()))
}
