package omnigraph

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var makeStep = regexp.MustCompile(`\bmake ([a-z][a-z0-9-]*(?: [A-Z_]+=\S+)*)(?:;| #|$)`)

// TestWorkflow checks that the CI workflow has the same steps as .ci/run and that each step is a
// target of the Makefile.
func TestWorkflow(t *testing.T) {
	var steps []string
	for line := range strings.Lines(read(t, ".github/workflows/ci.yml")) {
		run, ok := strings.CutPrefix(strings.TrimSpace(line), "- run: ")
		if !ok {
			if strings.Contains(line, "run:") {
				t.Errorf("%q is not a step of the form `- run: make TARGET`", strings.TrimSpace(line))
			}
			continue
		}
		m := makeStep.FindStringSubmatch(run)
		if m == nil || m[0] != run {
			t.Errorf("step %q is not a single make target", run)
			continue
		}
		steps = append(steps, m[1])
	}
	var local []string
	for line := range strings.Lines(read(t, ".ci/run")) {
		if code := strings.TrimSpace(line); !strings.HasPrefix(code, "#") {
			for _, m := range makeStep.FindAllStringSubmatch(code, -1) {
				local = append(local, m[1])
			}
		}
	}
	if !slices.Equal(steps, local) {
		t.Errorf("the steps of .github/workflows/ci.yml are\n  %s\nand those of .ci/run\n  %s", strings.Join(steps, "\n  "), strings.Join(local, "\n  "))
	}
	makefile := read(t, "Makefile")
	for _, s := range steps {
		target, _, _ := strings.Cut(s, " ")
		if !strings.Contains(makefile, "\n"+target+":") {
			t.Errorf("the Makefile has no target %s", target)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
