//go:build unix

package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cold makes TestReleaseOfAModule build its second release with an empty cache, which takes minutes.
var cold = flag.Bool("cold", false, "build the second release of TestReleaseOfAModule with an empty build cache")

// TestReleaseOfAModule builds a release of a module that gq init made. The server in the archive, and
// the one in the image, must serve the module's graph and report the version of the release. A second
// release, from a copy of the module and in another environment, must have the same bytes.
func TestReleaseOfAModule(t *testing.T) {
	if os.Getenv(initVar) == "" {
		t.Skip(initVar + " is not set; run make test-release")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the programs of the image run on Linux only")
	}
	root, work := checkout(t), t.TempDir()
	module := filepath.Join(work, "brain")
	if code, _, stderr := gqRun("init", module, "--replace", root); code != exitDone {
		t.Fatal(stderr)
	}
	tidied(t, module)
	t.Chdir(filepath.Join(module, "queries"))
	platform := "linux/" + runtime.GOARCH
	out := filepath.Join(work, "dist")
	if code, _, stderr := gqRun("release", "v1.2.3", "--platform", platform, "--out", out); code != exitDone {
		t.Fatal(stderr)
	}
	stem := "brain_v1.2.3_linux_" + runtime.GOARCH

	archive := filepath.Join(work, "archive")
	untarFile(t, filepath.Join(out, stem+".tar.gz"), archive)
	dir := filepath.Join(archive, stem)
	serveModule(t, filepath.Join(dir, "omnigraph"), filepath.Join(dir, "omnigraph-server"), dir)

	layout, image := filepath.Join(work, "layout"), filepath.Join(work, "image")
	untarFile(t, filepath.Join(out, "brain_v1.2.3_image.tar"), layout)
	config := unpackImage(t, layout, image)
	if len(config.Entrypoint) != 1 || config.User != "65532:65532" || strings.Join(config.Cmd, " ") != "--cluster /app --bind 0.0.0.0:8080" {
		t.Errorf("the image runs %q %q as %s", config.Entrypoint, config.Cmd, config.User)
	}
	serveModule(t, filepath.Join(image, "usr/local/bin/omnigraph"), filepath.Join(image, config.Entrypoint[0]), filepath.Join(image, config.WorkingDir))

	// The second release: a copy of the module, another umask, time zone and Go environment.
	twin := filepath.Join(work, "copy of the module")
	if err := os.CopyFS(twin, os.DirFS(module)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(twin, "queries"))
	for name, value := range map[string]string{
		"TZ": "Pacific/Kiritimati", "LANG": "tr_TR.UTF-8", "GOFLAGS": "-tags=shiftedclock,timetzdata -ldflags=-w -mod=mod",
		"GOAMD64": "v3", "GOARM64": "v8.2", "CGO_ENABLED": "1",
	} {
		t.Setenv(name, value)
	}
	if *cold {
		t.Setenv("GOCACHE", t.TempDir())
	}
	again := filepath.Join(work, "again")
	umask := syscall.Umask(0o077)
	code, _, stderr := gqRun("release", "v1.2.3", "--platform", platform, "--out", again)
	syscall.Umask(umask)
	if code != exitDone {
		t.Fatal(stderr)
	}
	for _, name := range []string{stem + ".tar.gz", stem + ".spdx.json", "brain_v1.2.3_image.tar", "checksums.txt"} {
		first, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		if second, err := os.ReadFile(filepath.Join(again, name)); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s differs in a second release: %v", name, err)
		}
	}
}

// serveModule creates the graph of a module that gq init made, serves it, and calls a stored query.
func serveModule(t *testing.T, omnigraph, server, cluster string) {
	t.Helper()
	if out, err := exec.Command(omnigraph, "cluster", "apply", "--cluster", cluster).CombinedOutput(); err != nil {
		t.Fatalf("cluster apply: %v\n%s", err, out)
	}
	if out, err := exec.Command(server, "--version").Output(); err != nil || !strings.Contains(string(out), "v1.2.3") {
		t.Errorf("the server reports %q, %v", out, err)
	}
	cmd := exec.Command(server, "--cluster", cluster, "--bind", "127.0.0.1:0", "--dev")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		stuck := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		defer stuck.Stop()
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}()
	addr, token := "", ""
	for lines := bufio.NewScanner(stdout); token == "" && lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "OMNIGRAPH_LISTEN_ADDR="); ok {
			addr = v
		}
		if v, ok := strings.CutPrefix(lines.Text(), "OMNIGRAPH_DEV_TOKEN="); ok {
			token = v
		}
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/graphs/team/query", strings.NewReader(`{"query":"query q() { match { $x: Person } return { count($x) as n } }"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"n":0`)) {
		t.Errorf("a query: status %d, %v, %s", res.StatusCode, err, body)
	}
}

// untarFile unpacks a tar archive, which may be gzipped, to a folder.
func untarFile(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if magic, _ := r.(*bufio.Reader).Peek(2); string(magic) == "\x1f\x8b" {
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatal(err)
		}
	}
	for a := tar.NewReader(r); ; {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.FileInfo().IsDir() {
			if err := os.MkdirAll(name, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		b, err := io.ReadAll(a)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(name), 0o755)
		}
		if err == nil {
			err = os.WriteFile(name, b, h.FileInfo().Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// imageConfig is the part of an image's configuration that says how to run it.
type imageConfig struct {
	User, WorkingDir string
	Entrypoint, Cmd  []string
}

// unpackImage follows the index of an OCI image layout to the image for this machine, and unpacks the
// layer of that image to a folder.
func unpackImage(t *testing.T, layout, dir string) imageConfig {
	t.Helper()
	type descriptor struct {
		Digest   string
		Platform struct{ OS, Architecture string }
	}
	blob := func(d descriptor) string {
		return filepath.Join(layout, "blobs", strings.ReplaceAll(d.Digest, ":", string(filepath.Separator)))
	}
	decode := func(file string, to any) {
		t.Helper()
		b, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(b, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var top, index struct{ Manifests []descriptor }
	decode(filepath.Join(layout, "index.json"), &top)
	decode(blob(top.Manifests[0]), &index)
	for _, d := range index.Manifests {
		if d.Platform.OS != "linux" || d.Platform.Architecture != runtime.GOARCH {
			continue
		}
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		decode(blob(d), &manifest)
		untarFile(t, blob(manifest.Layers[0]), dir)
		var config struct{ Config imageConfig }
		decode(blob(manifest.Config), &config)
		return config.Config
	}
	t.Fatal("the image does not have this machine's platform")
	return imageConfig{}
}

// TestReleaseFaults checks the command lines and the modules that gq release refuses, before it
// builds anything.
func TestReleaseFaults(t *testing.T) {
	module := func(t *testing.T, cluster string) {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod": "module example.com/acme/brain\n\ngo 1.26\n", "cluster.yaml": cluster, "schema.pg": "node A { id: String @key }\n",
			"../outside.pg": "node A { id: String @key }\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir(dir)
	}
	const config = "version: 1\nstorage: ./data\ngraphs:\n  a: { schema: schema.pg }\n"
	for _, c := range []struct {
		name, cluster string
		args          []string
		code          int
		says          string
	}{
		{"no version", config, nil, exitUsage, "give only the version"},
		{"version without v", config, []string{"1.2.3"}, exitUsage, `the version is "1.2.3"; give one such as v1.2.0`},
		{"short version", config, []string{"v1.2"}, exitUsage, `the version is "v1.2"`},
		{"platform", config, []string{"v1.2.3", "--platform", "linux/386"}, exitUsage, `the platform is "linux/386"; choose from linux/amd64`},
		{"commit", config, []string{"v1.2.3", "--commit", "a b"}, exitUsage, `--commit is "a b"`},
		{"certificates", config, []string{"v1.2.3", "--ca-certificates", "none.pem"}, exitFailed, "none.pem"},
		{"schema elsewhere", strings.Replace(config, "schema.pg", "../outside.pg", 1), []string{"v1.2.3"}, exitFailed, "outside of the folder"},
		{"storage here", strings.Replace(config, "./data", ".", 1), []string{"v1.2.3"}, exitFailed, "name a folder below that of cluster.yaml"},
		{"cluster.yaml", "version: 2\n", []string{"v1.2.3"}, exitFailed, "cluster.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			module(t, c.cluster)
			if code, _, stderr := gqRun(append([]string{"release"}, c.args...)...); code != c.code || !strings.Contains(stderr, c.says) {
				t.Errorf("exit code %d, want %d: %s, want %q", code, c.code, stderr, c.says)
			}
		})
	}
	t.Run("own module", func(t *testing.T) {
		t.Chdir(checkout(t))
		if code, _, stderr := gqRun("release", "v1.2.3"); code != exitFailed || !strings.Contains(stderr, "run make release VERSION=v1.2.3") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	})
}

// TestImageTag checks the tags of images for versions with and without build metadata.
func TestImageTag(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "1.2.3", "v1.2.3-rc.1": "1.2.3-rc.1", "v1.2.3+build.5": "1.2.3_build.5"} {
		if got := imageTag(version); got != want {
			t.Errorf("imageTag(%q) = %q, want %q", version, got, want)
		}
	}
}
