package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var _ access.PartChecker = (*Policy)(nil)

// knownTypes returns the names of the types and interfaces of schemas with their properties. Names from before a rename are among
// them.
func knownTypes(schemas []*catalog.Schema) map[string][]string {
	known := map[string][]string{}
	add := func(list []*catalog.Property, names ...string) {
		for _, name := range names {
			if name == "" {
				continue
			}
			known[name] = append(known[name], name)
			for _, property := range list {
				known[name] = joined(known[name], []string{name + "." + property.Name})
				if property.RenameFrom != "" {
					known[name] = joined(known[name], []string{name + "." + property.RenameFrom})
				}
			}
		}
	}
	for _, s := range schemas {
		for _, i := range s.Interfaces {
			add(i.Properties, i.Name)
		}
		for _, n := range s.Nodes {
			add(n.Properties, n.Name, n.RenameFrom)
		}
		for _, e := range s.Edges {
			add(e.Properties, e.Name, e.RenameFrom)
		}
	}
	return known
}

// unknownPart returns the message and the help for a type, or for a property as Type.property, that the schemas lack. The message is
// "" for a name that they have, and without schemas for each well-formed name.
func (o *Options) unknownPart(name, rule string) (message, help string) {
	typ, property, dotted := strings.Cut(name, ".")
	if dotted && (typ == "" || property == "" || strings.Contains(property, ".")) {
		return fmt.Sprintf("%q in %s is no property", name, rule), "write the type, a dot and the property, as in Person.salary"
	}
	if len(o.Schemas) == 0 {
		return "", ""
	}
	known := knownTypes(o.Schemas)
	if _, ok := known[typ]; !ok {
		var types []string
		for t := range known {
			types = append(types, t)
		}
		return fmt.Sprintf("unknown type %q in %s", typ, rule), nameHelp("type", typ, types)
	}
	if dotted && !slices.Contains(known[typ], name) {
		return fmt.Sprintf("unknown property %q in %s", name, rule), nameHelp("property", name, known[typ][1:])
	}
	return "", ""
}

// UnknownParts implements [access.PartChecker]. Of a policy for several graphs, whose types one schema need not have, it returns only
// the rules about the properties of types that the schema has.
func (p *Policy) UnknownParts(schema *engine.Schema) (list []string) {
	o := Options{Schemas: []*catalog.Schema{schema.Catalog}}
	known := knownTypes(o.Schemas)
	for _, c := range p.all {
		if c.policy.Effect() != cedar.Forbid {
			continue
		}
		for _, e := range c.resources {
			typ, _, _ := strings.Cut(string(e.ID), ".")
			message, help := o.unknownPart(string(e.ID), "rule "+string(c.id))
			if message != "" && (known[typ] != nil || !p.several) {
				list = append(list, fmt.Sprintf("%s: %s; %s", c.at, message, help))
			}
		}
	}
	return list
}

// keyOf returns the name of a node type that has the property, which may be one of an interface, in its key; "" if there is none.
func (o *Options) keyOf(property string) string {
	typ, name, _ := strings.Cut(property, ".")
	for _, s := range o.Schemas {
		for _, n := range s.Nodes {
			if (n.Name == typ || slices.Contains(n.Implements, typ)) && n.IsKey(name) {
				return n.Name
			}
		}
	}
	return ""
}

// keyHelp says how to hide what a key says.
const keyHelp = "deny the type, or rows of it; the id of a node shows its key"

// resolvePart returns the part of the graph that a rule is about, and reports names that refer to nothing. The rule may name the
// filters of res.
func (c *ruleClause) resolvePart(res *resolved, o Options, actions []tool.Action) (p part) {
	if c.partsAt == nil {
		return p
	}
	for _, a := range actions {
		if a.Row().On != tool.OnBranch {
			c.partsAt.AtKey().Fault(strictyaml.Contradicts, fmt.Sprintf("types, properties and rows do not apply to %s", a), "write a separate rule for "+string(a)+"; they apply only to read, change and export")
		}
	}
	rule := "rule " + c.id
	for _, e := range slices.Concat(c.types, c.properties) {
		if message, help := o.unknownPart(e.Key, rule); message != "" {
			e.At.Fault(strictyaml.UnknownName, message, help)
		}
	}
	for _, e := range c.types {
		if strings.Contains(e.Key, ".") {
			e.At.Fault(strictyaml.BadValue, e.Key+" in types is a property", "write it under properties")
		}
		p.types = append(p.types, e.Key)
	}
	for _, e := range c.properties {
		if !strings.Contains(e.Key, ".") {
			e.At.Fault(strictyaml.BadValue, e.Key+" in properties is a type", "write it under types, or write Type.property")
		} else if typ := o.keyOf(e.Key); typ != "" && !c.permit {
			e.At.Fault(strictyaml.Contradicts, fmt.Sprintf("%s cannot be hidden, because it is in the key of %s", e.Key, typ), keyHelp)
		}
		p.properties = append(p.properties, e.Key)
	}
	if c.rows == nil {
		return p
	}
	var names []string
	for _, f := range res.filters {
		if names = append(names, f.Name); f.Name != c.rows.Key {
			continue
		}
		if p.types != nil && !slices.Equal(p.types, []string{f.Type}) {
			c.rows.At.Fault(strictyaml.Contradicts, fmt.Sprintf("the types of %s are %s, but filter %s is about %s", rule, strings.Join(p.types, ", "), f.Name, f.Type),
				"leave types out: a rule with rows is about the type of the filter")
		}
		p.types, p.rows = []string{f.Type}, f.Name
		return p
	}
	c.rows.At.Unknown(strictyaml.UnknownName, "filter", c.rows.Key, rule, names)
	return p
}

// checkPart reports the parts of the graph that a policy names and that do not exist.
func (n *native) checkPart(c compiled) {
	policy := "policy " + string(c.id)
	for _, e := range c.resources {
		name := string(e.ID)
		message, help := n.o.unknownPart(name, policy)
		switch key := n.o.keyOf(name); {
		case (e.Type == propertyType) != strings.Contains(name, "."):
			message, help = fmt.Sprintf("%s in %s is no %s", e, policy, strings.ToLower(string(e.Type))), `write Type::"Person" or Property::"Person.salary"`
		case message == "" && key != "" && c.policy.Effect() == cedar.Forbid:
			message, help = fmt.Sprintf("%s cannot be hidden, because it is in the key of %s", name, key), keyHelp
		}
		if message != "" {
			n.fault(strictyaml.UnknownName, n.place(c, e), message, help)
		}
	}
	if c.rows == "" {
		return
	}
	for _, row := range tool.Actions() {
		if row.On != tool.OnBranch && includesAction(c.policy.AST().Action, uid(actionType, string(row.Action))) {
			n.fault(strictyaml.Contradicts, c.at.Start, policy+" has @rows and is about "+string(row.Action), "name the actions; @rows is only for read, change and export")
			break
		}
	}
	var names []string
	for _, f := range n.o.Protected.Filters {
		if names = append(names, f.Name); f.Name != c.rows {
			continue
		}
		of := uid(typeType, f.Type)
		help := fmt.Sprintf("write resource in Type::%q", f.Type)
		other := slices.IndexFunc(c.resources, func(e types.EntityUID) bool { return e != of })
		switch {
		case len(c.resources) > 0 && !slices.Contains(c.resources, of):
			n.fault(strictyaml.Contradicts, c.at.Start, fmt.Sprintf("%s does not name the type %s of its filter %s", policy, f.Type, f.Name), help)
		case other >= 0:
			n.fault(strictyaml.Contradicts, n.place(c, c.resources[other]), fmt.Sprintf("%s names %s, but its filter %s is about %s only", policy, c.resources[other], f.Name, f.Type), help+", and a policy of its own for the rest")
		}
		return
	}
	n.fault(strictyaml.UnknownName, c.at.Start, fmt.Sprintf("unknown filter %q in %s", c.rows, policy), nameHelp("filter", c.rows, names)+`; the graph in cluster.yaml has the filters of a .cedar file`)
}

// checkFilters returns the faults of filters. Without schemas it checks the grammar of their conditions only.
func (o *Options) checkFilters(filters []protected.Filter) (faults diag.List) {
	for i := range filters {
		f := &filters[i]
		if f.Type == "" || f.Where == "" {
			continue // it was reported
		}
		if message, help := o.unknownPart(f.Type, "filter "+f.Name); message != "" {
			faults = append(faults, diag.Diagnostic{Code: strictyaml.UnknownName, Span: f.TypeAt.Span(), Message: message, Help: help})
			continue
		}
		if len(o.Schemas) == 0 {
			before := beforeWhere(plan.Node, "T")
			_, list := gq.Format(gq.Source{Name: f.Name, Text: before + f.Where + afterWhere})
			faults = append(faults, inPolicy(f, len(before), list)...)
		}
		for _, s := range o.Schemas {
			before := len(faults)
			for _, e := range s.Edges {
				if e.Name == f.Type || e.RenameFrom == f.Type {
					_, list := compileFilter(f, s, o.Claims, plan.Edge, e.Name)
					faults = append(faults, list...)
				}
			}
			for _, n := range s.Nodes {
				if n.Name == f.Type || n.RenameFrom == f.Type || slices.Contains(n.Implements, f.Type) {
					_, list := compileFilter(f, s, o.Claims, plan.Node, n.Name)
					if faults = append(faults, list...); list != nil {
						break // another type would have the same faults
					}
				}
			}
			if len(faults) > before {
				break
			}
		}
	}
	return faults
}
