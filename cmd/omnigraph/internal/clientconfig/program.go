package clientconfig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	"golang.org/x/mod/modfile"
)

// thisTool is the package of this program, as it appears in the tool list of a go.mod.
const thisTool = "github.com/omnigraph-go/omnigraph/cmd/omnigraph"

// temporaryPath matches the paths where the go command places a program that it runs. These paths
// are temporary: a folder that is removed when the program ends, or a folder in the go command's
// cache, which removes old entries.
var temporaryPath = regexp.MustCompile(`[/\\]go-build[0-9]+[/\\]b[0-9]+[/\\]exe[/\\][^/\\]+$|[/\\][0-9a-f]{64}-d[/\\][^/\\]+$`)

// Program returns a command that a client can run to start this program. `executable` is the path
// of the running program, and `dir` is its current folder. If the path is temporary, the command is
// a tool of the module that contains `dir`.
func Program(executable, dir string) ([]string, error) {
	if !temporaryPath.MatchString(executable) {
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
	return nil, fmt.Errorf("this omnigraph is at %s, where the go command will delete it; install it with go install %s and run that program, or run this command in a module that lists it as a tool", executable, thisTool)
}
