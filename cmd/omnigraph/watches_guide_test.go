package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/policy"
)

// TestWatchesGuide runs docs/watches.md and compiles its policy.
func TestWatchesGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/watches.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml policy.yaml\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatal("the guide has no policy")
	}
	if _, err := policy.Compile("policy.yaml", m[1], policy.Options{Graph: "team"}); err != nil {
		t.Error(err)
	}
	runGuide(t, "watches.md")
}
