package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// waitFor waits until the last published findings of a file have the text, or do not have it.
func (e *editor) waitFor(t *testing.T, uri, text string, has bool) published {
	t.Helper()
	var last published
	for range 600 {
		e.mu.Lock()
		last = e.published[strings.TrimPrefix(uri, "file://")]
		e.mu.Unlock()
		found := false
		for _, d := range last.Diagnostics {
			found = found || strings.Contains(d.Message, text)
		}
		if found == has && last.URI != "" {
			return last
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s: the findings are %+v; expected %q: %t", uri, last, text, has)
	return last
}

// TestFindingsAreFresh edits documents and does not save them. The findings are always those of the texts in the
// editor, with the version of the document, and go when a document is closed without saving.
func TestFindingsAreFresh(t *testing.T) {
	module(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n",
		"g/schema.pg":  goodSchema, "g/a.gq": goodQuery,
	})
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	e := startEditor(t)
	// The editor spells the address with escapes that it need not have.
	schema, query := "file://"+dir+"/g/schema.pg", "file://"+dir+"/g/%61.gq"
	version := map[string]int{}
	change := func(uri, text string) {
		t.Helper()
		version[uri]++
		document := map[string]any{"uri": uri, "version": version[uri], "text": text}
		if version[uri] == 1 {
			e.notify(t, "textDocument/didOpen", map[string]any{"textDocument": document})
			return
		}
		e.notify(t, "textDocument/didChange", map[string]any{"textDocument": document, "contentChanges": []any{map[string]any{"text": text}}})
	}
	change(query, goodQuery)
	e.waitFor(t, query, "no @description", true)
	// The unsaved schema lacks a property that the query uses, and then has it again.
	change(schema, strings.ReplaceAll(goodSchema, "name", "title"))
	if got := e.waitFor(t, query, "no property name", true); got.Version == nil || *got.Version != 1 {
		t.Errorf("the findings of the query are about the version %v, want 1", got.Version)
	}
	change(schema, goodSchema)
	e.waitFor(t, query, "no property name", false)

	change(query, strings.ReplaceAll(goodQuery, ".name", ".nothing"))
	if got := e.waitFor(t, query, "nothing", true); got.Version == nil || *got.Version != 2 {
		t.Errorf("the findings are about the version %v, want 2", got.Version)
	}
	// The last document that is open is closed without saving.
	e.notify(t, "textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": schema}})
	e.notify(t, "textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": query}})
	e.waitFor(t, query, "nothing", false)
}

// TestFindingsInSettings checks that a finding of the check of all graphs in cluster.yaml and a note about the settings
// are shown together, and that the note stays when the finding goes.
func TestFindingsInSettings(t *testing.T) {
	module(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\nstate: {}\ngraphs:\n  people: { schema: g/schema.pg, queries: { find: { file: g/a.gq }, absent: { file: g/a.gq } } }\n",
		"g/schema.pg":  goodSchema, "g/a.gq": goodQuery,
	})
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	e := startEditor(t)
	settings, query := "file://"+dir+"/cluster.yaml", "file://"+dir+"/g/a.gq"
	e.open(t, "cluster.yaml")
	e.open(t, "g/a.gq")
	e.waitFor(t, settings, "no query absent", true)
	e.waitFor(t, settings, "state has no effect", true)
	text := goodQuery + "query absent() @description(\"Finds all.\") { match { $p: Person } return { $p.name } limit 3 }\n"
	e.notify(t, "textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": query, "version": 2}, "contentChanges": []any{map[string]any{"text": text}},
	})
	last := e.waitFor(t, settings, "no query absent", false)
	if len(last.Diagnostics) != 1 || !strings.Contains(last.Diagnostics[0].Message, "state has no effect") {
		t.Errorf("cluster.yaml has the findings %+v, want the note alone", last.Diagnostics)
	}
}
