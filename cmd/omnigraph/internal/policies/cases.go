package policies

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// newTest makes the command omnigraph policy test.
func newTest() *cobra.Command {
	var s policySource
	var tests, as string
	cmd := &cobra.Command{
		Use:   "test [FILE] --tests CASES.yaml [--cluster DIR] [--graph ID]",
		Short: "Test a policy with cases that state the expected decisions",
		Long: `Test a policy with cases. Each case states the decision that it expects.

The cases are in a separate file:

  version: 1
  cases:
    - { actor: act-ada, action: read, branch: main, expect: allow }
    - { actor: act-bot, action: invoke_query, query: find_user, expect: allow }
    - { actor: act-bot, action: read, via: adhoc, expect: deny }
    - { actor: act-ada via act-bot, action: read, expect: allow }

A case about read, change or export may name a type, or a property as Type.property. Then allow
means that all of it is shown, rows that filters decide, properties that some of its properties
are hidden, and deny that it is hidden:

    - { actor: act-ada, action: read, type: Order, expect: rows }
    - { actor: act-ada, action: read, type: User, expect: properties }
    - { actor: act-ada, action: read, property: User.salary, expect: deny }

An actor with "via" has agents that act for it, the current one first. branch defaults to main. via defaults to stored if the case names a query, and to adhoc
otherwise. If the policy decides a case differently, the command shows the case with the
rule that decided it, and exits with code 1.`,
		Example: "  omnigraph policy test --tests policy.cases.yaml",
		Args:    maxOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(as); err != nil {
				return err
			}
			if err := usage.Required(cmd, "tests"); err != nil {
				return err
			}
			if len(args) > 0 {
				s.file = args[0]
			}
			p, o, err := s.choose(cmd)
			if err != nil {
				return err
			}
			src, err := os.ReadFile(tests)
			if err != nil {
				return err
			}
			cases, err := readCases(tests, src, o)
			if err != nil {
				return terminal.PrintFaults(cmd, err)
			}
			return runCases(cmd, p, schemaOf(o), cases, as)
		},
	}
	s.flags(cmd)
	formatFlag(cmd, &as)
	cmd.Flags().StringVar(&tests, "tests", "", "the `FILE` that contains the test cases")
	return cmd
}

// policyCase is one test case with its position.
type policyCase struct {
	at    *strictyaml.Node // position of the case in the file
	actor string           // the actor who asks
	grant tool.Grant       // the permission to decide on
	on    string           // the branch as the case names it; it may be empty
	part  string           // a type, or a property as Type.property; "" for the whole graph
	want  string           // the expected decision: allow, deny or, of a part, rows or properties
}

// readCases reads a file of test cases. The error is a diag.List of all faults.
func readCases(file string, src []byte, o policy.Options) ([]policyCase, error) {
	r := strictyaml.Read(file, src)
	var cases []policyCase
	if root := r.Root(); root != nil {
		if f, ok := root.Fields("the cases", "version", "cases"); ok {
			root.Require(f, "version", "the file of cases").Int("version", 1, 1)
			list, ok := root.Require(f, "cases", "the file of cases").List("cases")
			if ok && len(list) == 0 {
				f["cases"].Fault(strictyaml.Missing, "cases is an empty list", "add a case")
			}
			for _, n := range list {
				if c, ok := readCase(n, o); ok {
					cases = append(cases, c)
				}
			}
		}
	} else if len(r.Faults()) == 0 {
		r.Whole(strictyaml.Missing, "the file is empty", "write the keys version and cases")
	}
	return cases, r.Faults().Err()
}

// readCase reads one test case. It reports faults at the node `n`, and returns false if the node is
// not a mapping of the known keys.
func readCase(n *strictyaml.Node, o policy.Options) (policyCase, bool) {
	f, ok := n.Fields("a case", "actor", "action", "branch", "query", "source", "via", "type", "property", "expect")
	if !ok {
		return policyCase{}, false
	}
	c := policyCase{at: n}
	c.actor, _ = n.Require(f, "actor", "the case").Text("actor")
	action, _ := n.Require(f, "action", "the case").Text("action")
	branch, _ := f["branch"].Text("branch")
	query, _ := f["query"].Text("query")
	source, _ := f["source"].Text("source")
	via, _ := f["via"].Text("via")
	words := []string{"allow", "deny"}
	if at := cmp.Or(f["type"], f["property"]); at != nil {
		words = append(words, "rows")
		if f["property"] == nil {
			words = append(words, "properties")
		}
		c.part, _ = at.Text("the part")
		if schema := schemaOf(o); schema == nil {
			at.Fault(strictyaml.BadValue, "the schema is not known, because no cluster.yaml applies the policy to a graph", "name the folder of cluster.yaml with --cluster")
		} else if !hasPart(schema.Catalog, c.part, f["property"] != nil) {
			at.Fault(strictyaml.UnknownName, fmt.Sprintf("the schema has no such type or property: %s", c.part), "write type: Order or property: Order.total; an interface is neither")
		} else if tool.Action(action).Row().On != tool.OnBranch {
			at.Fault(strictyaml.Contradicts, "a part is only for read, change and export", "remove it")
		}
	}
	c.want, _ = n.Require(f, "expect", "the case").OneOf("expect", words...)
	if action != "" {
		if err := actionNamed(action, query, source, via, o); err != nil {
			f["action"].Fault(strictyaml.BadValue, err.Error(), "")
		}
	}
	c.grant, c.on = grantOf(action, branch, query, via), branch
	c.grant.Source = source
	return c, true
}

// hasPart reports whether a schema has a node type or an edge type or, with `property`, such a type with a property.
func hasPart(s *catalog.Schema, part string, property bool) bool {
	typ, name, dotted := strings.Cut(part, ".")
	n, e := s.Node(typ), s.Edge(typ)
	if e != nil && e.Name != typ {
		e = nil
	}
	switch {
	case dotted != property:
		return false
	case !property:
		return n != nil || e != nil
	}
	return n != nil && n.Property(name) != nil || e != nil && e.Property(name) != nil
}

// shownOf says what is shown of a part of a graph: allow, rows, properties or deny. Properties are some of those of all entities of a
// type. Without parts, everything is shown.
func shownOf(parts []access.Part, part string) string {
	typ, property, _ := strings.Cut(part, ".")
	for _, p := range parts {
		switch {
		case p.Type != typ:
		case p.Hidden || slices.Contains(p.Without, property):
			return "deny"
		case p.Rows != nil || p.NotRows != nil:
			return "rows"
		case property == "" && p.Without != nil:
			return "properties"
		}
	}
	return "allow"
}

// failure is a test case whose decision differs from the expected one.
type failure struct {
	File     string `json:"file"`     // the file with the test case
	Line     int    `json:"line"`     // line of the test case in the file
	Question string `json:"question"` // the actor and the action that the case asks about
	Expected string `json:"expected"` // allow, deny or rows
	decision
}

// runCases decides the cases with the policy, and reports those with another decision than
// expected.
func runCases(cmd *cobra.Command, p *policy.Policy, schema *engine.Schema, cases []policyCase, as string) error {
	failures := []failure{}
	var text bytes.Buffer
	for _, c := range cases {
		who := access.Named(c.actor, nil)
		e := p.Explain(who, c.grant)
		got, parts := "deny", []access.Part(nil)
		if e.Allowed {
			got = "allow"
			if c.part != "" {
				parts = p.Parts(who, c.grant, schema)
				got = shownOf(parts, c.part)
			}
		}
		if got == c.want {
			continue
		}
		span, expected := c.at.Span(), c.want
		d := decisionOf(e)
		d.Parts = partsOf(parts)
		failures = append(failures, failure{span.File, span.Start.Line, c.question(), expected, d})
		fmt.Fprintf(&text, "%s: %s: expected %s\n", span, c.question(), expected)
		writeExplanation(&text, e, "  ")
		typ, _, _ := strings.Cut(c.part, ".")
		writeParts(&text, slices.DeleteFunc(parts, func(p access.Part) bool { return p.Type != typ }))
	}
	if as == "json" {
		if err := writeJSON(cmd.OutOrStdout(), map[string]any{"cases": len(cases), "failed": failures}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(cmd.OutOrStdout(), "%s%d cases, %d failed\n", text.String(), len(cases), len(failures))
	}
	if len(failures) > 0 {
		return fmt.Errorf("%d of %d cases failed", len(failures), len(cases))
	}
	return nil
}

// question describes the request of a case, such as "act-ada change on feature via adhoc".
func (c *policyCase) question() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", c.actor, c.grant.Action)
	if c.grant.Query != "" {
		fmt.Fprintf(&b, " %s", c.grant.Query)
	}
	if c.grant.Source != "" {
		fmt.Fprintf(&b, " of %s", c.grant.Source)
	}
	if c.part != "" {
		fmt.Fprintf(&b, " %s", c.part)
	}
	if c.on != "" {
		fmt.Fprintf(&b, " on %s", c.on)
	}
	if c.grant.Via != "" {
		fmt.Fprintf(&b, " via %s", c.grant.Via)
	}
	return b.String()
}
