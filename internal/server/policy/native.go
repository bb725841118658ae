package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// maxNesting bounds the nesting of brackets in a .cedar file, because Cedar's parser and evaluator
// are recursive.
const maxNesting = 64

// CompileCedar compiles a text in Cedar's own language without changing it. Reports refer to the
// text by the name in the argument `file`. Every policy must conform to the published schema, see
// [CedarSchema], and must refer only to things that exist. The id of a policy is its @id, or else
// policy0, policy1, … in file order. The error is a diag.List of all faults.
//
// Such a file declares neither groups nor protected branches. So actors are only in the groups of
// their tokens, and the protected branches are those of o.Protected. Without any, CompileCedar rejects a
// policy that reads context.protected.
func CompileCedar(file string, src []byte, o Options) (*Policy, error) {
	n := &native{file: file, src: string(src), o: o}
	all := n.read()
	n.faults = append(n.faults, o.checkFilters(o.Protected.Filters)...)
	n.faults.Sort()
	if err := n.faults.Err(); err != nil {
		return nil, err
	}
	p := newPolicy(all, nil, targetOf(o.Graph))
	p.tokenGroups, p.unknown, p.earlier, p.claims, p.several = o.TokenGroups, n.unknown, o.EarlierAgents, o.Claims, len(o.Graphs) > 1
	for _, c := range all {
		m := mentions(c.policy)
		p.named = append(p.named, m.branches...)
		for _, e := range m.entities {
			if e.Type == groupType {
				p.groups = append(p.groups, string(e.ID))
			}
		}
	}
	res := &resolved{}
	res.protect(&o.Protected)
	p.protected, p.protections, p.owners = res.protected, res.protections, res.owners
	setFilters(p, res.filters)
	p.named = append(p.named, p.protected...)
	slices.Sort(p.named)
	p.named = slices.Compact(p.named)
	slices.Sort(p.groups)
	p.groups = slices.Compact(p.groups)
	return p, nil
}

// native is the state of compiling a .cedar file.
type native struct {
	file, src string // name and text of the file
	o         Options
	faults    diag.List // the faults found so far
	unknown   diag.List // see Policy.UnknownQueries
}

// fault records a fault at a position.
func (n *native) fault(code diag.Code, at diag.Pos, message, help string) {
	end := at
	end.Offset, end.Column = end.Offset+1, end.Column+1
	n.faults = append(n.faults, diag.Diagnostic{Code: code, Span: diag.Span{File: n.file, Start: at, End: end}, Message: message, Help: help})
}

// read compiles the rules of the file.
func (n *native) read() policies {
	start := diag.Pos{Line: 1, Column: 1}
	if len(n.src) > strictyaml.MaxBytes || nesting(n.src) > maxNesting {
		n.fault(strictyaml.TooLarge, start, fmt.Sprintf("the file is larger than %d bytes, or nests brackets deeper than %d", strictyaml.MaxBytes, maxNesting), "split it, or simplify it")
		return nil
	}
	list, err := cedar.NewPolicyListFromBytes(n.file, []byte(n.src))
	if err != nil {
		at, message := n.parseFault(err, start)
		n.fault(strictyaml.Syntax, at, "not Cedar: "+message, "begin each policy with permit or forbid and end it with a semicolon; docs/policy.md has examples")
		return nil
	}
	if len(list) == 0 {
		n.fault(strictyaml.Missing, start, "the policy is empty", "add a permit; without one the policy denies everything")
	}
	first := map[cedar.PolicyID]int{}
	var all policies
	for i, p := range list {
		pos := p.Position()
		at := diag.Pos{Offset: pos.Offset, Line: pos.Line, Column: pos.Column}
		c := newCompiled(cedar.PolicyID(fmt.Sprintf("policy%d", i)), p, diag.Span{File: n.file, Start: at, End: at})
		if id, ok := p.Annotations()["id"]; ok {
			c.id = cedar.PolicyID(id)
			if !ruleID.MatchString(string(id)) {
				n.fault(strictyaml.BadValue, at, "a policy's @id must be at most 64 letters, digits and _ . -", "choose another id")
			}
		}
		if line, twice := first[c.id]; twice {
			n.fault(strictyaml.Duplicate, at, fmt.Sprintf("policy %s is here and on line %d", c.id, line), "give each policy its own @id")
		} else {
			first[c.id] = at.Line
		}
		n.check(c)
		all = append(all, c)
	}
	return all
}

// check reports the parts of a policy that do not conform to the schema, or that refer to things
// that do not exist.
func (n *native) check(c compiled) {
	at, m := c.at.Start, mentions(c.policy)
	unknown := false
	for _, a := range m.actions {
		if _, ok := rowOf(tool.Action(a)); !ok {
			unknown = true
			n.fault(strictyaml.UnknownName, n.place(c, uid(actionType, a)), fmt.Sprintf("unknown action %q in policy %s", a, c.id), nameHelp("action", a, actionNames()))
		}
	}
	if unknown {
		return // the validator would report the same fault again
	}
	if err := validator().Policy("", (*ast.Policy)(c.policy.AST())); err != nil {
		seen := map[string]bool{}
		for _, e := range flatten(err) {
			if m := e.Error(); !seen[m] {
				seen[m] = true
				n.fault(strictyaml.BadValue, at, fmt.Sprintf("policy %s: %s", c.id, m), "run omnigraph policy schema to see the types and actions that exist")
			}
		}
		return
	}
	if m.protected && len(n.o.Protected.Branches) == 0 {
		n.fault(strictyaml.Contradicts, at, fmt.Sprintf("policy %s uses context.protected, but the graph has no protected branches", c.id),
			`add protected_branches to the graph in cluster.yaml, or compare context.branch, as in context.branch == "main"`)
	}
	n.checkPart(c)
	var groups []string
	for _, g := range n.o.TokenGroups {
		groups = append(groups, g)
	}
	graphs := n.o.Graphs
	if n.o.Graph != "" && !slices.Contains(graphs, n.o.Graph) {
		graphs = append(slices.Clone(graphs), n.o.Graph)
	}
	for _, e := range m.entities {
		var kind string
		var known []string
		switch e.Type {
		case groupType:
			kind, known = "group", groups
		case graphType:
			kind, known = "graph", graphs
		case queryType:
			if n.o.AnyQuery {
				continue
			}
			kind, known = "query", n.o.Queries
		default:
			continue
		}
		if slices.Contains(known, string(e.ID)) {
			continue
		}
		if kind == "query" && n.o.UnknownQueries {
			at := n.place(c, e)
			n.unknown = append(n.unknown, unknownQuery(string(e.ID), "policy "+string(c.id), diag.Span{File: n.file, Start: at, End: at}, known))
			continue
		}
		n.fault(strictyaml.UnknownName, n.place(c, e), fmt.Sprintf("unknown %s %q in policy %s", kind, e.ID, c.id), nameHelp(kind, string(e.ID), known))
	}
	for _, row := range tool.Actions() {
		if row.Server() != (n.o.Graph == "") && slices.Contains(m.actions, string(row.Action)) {
			where := "the server"
			if n.o.Graph != "" {
				where = "graph " + n.o.Graph
			}
			n.fault(strictyaml.Contradicts, at, fmt.Sprintf("policy %s is about %s, but this file applies to %s", c.id, row.Action, where), "write server actions and graph actions in separate files")
		}
	}
}

// nameHelp returns the help for an unknown name: the nearest known name, or all known names.
func nameHelp(kind, name string, known []string) string {
	if near := diag.DidYouMean(name, known); near != "" {
		return near
	}
	if len(known) == 0 {
		if kind == "group" {
			return "a .cedar file can use only the groups of tokens; list the actors, or write the policy as YAML"
		}
		return "there is none"
	}
	return "one of " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
}

// place returns the position of an entity in the text of its policy. Cedar keeps only the position
// of the start of the policy.
func (n *native) place(c compiled, e types.EntityUID) diag.Pos {
	from := c.at.Start
	i := strings.Index(n.src[min(from.Offset, len(n.src)):], e.String())
	if i < 0 {
		return from
	}
	before := n.src[:from.Offset+i]
	return diag.Pos{Offset: len(before), Line: 1 + strings.Count(before, "\n"), Column: 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))}
}

// flatten returns the errors that err joins, or err alone.
func flatten(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

// position finds the position in an error of Cedar's parser. Such an error contains the position
// only in its message.
var position = regexp.MustCompile(`parse error at \S*?(\d+):(\d+) (.*)`)

// parseFault splits an error of Cedar's parser into position and message. If the error has no
// position, parseFault returns the position `start`.
func (n *native) parseFault(err error, start diag.Pos) (diag.Pos, string) {
	m := position.FindStringSubmatch(err.Error())
	if m == nil {
		return start, err.Error()
	}
	line, lineErr := strconv.Atoi(m[1])
	column, columnErr := strconv.Atoi(m[2])
	if lineErr != nil || columnErr != nil {
		return start, err.Error()
	}
	at := diag.Pos{Line: line, Column: column}
	for i := 1; i < line; i++ {
		at.Offset += 1 + max(0, strings.IndexByte(n.src[at.Offset:], '\n'))
	}
	for range column - 1 {
		_, size := utf8.DecodeRuneInString(n.src[at.Offset:])
		at.Offset += size
	}
	return at, m[3]
}

// nesting returns the maximum depth of nested brackets in a text. It ignores brackets in strings
// and comments.
func nesting(src string) int {
	deepest, depth := 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth--
		case '"':
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case '/':
			if strings.HasPrefix(src[i:], "//") {
				for i < len(src) && src[i] != '\n' {
					i++
				}
			}
		}
	}
	return deepest
}
