package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// BenchmarkLintProcess measures gq lint of one file, including the start of the process. It also
// measures gq --help, to show how long the start alone takes. It reports medians.
func BenchmarkLintProcess(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "gq")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for name, args := range map[string][]string{
		"lint":  {"lint", "--schema", "../../queries/code/schema.pg", "../../queries/code/calls.gq"},
		"start": {"--help"},
	} {
		b.Run(name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				start := clock.Now()
				if out, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				times = append(times, clock.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms/median")
		})
	}
}
