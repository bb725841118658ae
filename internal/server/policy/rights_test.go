package policy

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// clinic is the schema of the tests of rights.
const clinic = `
interface Named { name: String }
interface Noted { note: String? }
node Person implements Named, Noted {
  email: String @key
  name: String
  salary: I32?
  bio: String?
  face: Vector(3)? @embed("bio", model="m")
}
node Team implements Named { name: String @key size: I32? }
node Case implements Noted { code: String @key team: String? urgent: Bool? }
node City { name: String @key region: String? }
edge LivesIn: Person -> City { since: I32? }
edge WorksOn: Person -> Case
`

func clinicSchema(t testing.TB, text string) *engine.Schema {
	t.Helper()
	s, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return &engine.Schema{Source: text, Catalog: s, Digest: catalog.Digest(s)}
}

// rightsText prints rights, one type in each line.
func rightsText(s *engine.Schema, r *engine.Rights) string {
	if r == nil {
		return "all\n"
	}
	var b strings.Builder
	line := func(name string, t *engine.TypeRights) {
		switch {
		case t == nil:
			return
		case t.None:
			b.WriteString("no " + name + "\n")
			return
		}
		b.WriteString(name)
		for _, list := range t.Any {
			var names []string
			for _, f := range list {
				names = append(names, f.Name)
			}
			b.WriteString(" " + strings.Join(names, "|"))
		}
		for _, f := range t.All {
			b.WriteString(" -" + f.Name)
		}
		if t.Properties != nil {
			b.WriteString(" without " + strings.Join(t.Properties, ","))
		}
		b.WriteString("\n")
	}
	for _, n := range s.Catalog.Nodes {
		line(n.Name, r.Nodes[n.Name])
	}
	for _, e := range s.Catalog.Edges {
		line(e.Name, r.Edges[e.Name])
	}
	return b.String()
}

const clinicFilters = `
filters:
  north: { type: Case, where: '$it.team = "north"' }
  urgent: { type: Case, where: "$it.urgent = true" }
  europe: { type: Person, where: 'exists { $it livesIn $c  $c.region = "EU" }' }
  known: { type: Named, where: '$it.name != "Nobody"' }
  lately: { type: LivesIn, where: "$it.since > 2000" }
`

func TestRights(t *testing.T) {
	schema := clinicSchema(t, clinic)
	const head = "version: 1\ngroups: { clerks: [ada, bo], payroll: [bo], bots: [bot] }" + clinicFilters + "rules:\n"
	tests := []struct {
		name, rules, actor string
		grant              tool.Grant
		want               string
	}{
		{"plain", "- { id: a, allow: { actors: any, actions: [read] } }", "ada", tool.Grant{Action: tool.Read}, "all\n"},
		{"page", `
  - { id: clerks-see-their-cases, allow: { actors: {group: clerks}, actions: [read, change], types: [Case], rows: north } }
  - { id: nobody-sees-salaries, deny: { actors: any, actions: [read], properties: [Person.salary], unless: {group: payroll} } }`,
			"ada", tool.Grant{Action: tool.Read}, "no Person\nno Team\nCase north\nno City\nno LivesIn\nno WorksOn\n"},
		{"denied property", `
  - { id: a, allow: { actors: any, actions: [read] } }
  - { id: b, deny: { actors: any, actions: [read], properties: [Person.salary], unless: {group: payroll} } }`,
			"ada", tool.Grant{Action: tool.Read}, "Person without salary\n"},
		{"unless", `
  - { id: a, allow: { actors: any, actions: [read] } }
  - { id: b, deny: { actors: any, actions: [read], properties: [Person.salary], unless: {group: payroll} } }`,
			"bo", tool.Grant{Action: tool.Read}, "all\n"},
		{"another action", `
  - { id: a, allow: { actors: any, actions: [read, change] } }
  - { id: b, deny: { actors: any, actions: [read], properties: [Person.salary] } }`,
			"ada", tool.Grant{Action: tool.Change}, "all\n"},
		{"embedded", `
  - { id: a, allow: { actors: any, actions: [read] } }
  - { id: b, deny: { actors: any, actions: [read], properties: [Person.bio] } }`,
			"ada", tool.Grant{Action: tool.Read}, "Person without bio,face\n"},
		{"listed properties", "- { id: a, allow: { actors: any, actions: [read], properties: [Person.name, City.region] } }",
			"ada", tool.Grant{Action: tool.Read}, "Person without bio,face,note,salary\nno Team\nno Case\nno LivesIn\nno WorksOn\n"},
		{"vector without its source", "- { id: a, allow: { actors: any, actions: [read], properties: [Person.face] } }",
			"ada", tool.Grant{Action: tool.Read}, "Person without bio,face,name,note,salary\nno Team\nno Case\nno City\nno LivesIn\nno WorksOn\n"},
		{"property of an interface", `
  - { id: a, allow: { actors: any, actions: [read] } }
  - { id: b, deny: { actors: any, actions: [read], types: [Named], unless: {group: payroll} } }`,
			"ada", tool.Grant{Action: tool.Read}, "no Person\nno Team\n"},
		{"filter over an interface", `
  - { id: a, allow: { actors: any, actions: [read] } }
  - { id: b, deny: { actors: any, actions: [read], rows: known } }`,
			"ada", tool.Grant{Action: tool.Read}, "Person -known\nTeam -known\n"},
		{"filter on edges", `
  - { id: a, allow: { actors: any, actions: [read], types: [Person, City] } }
  - { id: b, allow: { actors: any, actions: [read], rows: lately } }`,
			"ada", tool.Grant{Action: tool.Read}, "no Team\nno Case\nLivesIn lately\nno WorksOn\n"},
		{"any of the permits, none of the forbids", `
  - { id: a, allow: { actors: any, actions: [read], rows: north } }
  - { id: b, allow: { actors: any, actions: [read], rows: urgent } }
  - { id: c, deny: { actors: any, actions: [read], rows: urgent, unless: {group: payroll} } }`,
			"ada", tool.Grant{Action: tool.Read}, "no Person\nno Team\nCase north|urgent -urgent\nno City\nno LivesIn\nno WorksOn\n"},
		{"unfiltered permit", `
  - { id: a, allow: { actors: any, actions: [read] } }
  - { id: b, allow: { actors: any, actions: [read], rows: urgent } }`,
			"ada", tool.Grant{Action: tool.Read}, "all\n"},
		{"stored shows more", `
  - { id: a, allow: { actors: any, actions: [read], types: [Case], rows: north } }
  - { id: b, allow: { actors: any, actions: [read], via: stored, queries: [q1] } }
  - { id: c, deny: { actors: any, actions: [read], types: [City] } }`,
			"ada", tool.Grant{Action: tool.Read, Via: tool.Stored, Query: "q1"}, "no City\n"},
		{"another stored query", `
  - { id: a, allow: { actors: any, actions: [read], types: [Case], rows: north } }
  - { id: b, allow: { actors: any, actions: [read], via: stored, queries: [q1] } }`,
			"ada", tool.Grant{Action: tool.Read, Via: tool.Stored, Query: "q2"}, "no Person\nno Team\nCase north\nno City\nno LivesIn\nno WorksOn\n"},
		{"chain", `
  - { id: a, allow: { actors: any, actions: [read], types: [Case, Person], unless: {group: bots} } }
  - { id: c, deny: { actors: {group: clerks}, actions: [read], properties: [Person.salary] } }
  - { id: d, allow: { actors: {group: bots}, actions: [read], as: agent, rows: urgent } }
  - { id: e, allow: { actors: {group: bots}, actions: [read], as: agent, types: [Person] } }
  - { id: f, deny: { actors: {group: bots}, actions: [read], properties: [Person.bio] } }`,
			"ada via bot", tool.Grant{Action: tool.Read}, "Person without bio,face,salary\nno Team\nCase urgent\nno City\nno LivesIn\nno WorksOn\n"},
		{"filters of both", `
  - { id: a, allow: { actors: {group: clerks}, actions: [read], rows: north } }
  - { id: d, allow: { actors: {group: bots}, actions: [read], as: agent, rows: urgent } }`,
			"ada via bot", tool.Grant{Action: tool.Read}, "no Person\nno Team\nCase north urgent\nno City\nno LivesIn\nno WorksOn\n"},
	}
	for _, test := range tests {
		p, err := Compile("policy.yaml", []byte(head+test.rules), Options{Graph: "g", Queries: []string{"q1", "q2"}, Schemas: []*catalog.Schema{schema.Catalog}})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		a := access.Named(test.actor, nil)
		for range 2 { // the second answer is from the cache
			if got := rightsText(schema, p.Rights(a, test.grant, schema)); got != test.want {
				t.Errorf("%s: got\n%swant\n%s", test.name, got, test.want)
			}
		}
		if !p.Allowed(a, test.grant) {
			t.Errorf("%s: the grant is denied", test.name)
		}
	}
}

// TestRightsWithoutPermit asks what actors see who may change and may not read: all but what a rule denies. A rule that denies the
// whole graph says nothing about what a mutation reads.
func TestRightsWithoutPermit(t *testing.T) {
	schema := clinicSchema(t, clinic)
	const head = "version: 1\ngroups: { bots: [bot] }" + clinicFilters + "rules:\n  - { id: a, allow: { actors: {ids: [bot]}, actions: [change] } }\n"
	tests := []struct{ rules, actor, want string }{
		{"", "bot", "all\n"},
		{"  - { id: b, deny: { actors: any, actions: [read], properties: [Person.salary] } }", "bot", "Person without salary\n"},
		{"  - { id: b, deny: { actors: any, actions: [read], rows: north } }", "bot", "Case -north\n"},
		{"  - { id: b, deny: { actors: any, actions: [read], types: [City, Case] } }", "bot", "no Case\nno City\n"},
		{"  - { id: b, deny: { actors: any, actions: [read] } }\n  - { id: c, deny: { actors: any, actions: [read], types: [City] } }", "bot", "no City\n"},
		{"  - { id: b, allow: { actors: {ids: [ada]}, actions: [read], rows: north } }\n  - { id: c, deny: { actors: any, actions: [read], rows: urgent } }", "bot", "Case -urgent\n"},
		{"  - { id: b, allow: { actors: {ids: [ada]}, actions: [read], rows: north } }", "ada via bot", "no Person\nno Team\nCase north\nno City\nno LivesIn\nno WorksOn\n"},
	}
	for _, test := range tests {
		p, err := Compile("policy.yaml", []byte(head+test.rules+"\n"), Options{Graph: "g", Schemas: []*catalog.Schema{schema.Catalog}})
		if err != nil {
			t.Errorf("%s: %v", test.rules, err)
			continue
		}
		a, g := access.Named(test.actor, nil), tool.Grant{Action: tool.Read, Via: tool.Stored, Query: "q1"}
		if got := rightsText(schema, p.Rights(a, g, schema)); got != test.want || p.Allowed(a, g) {
			t.Errorf("%s: got\n%swant\n%s", test.rules, got, test.want)
		}
	}
}

// TestRightsAfterRename compiles rules with the names from before a rename. The schema says the former names, so the rules keep their
// meaning. A name that something else has now allows only that.
func TestRightsAfterRename(t *testing.T) {
	schema := clinicSchema(t, `
node Human @rename_from("Person") { email: String @key  pay: I32? @rename_from("salary")  age: I32? @rename_from("pay") }
node Case { code: String @key }
node File @rename_from("Case") { code: String @key }
edge DwellsIn: Human -> Case @rename_from("LivesIn") { since: I32? }
`)
	const filter = "filters: { young: { type: Person, where: '$it.age < 30' } }\n"
	tests := []struct{ rules, want string }{
		{"- { id: b, deny: { actors: any, actions: [read], properties: [Person.salary] } }", "Human without pay\n"},
		{"- { id: b, deny: { actors: any, actions: [read], properties: [Human.salary] } }", "Human without pay\n"},
		{"- { id: b, deny: { actors: any, actions: [read], properties: [Person.pay] } }", "Human without age,pay\n"},
		{"- { id: b, deny: { actors: any, actions: [read], types: [Person, LivesIn] } }", "no Human\nno DwellsIn\n"},
		{"- { id: b, deny: { actors: any, actions: [read], types: [Case] } }", "no Case\nno File\n"},
		{"- { id: b, deny: { actors: any, actions: [read], rows: young } }", "Human -young\n"},
		{"- { id: b, deny: { actors: {ids: [bo]}, actions: [read], types: [Case] } }", "all\n"},
	}
	const all = "- { id: a, allow: { actors: any, actions: [read] } }\n  "
	for i := range tests {
		tests[i].rules = all + tests[i].rules
	}
	tests = append(tests, []struct{ rules, want string }{
		{"- { id: a, allow: { actors: any, actions: [read], types: [Person, Case] } }", "no File\nno DwellsIn\n"},
		{"- { id: a, allow: { actors: any, actions: [read], properties: [Person.salary] } }", "Human without age\nno Case\nno File\nno DwellsIn\n"},
		{"- { id: a, allow: { actors: any, actions: [read], rows: young } }", "Human young\nno Case\nno File\nno DwellsIn\n"},
	}...)
	for _, test := range tests {
		p, err := Compile("policy.yaml", []byte("version: 1\n"+filter+"rules:\n  "+test.rules+"\n"), Options{Graph: "g", Schemas: []*catalog.Schema{schema.Catalog}})
		if err != nil {
			t.Errorf("%s: %v", test.rules, err)
			continue
		}
		if got := rightsText(schema, p.Rights(actor("ada"), tool.Grant{Action: tool.Read}, schema)); got != test.want {
			t.Errorf("%s: got\n%swant\n%s", test.rules, got, test.want)
		}
		if list := p.UnknownParts(schema); list != nil {
			t.Errorf("%s: %v", test.rules, list)
		}
	}
	for graphs, want := range map[string]int{"g": 2, "g h": 1} {
		p, err := Compile("policy.yaml", []byte(`version: 1
rules: [{ id: a, deny: { actors: any, actions: [read], types: [Nosuch], properties: [Human.nosuch] } }, { id: b, allow: { actors: any, actions: [read], types: [Other] } }]`), Options{Graph: "g", Graphs: strings.Fields(graphs)})
		if err != nil {
			t.Fatal(err)
		}
		if list := p.UnknownParts(schema); len(list) != want || !strings.Contains(list[want-1], `policy.yaml:2:15: unknown property "Human.nosuch" in rule a`) {
			t.Errorf("the warnings for %s are %q", graphs, list)
		}
	}
}

// TestPartFaults gives the faults of rules about parts of a graph.
func TestPartFaults(t *testing.T) {
	schema := clinicSchema(t, clinic)
	const head = "version: 1\ngroups: { clerks: [ada] }" + clinicFilters + "rules:\n"
	yaml := []struct{ rule, want string }{
		{"deny: { actors: any, actions: [read], types: [Cse] }", `unknown type "Cse" in rule a (help: did you mean Case?)`},
		{"deny: { actors: any, actions: [read], properties: [Person.salry] }", `unknown property "Person.salry" in rule a (help: did you mean Person.salary?)`},
		{"deny: { actors: any, actions: [read], properties: [Person] }", `Person in properties is a type`},
		{"deny: { actors: any, actions: [read], properties: [Person.] }", `is no property`},
		{"deny: { actors: any, actions: [read], types: [Person.name] }", `Person.name in types is a property`},
		{"deny: { actors: any, actions: [read], properties: [Person.email] }", `Person.email cannot be hidden, because it is in the key of Person`},
		{"deny: { actors: any, actions: [read], properties: [Named.name] }", `Named.name cannot be hidden, because it is in the key of Team`},
		{"deny: { actors: any, actions: [read], rows: nort }", `unknown filter "nort" in rule a (help: did you mean north?)`},
		{"allow: { actors: any, actions: [read], types: [Person], rows: north }", `the types of rule a are Person, but filter north is about Case`},
		{"allow: { actors: any, actions: [read], properties: [Case.team], rows: north }", `the rule has both rows and properties`},
		{"allow: { actors: any, actions: [read, branch_create], types: [Case] }", `types, properties and rows do not apply to branch_create`},
		{"allow: { actors: any, actions: [read], types: [] }", `types is an empty list`},
		{"allow: { actors: any, actions: [read], unless: { group: nosuch } }", `unknown group "nosuch" in rule a`},
		{"allow: { actors: any, actions: [read], queries: [q1] }", `queries does not apply to read`},
		{"allow: { actors: any, actions: [read], via: stored, queries: [q9] }", `unknown query "q9"`},
	}
	o := Options{Graph: "g", Queries: []string{"q1"}, Schemas: []*catalog.Schema{schema.Catalog}}
	for _, test := range yaml {
		text := head + "  - { id: a, " + test.rule + " }\n"
		if _, err := Compile("p.yaml", []byte(text), o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\ngot  %v\nwant %s", test.rule, err, test.want)
		}
	}
	r := strictyaml.Read("cluster.yaml", []byte(clinicFilters))
	f, _ := r.Root().Fields("cluster.yaml", "filters")
	o.Protected = protected.Parse(nil, nil, f["filters"])
	native := []struct{ text, want string }{
		{`permit (principal, action == Action::"read", resource in Type::"Cse");`, `unknown type "Cse" in policy policy0 (help: did you mean Case?)`},
		{`forbid (principal, action == Action::"read", resource == Property::"Person.salry");`, `unknown property "Person.salry"`},
		{`forbid (principal, action == Action::"read", resource == Property::"Person.email");`, `Person.email cannot be hidden`},
		{`forbid (principal, action == Action::"read", resource == Type::"Person.name");`, `is no type`},
		{`@rows("nort") permit (principal, action == Action::"read", resource);`, `unknown filter "nort"`},
		{`@rows("north") permit (principal, action == Action::"read", resource in Type::"Person");`, `does not name the type Case of its filter north`},
		{`@rows("north") forbid (principal, action == Action::"read", resource) when { resource in Type::"Case" || resource in Type::"Person" };`, `policy0 names Type::"Person", but its filter north is about Case only`},
		{`@rows("north") forbid (principal, action == Action::"read", resource in Type::"Case") unless { resource == Property::"Case.team" };`, `policy0 names Property::"Case.team"`},
		{`@rows("north") forbid (principal, action == Action::"read", resource == Property::"Case.team");`, `does not name the type Case`},
		{`@rows("north") permit (principal, action, resource);`, `has @rows and is about`},
		{`permit (principal, action == Action::"branch_create", resource in Type::"Case");`, `policy0: `},
	}
	for _, test := range native {
		if _, err := CompileCedar("p.cedar", []byte(test.text), o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\ngot  %v\nwant %s", test.text, err, test.want)
		}
	}
	p, err := CompileCedar("p.cedar", []byte(`
@rows("north") permit (principal, action == Action::"read", resource in Type::"Case");
permit (principal, action == Action::"read", resource) when { resource in Type::"City" };
permit (principal == Actor::"bo", action == Action::"read", resource == Graph::"g");
forbid (principal, action == Action::"read", resource == Property::"City.region");
@rows("urgent") forbid (principal, action in [Action::"read", Action::"export"], resource);`), o)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"ada": "no Person\nno Team\nCase north -urgent\nCity without region\nno LivesIn\nno WorksOn\n",
		"bo":  "Case -urgent\nCity without region\n",
	} {
		g := tool.Grant{Action: tool.Read}
		if got := rightsText(schema, p.Rights(actor(id), g, schema)); got != want || !p.Allowed(actor(id), g) {
			t.Errorf("%s: got\n%swant\n%s", id, got, want)
		}
	}
	if p.Allowed(actor("ada"), tool.Grant{Action: tool.Export}) {
		t.Error("a forbid allows")
	}
}

// TestRowsOfOthers gives rights by policies with filters that match more than the type of the filter: the rest is hidden.
func TestRowsOfOthers(t *testing.T) {
	schema := clinicSchema(t, clinic)
	r := strictyaml.Read("cluster.yaml", []byte(clinicFilters))
	f, _ := r.Root().Fields("cluster.yaml", "filters")
	o := Options{Graph: "g", Schemas: []*catalog.Schema{schema.Catalog}, Protected: protected.Parse(nil, nil, f["filters"])}
	for condition, want := range map[string]string{
		`resource is Type`: "no Person\nno Team\nCase -north\nno City\nno LivesIn\nno WorksOn\n",
		// A key is a property too, and cannot be hidden alone.
		`resource is Property`: "no Person\nno Team\nno Case\nno City\nLivesIn without since\n",
		`resource is Graph`:    "Case -north\n",
		`true`:                 "Case -north\n",
	} {
		p, err := CompileCedar("p.cedar", []byte(`
permit (principal, action == Action::"read", resource);
@rows("north") forbid (principal, action == Action::"read", resource) when { `+condition+` };`), o)
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		if got := rightsText(schema, p.Rights(actor("ada"), tool.Grant{Action: tool.Read}, schema)); got != want {
			t.Errorf("%s: got\n%swant\n%s", condition, got, want)
		}
	}
}

// TestRightsOfCaller binds filters that read the caller: its id, its groups and its claims. The subject is the caller, also through an
// agent, and the digest follows what the filters read.
func TestRightsOfCaller(t *testing.T) {
	schema := clinicSchema(t, clinic)
	var claims plan.Claims
	if err := claims.Declare("region", "String"); err != nil {
		t.Fatal(err)
	}
	p, err := Compile("policy.yaml", []byte(`version: 1
filters:
  own_team: { type: Case, where: "$it.team in actor().groups" }
  my_region: { type: Person, where: "exists { $it livesIn $c  $c.region = actor().region }" }
rules:
  - { id: cases, allow: { actors: any, actions: [read], rows: own_team } }
  - { id: people, allow: { actors: any, actions: [read], rows: my_region } }
  - { id: not-mine, deny: { actors: {ids: [ada]}, actions: [read], rows: own_team } }
`), Options{Graph: "g", Claims: claims, Schemas: []*catalog.Schema{schema.Catalog}})
	if err != nil {
		t.Fatal(err)
	}
	g := tool.Grant{Action: tool.Read}
	rights := func(id, group, region string) *engine.Rights {
		a := &access.Actor{ID: id, Groups: []string{group}}
		if region != "" {
			a.Claims = map[string]value.Value{"region": value.OfString(region)}
		}
		return p.Rights(a, g, schema)
	}
	ada := rights("ada", "north", "EU")
	if text := rightsText(schema, ada); text != "Person my_region\nno Team\nCase own_team -own_team\nno City\nno LivesIn\nno WorksOn\n" {
		t.Error(text)
	}
	args := ada.Nodes["Person"].Any[0][0].Args
	if len(args) != 1 || !value.Equal(args[0], value.OfString("EU")) {
		t.Errorf("the arguments are %v", args)
	}
	if args := ada.Nodes["Case"].All[0].Args; len(args) != 1 || len(args[0].Elems()) != 1 || args[0].Elems()[0].Str() != "north" {
		t.Errorf("the arguments are %v", args)
	}
	if rights("ada", "north", "EU") != ada {
		t.Error("the rights are not cached")
	}
	seen := map[string]bool{}
	for _, r := range []*engine.Rights{ada, rights("ada", "south", "EU"), rights("ada", "north", "US"), rights("ada", "north", ""), rights("bo", "north", "EU")} {
		if seen[r.Digest] {
			t.Errorf("two different rights have the digest %s", r.Digest)
		}
		seen[r.Digest] = true
	}
	// The second actor has one group, whose name looks like two where a value is printed.
	two := p.Rights(&access.Actor{ID: "cy", Groups: []string{"north", "south"}}, g, schema)
	if one := rights("cy", "north <nil>} {1 false 0 south", ""); one.Digest == two.Digest {
		t.Error("the rights of two groups and of one have the same digest")
	}
	if rights("ada", "north", "EU").Digest != ada.Digest || rights("cy", "north", "EU").Digest != rights("bo", "north", "EU").Digest {
		t.Error("equal rights have different digests")
	}
	if args := rights("ada", "north", "").Nodes["Person"].Any[0][0].Args; !args[0].IsNull() {
		t.Errorf("without the claim: %v", args)
	}
	through := &access.Actor{ID: "bo", Groups: []string{"north"}, Agents: []access.Agent{{ID: "bot", Groups: []string{"bots"}}}}
	lists := p.Rights(through, g, schema).Nodes["Case"].Any
	if len(lists) != 1 || lists[0][0].Args[0].Elems()[0].Str() != "north" {
		t.Errorf("through an agent: %v", lists)
	}
	// A schema that the filter does not fit hides the type.
	other := clinicSchema(t, strings.Replace(clinic, "team: String?", "team: I32?", 1))
	if text := rightsText(other, p.Rights(actor("bo"), g, other)); !strings.Contains(text, "no Case\n") {
		t.Error(text)
	}
	plain, err := Compile("policy.yaml", []byte("version: 1\nrules: [{ id: a, allow: { actors: any, actions: [read] } }, { id: b, deny: { actors: {ids: [bo]}, actions: [read], types: [Case] } }]"), Options{Graph: "g"})
	if err != nil {
		t.Fatal(err)
	}
	who := actor("ada")
	if n := testing.AllocsPerRun(100, func() {
		if plain.Rights(who, g, schema) != nil {
			t.Fatal("ada is restricted")
		}
	}); n > 0 {
		t.Errorf("the rights of an actor without restrictions cost %v allocations", n)
	}
}

// TestRuleWarnings gives the warnings about policies.
func TestRuleWarnings(t *testing.T) {
	schema := clinicSchema(t, clinic)
	const head = "version: 1\ngroups: { clerks: [ada] }" + clinicFilters + "rules:\n"
	tests := []struct{ rules, want string }{
		{"  - { id: a, allow: { actors: any, actions: [read, change] } }", ""},
		{"  - { id: a, allow: { actors: any, actions: [read], via: stored } }", ""},
		{"  - { id: a, allow: { actors: any, actions: [read], rows: north } }\n  - { id: b, allow: { actors: any, actions: [read], via: stored } }",
			"rule b allows what other rules hide to every stored query"},
		{"  - { id: a, allow: { actors: any, actions: [read], rows: north } }\n  - { id: b, allow: { actors: any, actions: [read], via: stored, queries: [q1] } }", ""},
		{"  - { id: a, allow: { actors: {group: clerks}, actions: [read, change], rows: north } }", "filter north reads Case.team, which the actors of group clerks may change"},
		{"  - { id: a, allow: { actors: any, actions: [read], rows: north } }\n  - { id: b, allow: { actors: {ids: [bo]}, actions: [change] } }", "filter north reads Case.team, which bo may change"},
		{"  - { id: a, allow: { actors: any, actions: [read, change], rows: north } }\n  - { id: b, deny: { actors: any, actions: [change], properties: [Case.team] } }", ""},
		{"  - { id: a, allow: { actors: any, actions: [read], rows: europe } }\n  - { id: b, allow: { actors: any, actions: [change], types: [LivesIn] } }", "filter europe reads LivesIn, which"},
		{"  - { id: a, allow: { actors: any, actions: [read], rows: europe } }\n  - { id: b, allow: { actors: any, actions: [change], types: [Case] } }", ""},
		{"  - { id: a, allow: { actors: any, actions: [read, export] } }\n  - { id: b, deny: { actors: any, actions: [read], properties: [Person.salary] } }",
			"rule b denies to read Person.salary, which actors that the policy does not name may export"},
		{"  - { id: a, allow: { actors: {group: clerks}, actions: [read, export] } }\n  - { id: b, deny: { actors: any, actions: [read], types: [Case] } }",
			"rule b denies to read Case, which the actors of group clerks may export"},
		{"  - { id: a, allow: { actors: {ids: [bo]}, actions: [export] } }\n  - { id: b, deny: { actors: any, actions: [read], rows: north } }", "rule b denies to read rows of Case, which bo may export"},
		{"  - { id: a, allow: { actors: any, actions: [read, export] } }\n  - { id: b, deny: { actors: any, actions: [read, export], properties: [Person.salary] } }", ""},
		{"  - { id: a, allow: { actors: any, actions: [read, export] } }\n  - { id: b, deny: { actors: any, actions: [read], rows: north } }\n  - { id: c, deny: { actors: any, actions: [export], types: [Case] } }", ""},
		{"  - { id: a, allow: { actors: any, actions: [read] } }\n  - { id: b, deny: { actors: any, actions: [read], properties: [Person.salary] } }", ""},
		{"  - { id: a, allow: { actors: {group: clerks}, actions: [read, export] } }\n  - { id: b, deny: { actors: any, actions: [read], properties: [Person.salary], unless: {group: clerks} } }", ""},
	}
	for _, test := range tests {
		p, err := Compile("p.yaml", []byte(head+test.rules+"\n"), Options{Graph: "g", Queries: []string{"q1"}})
		if err != nil {
			t.Errorf("%s: %v", test.rules, err)
			continue
		}
		got := ""
		for _, d := range p.Warnings(schema.Catalog) {
			got += d.Message + "\n"
		}
		if test.want == "" && got != "" || !strings.Contains(got, test.want) || strings.Count(got, "\n") > 1 {
			t.Errorf("%s\ngot  %swant %s", test.rules, got, test.want)
		}
	}
}

// BenchmarkRights measures rights that are in the cache.
func BenchmarkRights(b *testing.B) {
	schema := clinicSchema(b, clinic)
	p, err := Compile("policy.yaml", []byte("version: 1\n"+clinicFilters+"rules:\n  - { id: a, allow: { actors: any, actions: [read], rows: north } }\n  - { id: b, allow: { actors: { ids: [bo] }, actions: [read] } }\n"), Options{Graph: "g"})
	if err != nil {
		b.Fatal(err)
	}
	for _, id := range []string{"ada", "bo"} {
		b.Run(id, func(b *testing.B) {
			who, g := actor(id), tool.Grant{Action: tool.Read}
			b.ReportAllocs()
			for range b.N {
				p.Rights(who, g, schema)
			}
		})
	}
	b.Run("uncached", func(b *testing.B) {
		who, g := actor("ada"), tool.Grant{Action: tool.Read}
		for range b.N {
			p.restrict(p.links(who), g, schema)
		}
	})
}
