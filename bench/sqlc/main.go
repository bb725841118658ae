// Command sqlc compares gq generate with sqlc generate on the same thousand queries over a hundred
// types or tables. The two run as processes, in turns.
//
// It reports the median wall time and peak resident memory of each, and builds the package that gq
// wrote. It fails if gq takes more than twice the time of sqlc, or more memory.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	turns := flag.Int("turns", 9, "number of `runs` of each command")
	build := flag.Bool("build", true, "build the code that gq generated")
	flag.Parse()
	if err := run(*turns, *build); err != nil {
		fmt.Fprintln(os.Stderr, "bench-codegen:", err)
		os.Exit(1)
	}
}

// run times gq and sqlc in `turns` runs each. With `build` it also builds the code that gq made.
func run(turns int, build bool) (err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-codegen-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeInputs(dir); err != nil {
		return err
	}
	gq, sqlc := filepath.Join(dir, "bin-gq"), filepath.Join(dir, "bin-sqlc")
	if _, err := output(root, "go", "build", "-o", gq, "./cmd/gq"); err != nil {
		return err
	}
	if _, err := output(".", "go", "build", "-o", sqlc, "github.com/sqlc-dev/sqlc/cmd/sqlc"); err != nil {
		fmt.Println("bench-codegen: skipped: sqlc cannot be built here:", err)
		return nil
	}
	version, err := output(dir, sqlc, "version")
	if err != nil {
		return err
	}
	generate := []string{"generate", "--schema", "schema.pg", "--queries", "gq", "--graph", "big", "--out", "generated/big"}
	var ours, theirs []sample
	for range turns {
		for _, d := range []string{"db", "generated"} {
			if err := os.RemoveAll(filepath.Join(dir, d)); err != nil {
				return err
			}
		}
		a, err := measure(dir, gq, generate...)
		if err != nil {
			return err
		}
		b, err := measure(dir, sqlc, "generate")
		if err != nil {
			return err
		}
		ours, theirs = append(ours, a), append(theirs, b)
	}
	fmt.Printf("%d queries over %d tables or types, medians of %d turns each, %s on %s/%s\n",
		tables*len(shapes), tables, turns, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Printf("%-28s %8s %8s %10s\n", "", "wall s", "CPU s", "peak MB")
	gqWall, gqPeak := report("gq generate", ours)
	sqlcWall, sqlcPeak := report("sqlc generate "+strings.TrimSpace(string(version)), theirs)
	if build {
		if err := buildGenerated(root, dir); err != nil {
			return err
		}
	}
	if gqWall > 2*sqlcWall || gqPeak > sqlcPeak {
		return errors.New("gq takes more than twice the time of sqlc, or more memory")
	}
	return nil
}

// sample holds the time and memory of one process.
type sample struct {
	wall, cpu time.Duration // elapsed time and processor time
	peak      float64       // peak resident memory, in MB of a million bytes
}

// measure runs a program in a folder and returns its time and memory.
func measure(dir, program string, args ...string) (sample, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), args[0], err, stderr.String())
	}
	wall := time.Since(start)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return sample{}, errors.New("the peak memory of a process cannot be measured on " + runtime.GOOS)
	}
	unit := 1024.0 // Linux reports kilobytes
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return sample{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), float64(usage.Maxrss) * unit / 1e6}, nil
}

// report prints the medians and returns those of the wall time and the peak memory.
func report(name string, samples []sample) (wall time.Duration, peak float64) {
	wall = median(samples, func(s sample) time.Duration { return s.wall })
	cpu := median(samples, func(s sample) time.Duration { return s.cpu })
	peak = median(samples, func(s sample) float64 { return s.peak })
	fmt.Printf("%-28s %8.3f %8.3f %10.1f\n", name, wall.Seconds(), cpu.Seconds(), peak)
	return wall, peak
}

// median returns the median of a value of the samples.
func median[T cmp.Ordered](samples []sample, of func(sample) T) T {
	values := make([]T, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// buildGenerated compiles the package that gq wrote, in its own module with the dependency versions
// of the repository.
func buildGenerated(root, dir string) error {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	const module = "github.com/omnigraph-go/omnigraph"
	text := strings.Replace(string(mod), "module "+module, "module example.org/big", 1) +
		fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, root)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600),
		os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o600)); err != nil {
		return err
	}
	start := time.Now()
	if _, err := output(dir, "go", "build", "-mod=mod", "./generated/big"); err != nil {
		return fmt.Errorf("building the code that gq generated: %w", err)
	}
	fmt.Printf("go build took %.1f s for the code that gq generated\n", time.Since(start).Seconds())
	return nil
}

// output runs a program and returns its standard output.
func output(dir, program string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), args[0], err, stderr.String())
	}
	return out, nil
}
