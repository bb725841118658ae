package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
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

	"github.com/omnigraph-go/omnigraph/internal/artifact"
)

const testVersion = "v0.98.7"

var (
	// cold makes TestReproducible build with an empty cache, which takes minutes.
	cold = flag.Bool("cold", false, "build the second release of TestReproducible with an empty build cache")
	// emulate makes TestEmulated build a release for another architecture, which takes minutes.
	emulate = flag.Bool("emulate", false, "run TestEmulated, which needs QEMU's emulation of user programs")
)

var (
	command string // the built command release
	dist    string // the artifacts of testVersion for this machine's architecture
)

// platform is the platform whose artifacts the tests run.
var platform = artifact.Platform{OS: "linux", Arch: runtime.GOARCH}

// TestMain builds the command and runs it once, for one platform.
func TestMain(m *testing.M) {
	flag.Parse()
	if runtime.GOOS != "linux" {
		fmt.Println("the tests run programs for Linux, so they are left out here")
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "omnigraph-release-test")
	if err != nil {
		panic(err)
	}
	command, dist = filepath.Join(dir, "release"), filepath.Join(dir, "dist")
	code := 1
	if out, err := exec.Command("go", "build", "-o", command, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
	} else if out, err := exec.Command(command, "build", "-version", testVersion, "-commit", "0a1b2c", "-out", dist, "-platforms", platform.String()).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "release build: %v\n%s", err, out)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// stem is the first part of the names of the artifacts for this machine.
func stem() string { return stemFor(platform) }

// stemFor is the first part of the names of the artifacts for a platform.
func stemFor(p artifact.Platform) string {
	return fmt.Sprintf("%s_%s_%s_%s", project, testVersion, p.OS, p.Arch)
}

// read returns the content of an artifact.
func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dist, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unpacked returns a folder with the content of the archive for this machine.
func unpacked(t *testing.T) string {
	t.Helper()
	return unpackedFor(t, dist, platform)
}

// unpackedFor returns a folder with the content of the archive for a platform, in the given folder of
// artifacts.
func unpackedFor(t *testing.T, dist string, p artifact.Platform) string {
	t.Helper()
	f, err := os.Open(filepath.Join(dist, stemFor(p)+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := untar(z, dir); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, stemFor(p))
}

// installation is a place where the programs and the configuration were installed.
type installation struct {
	omnigraph, server, cluster string // paths of the programs and of the folder of cluster.yaml, as the programs see them
	emulator                   string // runs the programs; empty if this machine can
	confine                    func(*exec.Cmd)
}

// command returns a command that runs in the installation.
func (i *installation) command(ctx context.Context, args ...string) *exec.Cmd {
	if i.emulator != "" {
		args = append([]string{i.emulator}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = []string{"OMNIGRAPH_TOKEN_ACT_DEV=" + token}
	if i.confine != nil {
		i.confine(cmd)
	}
	return cmd
}

const token = "k7Qm2-example-not-a-secret"

// serve creates the graphs of the configuration, starts the server with the arguments and returns its
// address. The server must report the version of the release. It stops at the end of the test, with
// status 0.
func (i *installation) serve(t *testing.T, args ...string) string {
	t.Helper()
	if out, err := i.command(t.Context(), i.omnigraph, "cluster", "apply", "--cluster", i.cluster, "--as", "act-deploy").CombinedOutput(); err != nil {
		t.Fatalf("cluster apply: %v\n%s", err, out)
	}
	for _, program := range []string{i.omnigraph, i.server} {
		if out, err := i.command(t.Context(), program, "--version").Output(); err != nil || !strings.Contains(string(out), testVersion) {
			t.Errorf("%s --version prints %q, %v", program, out, err)
		}
	}
	cmd := i.command(context.Background(), append([]string{i.server}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		stuck := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		defer stuck.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v\n%s", err, stderr.String())
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if addr, ok := strings.CutPrefix(lines.Text(), "OMNIGRAPH_LISTEN_ADDR="); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return "127.0.0.1" + addr[strings.LastIndexByte(addr, ':'):]
		}
	}
	t.Fatalf("the server did not print its address\n%s", stderr.String())
	return ""
}

// answers calls a stored query of the graph `code` and checks the answer.
func answers(t *testing.T, addr string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/graphs/code/queries/heaviest_packages", strings.NewReader("{}"))
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
	if err != nil || res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"rows":[]`)) {
		t.Errorf("a stored query: status %d, %v, %s", res.StatusCode, err, body)
	}
}

// tarNames returns the names of the files in a tar archive.
func tarNames(t *testing.T, r io.Reader) map[string]*tar.Header {
	t.Helper()
	names := map[string]*tar.Header{}
	for a := tar.NewReader(r); ; {
		h, err := a.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names[strings.TrimPrefix(h.Name, "./")] = h
	}
}
