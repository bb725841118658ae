package lsp

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestCompletionOfRecords completes at the bar in queries with lists of records. The items must be the fields of the
// list that the nearest `for` goes through, and no property of another variable with the same name.
func TestCompletionOfRecords(t *testing.T) {
	const schema = "node Person { name: String @key  age: I32? }\nedge Knows: Person -> Person { since: Date? }\n"
	const head = "query q($study: [{ org: I64, year: I32? }], $more: [{ who: String }]?, $names: [String]) "
	fields := []string{"org I64", "year I32?"}
	properties := []string{"age I32?", "id String", "name String"}
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"a field", head + `{ for $s in $study { insert Person { name: string($s.|) } } }`, fields},
		{"a part of a field", head + `{ for $s in $study { insert Person { name: string($s.ye|) } } }`, fields},
		{"in a condition", head + `{ for $s in $study { update Person set { age: 3 } where age = $s.|`, fields},
		{"after another block", head + `{ for $s in $study { delete Person where age = $s.year } for $s in $more { delete Person where name = $s.|`, []string{"who String"}},
		{"after a match with the name", head + `{ match { $s: Person } { delete Person where age = $s.age } for $s in $study { delete Person where age = $s.|`, fields},
		{"a variable of a match", head + `{ for $s in $study { delete Person where age = $s.year } match { $s: Person } { delete Person where name = $s.| } }`, properties},
		{"an element that is no record", head + `{ for $s in $names { insert Person { name: $s.| } } }`, nil},
		{"a parameter", head + `{ for $s in $study { insert Person { name: $study.| } } }`, nil},
		{"after the block", head + `{ for $s in $study { delete Person where age = $s.year } insert Person { name: $s.| } }`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after, _ := strings.Cut(test.text, "|")
			s := newTestServer()
			_, uri := openProject(t, s, t.TempDir(), schema, before+after+"\n")
			s.run()
			list, err := s.completion(&positionParams{textDocument{uri}, s.document(uri).text.position(len(before))})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, item := range list.Items {
				got = append(got, item.Label+" "+item.Detail)
			}
			slices.Sort(got)
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestCompletionOfFieldTypes completes the type of a field in the declaration of a parameter.
func TestCompletionOfFieldTypes(t *testing.T) {
	s := newTestServer()
	const text = "query q($study: [{ org: "
	_, uri := openProject(t, s, t.TempDir(), "node Person { name: String @key }\n", text)
	s.run()
	list, err := s.completion(&positionParams{textDocument{uri}, s.document(uri).text.position(len(text))})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list.Items, func(i completionItem) bool { return i.Label == "I64" }) ||
		slices.ContainsFunc(list.Items, func(i completionItem) bool { return i.Label == "Person" }) {
		t.Errorf("found %v, want the scalar types alone", list.Items)
	}
}

// TestCompletionOfParameterTypes completes the type of a parameter. It may be a node type or an interface.
func TestCompletionOfParameterTypes(t *testing.T) {
	s := newTestServer()
	const text = "query q($who: "
	_, uri := openProject(t, s, t.TempDir(), "interface Named { name: String }\nnode Person implements Named { name: String @key }\n", text)
	s.run()
	list, err := s.completion(&positionParams{textDocument{uri}, s.document(uri).text.position(len(text))})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"I64", "Person", "Named"} {
		if !slices.ContainsFunc(list.Items, func(i completionItem) bool { return i.Label == want }) {
			t.Errorf("found %v, want %s among them", list.Items, want)
		}
	}
}

// TestCompletionOfInserts completes what follows insert and insert new.
func TestCompletionOfInserts(t *testing.T) {
	for _, test := range []struct {
		text  string
		isNew bool // whether the word new is proposed
	}{{"query q() { insert ", true}, {"query q() { insert new ", false}, {"query q() { upsert ", false}} {
		s := newTestServer()
		_, uri := openProject(t, s, t.TempDir(), "node Person { name: String @key }\n", test.text)
		s.run()
		list, err := s.completion(&positionParams{textDocument{uri}, s.document(uri).text.position(len(test.text))})
		if err != nil {
			t.Fatal(err)
		}
		has := func(label string) bool {
			return slices.ContainsFunc(list.Items, func(i completionItem) bool { return i.Label == label })
		}
		if !has("Person") || has("new") != test.isNew {
			t.Errorf("%s: found %v", test.text, list.Items)
		}
	}
}

// endsSchema is a schema with an edge to an interface.
const endsSchema = "interface Named { name: String }\nnode Person implements Named { name: String @key }\nnode Log {}\nnode Memo {}\nedge About: Memo -> Named\nedge Links: Log -> Log\nedge Ends: "

// TestCompletionOfEnds completes the end of an edge in a schema, the edges after a variable, and the ends of a bound edge.
func TestCompletionOfEnds(t *testing.T) {
	for _, test := range []struct{ schema, query, label, detail string }{
		{endsSchema + "Log -> Log\n", "", "Named", "interface"},
		{endsSchema + "Log -> Log\n", "", "Person", "node"},
		{endsSchema + "Log -> Log\n", "query q() { match { $p: Person $p ", "about", "Memo -> Named"},
		{endsSchema + "Log -> Log\n", "query q() { match { $m $w:about $x $x.name = $w.", "to", "Named"},
		{endsSchema + "Log -> Log\n", "query q() { match { $m $w:about $x $x.name = $w.", "from", "String"},
		{endsSchema + "Log -> Log\n", "query q() { match { $m about $x $x.", "name", "String"},
	} {
		s := newTestServer()
		schema, query := openProject(t, s, t.TempDir(), test.schema, test.query)
		s.run()
		uri, text := query, test.query
		if text == "" {
			uri, text = schema, endsSchema
		}
		list, err := s.completion(&positionParams{textDocument{uri}, s.document(uri).text.position(len(text))})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list.Items, func(i completionItem) bool { return i.Label == test.label })
		if i < 0 || list.Items[i].Detail != test.detail {
			t.Errorf("after %q: found %v, want %s with %s", text, list.Items, test.label, test.detail)
			continue
		}
		if links := slices.IndexFunc(list.Items, func(i completionItem) bool { return i.Label == "links" }); test.label == "about" && list.Items[links].SortText <= list.Items[i].SortText {
			t.Errorf("links comes before about, which can end at a Person")
		}
	}
}

// TestHoverOverEnds describes the ends of a bound edge, and a variable at an end that is an interface.
func TestHoverOverEnds(t *testing.T) {
	s := newTestServer()
	const text = "query q() { match { $m $w:about $x } return { $w.from, $w.to, $x.name } }\n"
	_, uri := openProject(t, s, t.TempDir(), endsSchema+"Log -> Log\n", text)
	s.run()
	for over, want := range map[string]string{"to,": "About.to: Named", "from,": "About.from: String", "$x.": "$x: Named", "about": "edge About: Memo -> Named"} {
		h, err := s.hover(&positionParams{textDocument{uri}, s.document(uri).text.position(strings.Index(text, over))})
		if err != nil || h == nil || !strings.Contains(h.Contents.Value, want) {
			t.Errorf("over %s: found %+v, %v, want %s", over, h, err, want)
		}
	}
}

// TestHoverOverNodeParameters describes parameters that are nodes, and the head of their query.
func TestHoverOverNodeParameters(t *testing.T) {
	s := newTestServer()
	const text = "query q($who: Named, $not: Person?) { match { $p: Person $p = $who any { $not is null $p != $not } } return { $p.id as id } }\n"
	_, uri := openProject(t, s, t.TempDir(), "interface Named { name: String }\nnode Person implements Named { name: String @key }\n", text)
	s.run()
	for over, want := range map[string]string{"$who:": "$who: Named", "$not:": "$not: Person?", "q(": "query q($who: Named, $not: Person?)"} {
		h, err := s.hover(&positionParams{textDocument{uri}, s.document(uri).text.position(strings.Index(text, over))})
		if err != nil || h == nil || !strings.Contains(h.Contents.Value, want) {
			t.Errorf("over %s: found %+v, %v, want %s", over, h, err, want)
		}
	}
}

// TestCompletionOfOrigin completes the facts about an origin.
func TestCompletionOfOrigin(t *testing.T) {
	const text = "query q() { match { $p: Person origin($p)."
	s := newTestServer()
	_, uri := openProject(t, s, t.TempDir(), "node Person { name: String @key }\n", text)
	list, err := s.completion(&positionParams{textDocument{uri}, s.document(uri).text.position(len(text))})
	if err != nil || !slices.ContainsFunc(list.Items, func(i completionItem) bool { return i.Label == "made_by" && i.Detail == "String?" }) || len(list.Items) != 7 {
		t.Errorf("found %v, %v", list, err)
	}
}

// TestCompletionOfActor completes the members of actor(). The claims are those of cluster.yaml or, without one, of gq.yaml.
func TestCompletionOfActor(t *testing.T) {
	const text = "query q() { match { $p: Person $p.name = actor()."
	files := map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs: { g: { schema: s.pg, queries: [q.gq] } }\nserver: { claims: { region: String } }\n", "gq.yaml": "claims: { team: String }\n",
	}
	for cluster, want := range map[bool]string{true: "id: String, groups: [String], region: String?", false: "id: String, groups: [String], team: String?"} {
		s := newTestServer()
		dir := t.TempDir()
		_, uri := openProject(t, s, dir, "node Person { name: String @key }\n", text)
		at, ok := s.place(&positionParams{textDocument{uri}, s.document(uri).text.position(len(text))})
		if !ok {
			t.Fatal("the text is in no project")
		}
		p := at.graph.project
		p.cluster = cluster
		p.load(func(path string) (string, error) { return files[filepath.Base(path)], nil })
		_, _, items := at.graph.assist().Complete(at.doc.path, at.source, at.offset)
		var got []string
		for _, item := range items {
			got = append(got, item.Label+": "+item.Detail)
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("with cluster.yaml %t: found %s", cluster, got)
		}
		list, err := s.completion(&positionParams{textDocument{uri}, s.document(uri).text.position(len(text))})
		if err != nil || !slices.ContainsFunc(list.Items, func(i completionItem) bool { return i.Label == "groups" }) {
			t.Errorf("found %v, %v", list, err)
		}
	}
}
