package outside

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

const omnigraph = "github.com/omnigraph-go/omnigraph"

// outsider is a module other than the one of this repository. `modfile` is the path of the go.mod
// that the go command uses for it.
type outsider struct{ dir, modfile string }

// module prepares the module in a folder so that the go command can build it without a network: it
// requires the versions that this repository requires, because these are on the disk. The
// requirements go into a go.mod in a temporary folder, so no file in the module's folder has to
// change when a version does.
func module(t *testing.T, dir string) outsider {
	t.Helper()
	own := parse(t, filepath.Join(dir, "go.mod"))
	if own.Module.Mod.Path == omnigraph || strings.HasPrefix(own.Module.Mod.Path, omnigraph+"/") {
		t.Fatalf("%s: the module %s may import the internal packages of %s; name it example.com/…", dir, own.Module.Mod.Path, omnigraph)
	}
	for _, r := range parse(t, "../../go.mod").Require {
		if err := own.AddRequire(r.Mod.Path, r.Mod.Version); err != nil {
			t.Fatal(err)
		}
	}
	text, err := own.Format()
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	complete := filepath.Join(t.TempDir(), "go.mod")
	write(t, complete, string(text))
	write(t, strings.TrimSuffix(complete, ".mod")+".sum", string(sums))
	return outsider{dir, complete}
}

// run runs a verb of the go command in the module and returns its two outputs.
func (o outsider) run(t *testing.T, verb string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{verb, "-modfile", o.modfile}, args...)...)
	cmd.Dir = o.dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// TestEmbedding builds the program that embeds a graph, and runs it on a graph in a folder and on one in shared storage.
func TestEmbedding(t *testing.T) {
	o := ready(t, "testdata/embedding")
	program := filepath.Join(t.TempDir(), "embedding.exe")
	if _, stderr, err := o.run(t, "build", "-o", program, "."); err != nil {
		t.Fatalf("go build: %v\n%s", err, stderr)
	}
	folder, storage := filepath.Join(t.TempDir(), "library"), t.TempDir()
	shared := (&url.URL{Scheme: "file", Path: filepath.ToSlash(storage)}).String()
	for run, want := range []string{
		"loaded 2 Books\nset the year of 1 book, changed: true\nmain before:\n  1974 The Dispossessed\n" +
			"merge: fast_forward\nmain after:\n  1974 The Dispossessed\n  2008 Lavinia\n",
		"loaded 2 Books\nset the year of 1 book, changed: false\nmain before:\n  1974 The Dispossessed\n  2008 Lavinia\n" +
			"merge: already_up_to_date\nmain after:\n  1974 The Dispossessed\n  2008 Lavinia\n",
	} {
		for _, place := range []string{folder, shared} {
			out, err := exec.CommandContext(t.Context(), program, place).CombinedOutput()
			if err != nil || string(out) != want {
				t.Errorf("run %d in %s: %v, found\n%s\nwanted\n%s", run+1, place, err, out, want)
			}
		}
	}
}

// TestEngineByAnother runs the tests of the metered engine: the conformance suite, the random
// comparison and the tests of opening.
func TestEngineByAnother(t *testing.T) {
	o := ready(t, "testdata/metered")
	stdout, stderr, err := o.run(t, "test", "-count=1", "-v", ".")
	if err != nil {
		t.Fatalf("go test: %v\n%s%s", err, stdout, stderr)
	}
	for _, name := range []string{"TestConformance", "TestRandom", "TestOpen", "TestCalls"} {
		if !strings.Contains(stdout, "\n--- PASS: "+name+" (") {
			t.Errorf("%s did not run:\n%s", name, stdout)
		}
	}
}

// TestInternalIsRefused checks that the tests above would notice the import of an internal package:
// a module that is prepared in the same way and imports one must not build.
func TestInternalIsRefused(t *testing.T) {
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.mod"), "module example.com/intruder\n\ngo 1.26.0\n\nrequire "+omnigraph+" v0.0.0\n\nreplace "+omnigraph+" => "+filepath.ToSlash(root)+"\n")
	write(t, filepath.Join(dir, "main.go"), "package main\n\nimport \""+omnigraph+"/internal/clock\"\n\nfunc main() { _ = clock.Now }\n")
	_, stderr, err := ready(t, dir).run(t, "vet", ".")
	if want := "use of internal package " + omnigraph + "/internal/clock not allowed"; err == nil || !strings.Contains(stderr, want) {
		t.Errorf("found %v\n%s\nwanted %q", err, stderr, want)
	}
}

// ready prepares a module. It skips the test with -short, because the test runs the go command.
func ready(t *testing.T, dir string) outsider {
	t.Helper()
	if testing.Short() {
		t.Skip("builds another module")
	}
	return module(t, dir)
}

func parse(t *testing.T, name string) *modfile.File {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
