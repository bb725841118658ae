// Package artifact builds the commands of a Go module and packs them for users: as archives, as an
// OCI image, with the licences of the modules in them, a software bill of materials and checksums.
//
// The same sources, Go release and options give the same bytes in every folder, for every user, time
// zone, umask and Go environment. So no file takes a time, an owner or a mode from the machine, and
// the go command runs with a fixed environment.
package artifact

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Platform is an operating system and a processor architecture, in Go's names.
type Platform struct{ OS, Arch string }

// Platforms lists the platforms that artifacts can be built for.
var Platforms = []Platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// ParsePlatform reads a platform of the form os/arch.
func ParsePlatform(s string) (Platform, error) {
	i := slices.IndexFunc(Platforms, func(p Platform) bool { return p.String() == s })
	if i < 0 {
		return Platform{}, fmt.Errorf("the platform is %q; choose from %s", s, strings.Trim(fmt.Sprint(Platforms), "[]"))
	}
	return Platforms[i], nil
}

// File is a file, or a folder, of an archive, a package or an image.
type File struct {
	Name  string      // slash-separated, relative, without ..
	Mode  fs.FileMode // permission bits, and fs.ModeDir for a folder
	Owner int         // number of the user and of the group
	Data  []byte      // nil for a folder
}

// Source describes the commands to build.
type Source struct {
	Root     string   // folder of the module
	Packages []string // import paths or patterns of main packages
	Version  string   // the version that the commands report, such as v0.1.0
	Commit   string   // the commit that the commands report; "" if it is not known
}

// versionPackage is the package whose variables hold the version and the commit of a release.
const versionPackage = "github.com/omnigraph-go/omnigraph/internal/buildversion"

// Build compiles the commands for a platform and returns the programs, sorted by name.
func (s *Source) Build(ctx context.Context, p Platform) ([]File, error) {
	dir, err := os.MkdirTemp("", "omnigraph-build")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	flags := fmt.Sprintf("-s -w -X %s.release=%s", versionPackage, s.Version)
	if s.Commit != "" {
		flags += fmt.Sprintf(" -X %s.commit=%s", versionPackage, s.Commit)
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=" + flags, "-o", dir + string(filepath.Separator)}
	if _, err := s.goCommand(ctx, p, append(args, s.Packages...)...); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var programs []File
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		programs = append(programs, File{Name: e.Name(), Mode: 0o755, Data: b})
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("%s has no main package; name a package that is a command", strings.Join(s.Packages, " "))
	}
	return programs, nil
}

// fixed are the variables of the go command that change the bytes of a program. Their values here
// are the defaults of the go command.
var fixed = []string{
	"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOENV=off", "GOEXPERIMENT=", "GOFIPS140=off", "GOFLAGS=", "GOWORK=off", "GODEBUG=",
}

// kept are the variables that say where the go command finds modules and keeps its caches. They are
// read before GOENV=off hides the settings of the user.
var kept = []string{
	"GOAUTH", "GOCACHE", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOPATH", "GOPRIVATE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN",
}

// goCommand runs the go command in the module's folder for a platform and returns its output.
func (s *Source) goCommand(ctx context.Context, p Platform, args ...string) ([]byte, error) {
	settings, err := run(exec.CommandContext(ctx, "go", append([]string{"env", "-json"}, kept...)...), s.Root)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	if err := json.Unmarshal(settings, &values); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), fixed...)
	for _, name := range kept {
		cmd.Env = append(cmd.Env, name+"="+values[name])
	}
	cmd.Env = append(cmd.Env, "GOOS="+p.OS, "GOARCH="+p.Arch)
	return run(cmd, s.Root)
}

// run runs a command in a folder and returns its standard output. The error holds what the command
// wrote to standard error.
func run(cmd *exec.Cmd, dir string) ([]byte, error) {
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return out, nil
}

// module is a module that is linked into the commands.
type module struct{ Path, Version, Dir string }

// modules lists the modules that are linked into the commands on a platform, sorted by path, without
// the main module.
func (s *Source) modules(ctx context.Context, p Platform) ([]module, error) {
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}"}
	out, err := s.goCommand(ctx, p, append(args, s.Packages...)...)
	if err != nil {
		return nil, err
	}
	var found []module
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(fields) != 3 {
			continue // a package of the standard library
		}
		m := module{fields[0], fields[1], fields[2]}
		if m.Dir == "" { // the module is vendored
			m.Dir = filepath.Join(s.Root, "vendor", filepath.FromSlash(m.Path))
		}
		found = append(found, m)
	}
	slices.SortFunc(found, func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	return slices.Compact(found), nil
}

// licenceNames are the beginnings of the names of files with a licence or a notice, in lower case.
var licenceNames = []string{"license", "licence", "unlicense", "copying", "notice", "copyright"}

// Licences returns the licences of the modules that are linked into the commands on a platform, and
// that of the Go standard library. Most licences demand that copies of a program contain them. The
// licence of the main module is left out. Modules without a licence file are in the list `unlicensed`.
func (s *Source) Licences(ctx context.Context, p Platform) (text []byte, unlicensed []string, err error) {
	found, err := s.modules(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	// The go command may be of another release than the one that compiled this program.
	env, err := s.goCommand(ctx, p, "env", "GOVERSION", "GOROOT")
	if err != nil {
		return nil, nil, err
	}
	release, root, _ := strings.Cut(strings.TrimSpace(string(env)), "\n")
	found = append(found, module{"The Go standard library", strings.TrimSpace(release), strings.TrimSpace(root)})
	var b strings.Builder
	for _, m := range found {
		entries, err := os.ReadDir(m.Dir)
		if err != nil {
			return nil, nil, err
		}
		n := 0
		for _, e := range entries {
			name := strings.ToLower(e.Name())
			if !e.Type().IsRegular() || filepath.Ext(name) == ".go" || !slices.ContainsFunc(licenceNames, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
				continue
			}
			licence, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
			if err != nil {
				return nil, nil, err
			}
			fmt.Fprintf(&b, "%s\n%s, %s\n%[1]s\n\n%s\n\n", strings.Repeat("=", 80), strings.TrimSpace(m.Path+" "+m.Version), e.Name(), strings.TrimSpace(strings.ReplaceAll(string(licence), "\r\n", "\n")))
			n++
		}
		if n == 0 {
			unlicensed = append(unlicensed, m.Path)
		}
	}
	return []byte(b.String()), unlicensed, nil
}
