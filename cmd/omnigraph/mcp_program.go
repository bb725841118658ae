package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	"golang.org/x/mod/modfile"
)

// thisTool is the package of this program, as a module names it among its tools.
const thisTool = "github.com/omnigraph-go/omnigraph/cmd/omnigraph"

// passing is where the go command puts a program that it runs: a folder that is gone when
// the program has ended, or one of its cache, which it empties of what is old.
var passing = regexp.MustCompile(`[/\\]go-build[0-9]+[/\\]b[0-9]+[/\\]exe[/\\][^/\\]+$|[/\\][0-9a-f]{64}-d[/\\][^/\\]+$`)

// program is how others start this program, which runs as executable in the folder dir: by
// its path if it stays there, and else as a tool of the module that dir is in.
func program(executable, dir string) ([]string, error) {
	if !passing.MatchString(executable) {
		return []string{executable}, nil
	}
	for {
		file := filepath.Join(dir, "go.mod")
		text, err := os.ReadFile(file)
		if err == nil {
			mod, err := modfile.Parse(file, text, nil)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(mod.Tool, func(t *modfile.Tool) bool { return t.Path == thisTool }) {
				break
			}
			goCommand, err := exec.LookPath("go")
			if err != nil {
				return nil, err
			}
			return []string{goCommand, "-C", dir, "tool", "omnigraph"}, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return nil, fmt.Errorf("this omnigraph is at %s, where the go command does not leave it; install it with go install %s and run that, or run this in a module that has it among its tools", executable, thisTool)
}
