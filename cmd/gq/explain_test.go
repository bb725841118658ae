package main

import (
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	lintModule(t, nil)
	tests := []struct {
		name string
		args []string
		code int
		out  []string // parts of standard output or standard error
	}{
		{"by the cluster", []string{"g/a.gq"}, exitDone, []string{"query find($slug: String)\n  var $p: node Person\n", "filter $p.slug = $slug", "reads node Person.name: String"}},
		{"by a schema", []string{"--schema", "g/schema.pg", "g/b.gq", "all"}, exitDone, []string{"query all()", "ties $p"}},
		{"no such query", []string{"g/b.gq", "al"}, exitFailed, []string{"g/b.gq has no query al; did you mean all?"}},
		{"no such file", []string{"g/c.gq"}, exitFailed, []string{"no such file"}},
		{"of no graph", []string{"cluster.yaml"}, exitFailed, []string{"does not belong to a graph of cluster.yaml; name its schema with --schema"}},
		{"with an error", []string{"--schema", "g/schema.pg", "cluster.yaml"}, exitFailed, []string{"cluster.yaml:1:1: error P7"}},
		{"nothing", nil, exitUsage, []string{"got 0 arguments"}},
	}
	for _, test := range tests {
		code, stdout, stderr := gqRun(append([]string{"explain"}, test.args...)...)
		if code != test.code {
			t.Errorf("%s: exit %d, expected %d\n%s%s", test.name, code, test.code, stdout, stderr)
		}
		for _, want := range test.out {
			if !strings.Contains(stdout+stderr, want) {
				t.Errorf("%s: no %q in\n%s%s", test.name, want, stdout, stderr)
			}
		}
	}
}
