package policies

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// newExplain makes the command omnigraph policy explain.
func newExplain() *cobra.Command {
	var s policySource
	var actor, as string
	var action, branch, query, source, via string
	var groups []string
	cmd := &cobra.Command{
		Use:   "explain [FILE] --actor ACTOR --action ACTION [--branch NAME] [--query NAME] [--source NAME] [--via adhoc|stored]",
		Short: "Show whether an actor may take an action, and which rule decides it",
		Long: `Show whether an actor may take an action, and which rule decides it.

A rule that denies overrides the rules that allow. If no rule allows the action, the
command shows the rules that would allow it if one more condition held. For read and change, --via
defaults to stored if --query names a query, and to adhoc otherwise.

If rules are about a part of the graph, the command also lists what they show of each type.

The actor "act-ada via act-bot" is act-ada with an agent that acts for it. The command then says
which of the two is not allowed.`,
		Example: "  omnigraph policy explain --actor act-ada --action change --branch main\n  omnigraph policy explain --actor act-ada --action invoke_query --query find_symbols",
		Args:    maxOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(as); err != nil {
				return err
			}
			if err := usage.Required(cmd, "actor", "action"); err != nil {
				return err
			}
			if len(args) > 0 {
				s.file = args[0]
			}
			p, o, err := s.choose(cmd)
			if err != nil {
				return err
			}
			if err := actionNamed(action, query, source, via, o); err != nil {
				return usage.Error{Err: err}
			}
			g := grantOf(action, branch, query, via)
			g.Source = source
			who := access.Named(actor, groups)
			e := p.Explain(who, g)
			var parts []access.Part
			if schema := schemaOf(o); schema != nil && e.Allowed {
				parts = p.Parts(who, g, schema)
			}
			if as == "json" {
				d := decisionOf(e)
				d.Parts = partsOf(parts)
				return writeJSON(cmd.OutOrStdout(), d)
			}
			writeExplanation(cmd.OutOrStdout(), e, "")
			writeParts(cmd.OutOrStdout(), parts)
			return nil
		},
	}
	s.flags(cmd)
	formatFlag(cmd, &as)
	tokenGroupsFlag(cmd, &groups)
	f := cmd.Flags()
	f.StringVar(&actor, "actor", "", "the actor; ADA via BOT is an agent that acts for an actor")
	f.StringVar(&action, "action", "", "the action: read, change, invoke_query, …")
	f.StringVar(&branch, "branch", "", "the branch that the action would use (default main); draft is a draft of the actor")
	f.StringVar(&query, "query", "", "the stored query")
	f.StringVar(&source, "source", "", "the source of load_source; without it, a source that no rule names")
	f.StringVar(&via, "via", "", "adhoc or stored; proposal for a merge of a proposal")
	return cmd
}

// grantOf returns the grant that a question asks about. If a question about `read` or `change`
// names a stored query, that query makes the request, so `via` is then `stored` by default. The
// branches draft and draft/NAME are drafts of the actor.
func grantOf(action, branch, query, via string) tool.Grant {
	g := tool.Grant{Action: tool.Action(action), Branch: tool.BranchNamed(branch), Query: query, Via: tool.Via(via)}
	_, g.OwnDraft = access.DraftAlias(tool.BranchName(branch))
	if via == "" && query != "" && (g.Action == tool.Read || g.Action == tool.Change) {
		g.Via = tool.Stored
	}
	return g
}

// decision is the JSON form of an explanation.
type decision struct {
	Allowed bool `json:"allowed"`
	// Protected is true if the rules allow the action, but the branch changes only by merging proposals.
	Protected bool                `json:"protected,omitempty"`
	Refused   string              `json:"refused,omitempty"` // which actor is not allowed, if an agent acts for another
	Rules     []client.AccessRule `json:"rules"`             // the rules that decided; if empty, no rule allows the action
	Near      []client.NearRule   `json:"near"`              // rules that would allow the action if one more condition held
	Parts     []client.AccessPart `json:"parts,omitempty"`   // what the rules show of each type, if some hide a part of the graph
}

// partsOf returns the JSON form of what rules show of types.
func partsOf(parts []access.Part) (list []client.AccessPart) {
	for _, p := range parts {
		part := client.AccessPart{Type: p.Type, Hidden: p.Hidden, Reason: p.Reason, Rows: p.Rows, NotRows: p.NotRows, Without: p.Without, Rules: []client.AccessRule{}}
		for _, r := range p.Rules {
			part.Rules = append(part.Rules, client.AccessRule{ID: r.ID, Deny: r.Deny, File: r.File, Line: r.Line})
		}
		list = append(list, part)
	}
	return list
}

// writeParts writes as text what rules show of types.
func writeParts(w io.Writer, parts []access.Part) {
	for _, p := range parts {
		var rows []string
		for _, list := range p.Rows {
			rows = append(rows, "rows of "+strings.Join(list, " or "))
		}
		for _, name := range p.NotRows {
			rows = append(rows, "no rows of "+name)
		}
		shown := cmp.Or(strings.Join(rows, " and "), "shown")
		if p.Without != nil {
			shown += " without " + strings.Join(p.Without, ", ")
		}
		if p.Hidden {
			shown = "hidden"
		}
		if p.Reason != "" {
			shown += ", because " + p.Reason
		}
		by := ""
		for i, r := range p.Rules {
			if by += ", "; i == 0 {
				by = " by rule "
			}
			by += r.ID
			if r.File != "" {
				by += fmt.Sprintf(" (%s:%d)", r.File, r.Line)
			}
		}
		fmt.Fprintf(w, "  %s: %s%s\n", p.Type, shown, by)
	}
}

// decisionOf returns the JSON form of an explanation.
func decisionOf(e policy.Explanation) decision {
	d := decision{Allowed: e.Allowed, Protected: e.Protected, Refused: e.Refused, Rules: []client.AccessRule{}, Near: []client.NearRule{}}
	at := func(r policy.Rule) client.AccessRule {
		return client.AccessRule{ID: r.ID, Deny: r.Deny, File: r.At.File, Line: r.At.Start.Line}
	}
	for _, r := range e.Deciding {
		d.Rules = append(d.Rules, at(r))
	}
	for _, r := range e.Near {
		d.Near = append(d.Near, client.NearRule{AccessRule: at(r.Rule), Missing: r.Part})
	}
	return d
}

// writeExplanation writes an explanation as text.
func writeExplanation(w io.Writer, e policy.Explanation, indent string) {
	verdict := "denied"
	if e.Refused != "" {
		verdict = "denied to " + e.Refused
	}
	denied := verdict
	if e.Allowed {
		verdict = "allowed"
	}
	switch {
	case e.Protected:
		fmt.Fprintf(w, "%sdenied: the branch changes only by merging proposals, and the actor lacks protection_bypass\n", indent)
		verdict = "otherwise allowed"
	case e.Unanswerable != "":
		fmt.Fprintf(w, "%s%s: %s\n", indent, verdict, e.Unanswerable)
	case len(e.Deciding) == 0:
		fmt.Fprintf(w, "%s%s: no rule allows it\n", indent, denied)
	}
	for _, r := range e.Deciding {
		fmt.Fprintf(w, "%s%s by rule %s (%s)\n", indent, verdict, r.ID, r.At)
	}
	for _, r := range e.Near {
		fmt.Fprintf(w, "%s  rule %s (%s) would allow it, but requires %s\n", indent, r.ID, r.At, r.Part)
	}
}
