package gocode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// environment returns the environment in which the go command runs nothing of the tree that it reads. It
// only lists packages and compiles nothing. So CGO_ENABLED=1 does not make it run cgo, and without it the go command would
// leave out files, and even packages, that import "C"; in case it tries nevertheless, no C compiler and no
// pkg-config is there. The argument env is the user's environment. Of the settings that a user can make, with variables or
// with go env -w, the result keeps the build tags and the proxies for modules; modules never come
// from a version control system. The result arch is the architecture of the packages.
func environment(ctx context.Context, env []string, flags ...string) (out []string, arch string, err error) {
	if env == nil {
		env = os.Environ()
	}
	env = slices.Clip(env)
	local := append(env, "GOTOOLCHAIN=local")
	cmd := exec.CommandContext(ctx, "go", "env", "-json", "GOFLAGS", "GOPROXY", "GOARCH")
	cmd.Env, cmd.Dir = local, string(filepath.Separator) // where no go.mod has an effect
	text, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = errors.New(strings.TrimSpace(string(exit.Stderr)))
		}
		return nil, "", fmt.Errorf("ask the go command for its settings: %w", err)
	}
	var set struct{ GOFLAGS, GOPROXY, GOARCH string }
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, "", fmt.Errorf("read the settings of the go command: %w", err)
	}
	flags = append(flags, "-buildvcs=false")
	for _, flag := range strings.Fields(set.GOFLAGS) {
		if flag = strings.Trim(flag, `"'`); strings.HasPrefix(flag, "-tags=") || strings.HasPrefix(flag, "--tags=") {
			flags = append(flags, flag)
		}
	}
	return append(local, "GOFLAGS="+strings.Join(flags, " "), "GOPROXY="+withoutDirect(set.GOPROXY), "GOVCS=*:off",
		"GOPACKAGESDRIVER=off", "CGO_ENABLED=1", "CC="+none, "CXX="+none, "FC="+none, "PKG_CONFIG="+none), set.GOARCH, nil
}

// none is the name of a program that does not exist.
const none = "omnigraph-runs-no-program"

// withoutDirect returns a list of proxies without the element direct.
func withoutDirect(proxies string) string {
	var kept strings.Builder
	for rest := proxies; rest != ""; {
		end := len(rest)
		if i := strings.IndexAny(rest, ",|"); i >= 0 {
			end = i + 1
		}
		if name := strings.Trim(rest[:end], " ,|"); name != "" && name != "direct" {
			kept.WriteString(rest[:end])
		}
		rest = rest[end:]
	}
	if kept.Len() == 0 {
		return "off"
	}
	return strings.TrimRight(kept.String(), ",|")
}
