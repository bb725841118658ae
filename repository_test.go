package omnigraph

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var makeStep = regexp.MustCompile(`\bmake ([a-z][a-z0-9-]*(?: [A-Z_]+=\S+)*)(?:;| #|$)`)

var jobName = regexp.MustCompile(`^  ([a-z]+):\n$`)

// TestWorkflow checks that the jobs of the CI workflow have the same steps as .ci/run and .ci/verify, and that each
// step is a target of the makefiles.
func TestWorkflow(t *testing.T) {
	steps := map[string][]string{}
	job := ""
	for line := range strings.Lines(read(t, ".github/workflows/ci.yml")) {
		if m := jobName.FindStringSubmatch(line); m != nil {
			job = m[1]
		}
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
		steps[job] = append(steps[job], m[1])
	}
	makefiles := read(t, "Makefile") + read(t, "test/verify.mk") + read(t, "bench/bench.mk")
	for job, script := range map[string]string{"change": ".ci/run", "verify": ".ci/verify"} {
		var local []string
		for line := range strings.Lines(read(t, script)) {
			if code := strings.TrimSpace(line); !strings.HasPrefix(code, "#") {
				for _, m := range makeStep.FindAllStringSubmatch(code, -1) {
					local = append(local, m[1])
				}
			}
		}
		if len(local) == 0 || !slices.Equal(steps[job], local) {
			t.Errorf("the steps of the job %s in .github/workflows/ci.yml are\n  %s\nand those of %s\n  %s", job, strings.Join(steps[job], "\n  "), script, strings.Join(local, "\n  "))
		}
		for _, s := range local {
			target, _, _ := strings.Cut(s, " ")
			if !strings.Contains(makefiles, "\n"+target+":") {
				t.Errorf("%s runs the target %s, which no makefile has", script, target)
			}
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
