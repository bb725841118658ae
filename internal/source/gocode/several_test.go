package gocode

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// repositories is a folder of three repositories. app uses a part of lib. The folder of lib
// contains a second module, and modules that the go command skips. Both app and lib have a file
// main.go and a package cmd.
const repositories = `
-- app/go.mod --
module example.com/app

go 1.26

require example.com/lib v1.0.0

replace example.com/lib => ../lib
-- app/main.go --
// Package app greets.
package app

import "example.com/lib/greet"

// Run greets twice.
func Run() string { return greet.Hello("a") + greet.Hello("b") + greet.Greeter{}.Greet() }
-- app/cmd/cmd.go --
package cmd
-- lib/go.mod --
module example.com/lib

go 1.26
-- lib/main.go --
package lib

// Run does nothing.
func Run() {}
-- lib/cmd/cmd.go --
package cmd
-- lib/greet/greet.go --
// Package greet has greetings.
package greet

// Hello greets.
func Hello(name string) string { return name }

// Greeter greets.
type Greeter struct{}

// Greet greets.
func (Greeter) Greet() string { return Hello("g") }
-- lib/tools/go.mod --
module example.com/lib/tools

go 1.26
-- lib/tools/tool.go --
package tools
-- lib/testdata/x/go.mod --
module example.com/app
-- lib/vendor/y/go.mod --
module example.com/app
-- lib/.cache/z/go.mod --
module example.com/app
-- empty/go.mod --
module example.com/empty

go 1.26
-- README.md --
Three repositories.
`

func txtarFolder(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(text)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestReadRepositories reads a folder that contains modules but does not belong to a module.
func TestReadRepositories(t *testing.T) {
	var stages []string
	g, err := Read(t.Context(), Options{Dir: txtarFolder(t, repositories), Env: env(), Progress: func(stage string, _, _ int) { stages = append(stages, stage) }})
	if err != nil {
		t.Fatal(err)
	}
	var modules, packages, files []string
	for _, m := range g.Modules {
		if !m.Main || m.Version != "" {
			t.Errorf("module %+v is not one that was read", m)
		}
		modules = append(modules, m.Path)
	}
	for _, p := range g.Packages {
		packages = append(packages, p.Path)
		if p.Path == "example.com/lib/greet" && p.Doc != "Package greet has greetings." {
			t.Errorf("found %+v; expected the package as its own module has it", p)
		}
	}
	for _, f := range g.Files {
		files = append(files, f.Path)
	}
	for _, tt := range []struct {
		name string
		got  []string
		want string
	}{
		{"modules", modules, "example.com/app example.com/lib example.com/lib/tools"},
		{"packages", packages, "example.com/app example.com/app/cmd example.com/lib example.com/lib/cmd example.com/lib/greet example.com/lib/tools"},
		{"files", files, "example.com/app/cmd/cmd.go example.com/app/main.go example.com/lib/cmd/cmd.go example.com/lib/greet/greet.go example.com/lib/main.go example.com/lib/tools/tool.go"},
	} {
		if strings.Join(tt.got, " ") != tt.want {
			t.Errorf("%s: found %s, want %s", tt.name, strings.Join(tt.got, " "), tt.want)
		}
	}
	for _, want := range []codegraph.Counted{
		{Link: codegraph.Link{From: "example.com/app.Run", To: "example.com/lib/greet.Hello"}, Count: 2},
		{Link: codegraph.Link{From: "example.com/app.Run", To: "example.com/lib/greet.Greeter.Greet"}, Count: 1},
		{Link: codegraph.Link{From: "example.com/lib/greet.Greeter.Greet", To: "example.com/lib/greet.Hello"}, Count: 1},
	} {
		if !slices.Contains(g.Calls, want) {
			t.Errorf("no call %v among %v", want, g.Calls)
		}
	}
	if want := (codegraph.Link{From: "example.com/lib", To: "example.com/lib/greet"}); !slices.Contains(g.Provides, want) {
		t.Errorf("no %v among %v", want, g.Provides)
	}
	if !slices.Contains(stages, "example.com/lib (module 3 of 4): reading symbols") {
		t.Errorf("the stages are %q", stages)
	}

	// A load refuses two nodes with one key, and two edges with one id.
	var out bytes.Buffer
	if _, err := g.WriteNDJSON(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(lines)
	if unique := slices.Compact(slices.Clone(lines)); len(unique) != len(lines) {
		t.Errorf("%d of %d lines occur twice", len(lines)-len(unique), len(lines))
	}
	for _, keys := range [][]string{packages, files, modules} {
		if unique := slices.Compact(slices.Sorted(slices.Values(keys))); len(unique) != len(keys) {
			t.Errorf("a key occurs twice in %v", keys)
		}
	}
}

func TestReadRepositoriesFaults(t *testing.T) {
	twice := repositories + "-- fork/go.mod --\nmodule example.com/lib\n-- fork/fork.go --\npackage lib\n"
	broken := repositories + "-- broken/go.mod --\nmodule example.com/broken\n\ngo 1.26\n-- broken/b.go --\npackage broken\n\nfunc f() { missing() }\n"
	for _, tt := range []struct {
		name, text string
		options    Options
		want       []string
	}{
		{"one path twice", twice, Options{}, []string{"the module example.com/lib is in ", "fork and in ", "move the other one to another folder"}},
		{"no path", "-- a/go.mod --\ngo 1.26\n", Options{}, []string{"go.mod names no module; correct the file or remove it"}},
		{"dependencies", repositories, Options{Deps: true}, []string{"the dependencies of only one module can be read at a time", "has 4 modules; name the folder of one of them"}},
		{"does not compile", broken, Options{}, []string{"module example.com/broken in ", "undefined: missing"}},
		{"no package matches", repositories, Options{Patterns: []string{"./nowhere/..."}}, []string{"none of the 4 modules below ", "has a package that matches"}},
		{"no module", "-- a.txt --\n", Options{}, []string{"there is no go.mod in ", "nor in a folder above or below it"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := tt.options
			o.Dir, o.Env = txtarFolder(t, tt.text), env()
			_, err := Read(t.Context(), o)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("found %v, want %q in it", err, part)
				}
			}
		})
	}
}
