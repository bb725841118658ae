package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/blakesmith/ar"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	rpm "github.com/sassoftware/go-rpmutils"

	"github.com/omnigraph-go/omnigraph/internal/artifact"
)

// TestArchive unpacks the archive and serves the graph of its configuration.
func TestArchive(t *testing.T) {
	dir := unpacked(t)
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "THIRD-PARTY-LICENCES", "gq"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	i := installation{omnigraph: filepath.Join(dir, "omnigraph"), server: filepath.Join(dir, "omnigraph-server"), cluster: dir}
	answers(t, i.serve(t, "--cluster", dir, "--bind", "127.0.0.1:0"))
}

// TestEmulated builds a release for the other architecture of Linux, emulates its processor, and serves the
// graph of its archive.
func TestEmulated(t *testing.T) {
	if !*emulate {
		t.Skip("a build for another architecture takes minutes: see -emulate")
	}
	other := map[string]struct{ arch, emulator string }{"amd64": {"arm64", "qemu-aarch64"}, "arm64": {"amd64", "qemu-x86_64"}}[platform.Arch]
	emulator, err := exec.LookPath(other.emulator)
	if err != nil {
		t.Skipf("no emulator of %s: %v", other.arch, err)
	}
	p, dist := artifact.Platform{OS: platform.OS, Arch: other.arch}, t.TempDir()
	if out, err := exec.Command(command, "build", "-version", testVersion, "-commit", "0a1b2c", "-out", dist, "-platforms", p.String()).CombinedOutput(); err != nil {
		t.Fatalf("release build: %v\n%s", err, out)
	}
	dir := unpackedFor(t, dist, p)
	i := installation{omnigraph: filepath.Join(dir, "omnigraph"), server: filepath.Join(dir, "omnigraph-server"), cluster: dir, emulator: emulator}
	answers(t, i.serve(t, "--cluster", dir, "--bind", "127.0.0.1:0"))
}

// TestReleasedInit checks that the released gq creates a module that requires its own version.
func TestReleasedInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "brain")
	if out, err := exec.Command(filepath.Join(unpacked(t), "gq"), "init", dir).CombinedOutput(); err != nil {
		t.Fatalf("gq init: %v\n%s", err, out)
	}
	gomod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.Contains(string(gomod), module+" "+testVersion) {
		t.Errorf("go.mod does not require %s: %v\n%s", testVersion, err, gomod)
	}
}

// TestDeb installs the Debian package into an empty root, or unpacks it if dpkg or the right to use it
// is missing. The server of the package then serves a copy of the package's configuration.
func TestDeb(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(dist, stem()+".deb")
	if _, err := exec.LookPath("dpkg"); err == nil && os.Getuid() == 0 {
		for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "etc"} {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("dpkg", "--root="+root, "--force-script-chrootless", "--install", file).CombinedOutput(); err != nil {
			t.Fatalf("dpkg: %v\n%s", err, out)
		}
		status, err := exec.Command("dpkg-query", "--admindir="+filepath.Join(root, "var/lib/dpkg"), "-W", "-f=${Status} ${Version}", project).Output()
		if want := "install ok installed " + strings.TrimPrefix(testVersion, "v"); err != nil || string(status) != want {
			t.Errorf("the status of the package is %q, want %q: %v", status, want, err)
		}
		if _, err := exec.LookPath("systemd-sysusers"); err == nil {
			if users, err := os.ReadFile(filepath.Join(root, "etc/passwd")); err != nil || !strings.Contains(string(users), "omnigraph:") {
				t.Errorf("the package did not create the user of the server: %v\n%s", err, users)
			}
		}
	} else {
		t.Log("dpkg is not installed, or the user is not root: the package is unpacked")
		if err := untar(debData(t, file), root); err != nil {
			t.Fatal(err)
		}
	}
	unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/omnigraph.service"))
	if err != nil || !strings.Contains(string(unit), "ExecStart=/usr/bin/omnigraph-server ") {
		t.Errorf("the unit does not start the program of the package: %v\n%s", err, unit)
	}
	if _, err := os.Stat(filepath.Join(root, "usr/lib/systemd/system/omnigraph.socket")); err != nil {
		t.Error(err)
	}
	cluster := t.TempDir()
	if err := os.CopyFS(cluster, os.DirFS(filepath.Join(root, "usr/share/omnigraph"))); err != nil {
		t.Fatal(err)
	}
	i := installation{omnigraph: filepath.Join(root, "usr/bin/omnigraph"), server: filepath.Join(root, "usr/bin/omnigraph-server"), cluster: cluster}
	answers(t, i.serve(t, "--cluster", cluster, "--bind", "127.0.0.1:0"))
}

// debData returns the tar archive of the files in a Debian package.
func debData(t *testing.T, file string) io.Reader {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for a := ar.NewReader(f); ; {
		h, err := a.Next()
		if err != nil {
			t.Fatalf("the package has no data.tar.gz: %v", err)
		}
		if strings.TrimSuffix(h.Name, "/") == "data.tar.gz" {
			z, err := gzip.NewReader(a)
			if err != nil {
				t.Fatal(err)
			}
			return z
		}
	}
}

// TestPackageListings reads the packages of all formats and checks that they contain the programs,
// the configuration and the licences, and the units where the distribution has systemd.
func TestPackageListings(t *testing.T) {
	lists := map[string]func(*testing.T) map[string]int64{
		"deb": func(t *testing.T) map[string]int64 {
			modes := map[string]int64{}
			for name, h := range tarNames(t, debData(t, filepath.Join(dist, stem()+".deb"))) {
				modes["/"+name] = h.Mode
			}
			return modes
		},
		"rpm": func(t *testing.T) map[string]int64 {
			p, err := rpm.ReadRpm(bytes.NewReader(read(t, stem()+".rpm")))
			if err != nil {
				t.Fatal(err)
			}
			nevra, err := p.Header.GetNEVRA()
			if err != nil || nevra.Name != project || nevra.Version != strings.TrimPrefix(testVersion, "v") {
				t.Errorf("the package is %v, %v", nevra, err)
			}
			files, err := p.Header.GetFiles()
			if err != nil {
				t.Fatal(err)
			}
			modes := map[string]int64{}
			for _, f := range files {
				modes[f.Name()] = int64(f.Mode() & 0o777)
			}
			payload, err := p.PayloadReaderExtended()
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; ; n++ {
				if _, err := payload.Next(); errors.Is(err, io.EOF) {
					if n < len(files) {
						t.Errorf("the payload has %d of %d files", n, len(files))
					}
					return modes
				} else if err != nil {
					t.Fatal(err)
				}
			}
		},
		"apk": func(t *testing.T) map[string]int64 {
			// The parts of the package are gzip streams that together hold one tar archive.
			z, err := gzip.NewReader(bytes.NewReader(read(t, stem()+".apk")))
			if err != nil {
				t.Fatal(err)
			}
			modes := map[string]int64{}
			for name, h := range tarNames(t, z) {
				modes["/"+name] = h.Mode
			}
			if _, ok := modes["/.PKGINFO"]; !ok {
				t.Error("the package has no .PKGINFO")
			}
			return modes
		},
	}
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			have := lists[f.name](t)
			want := map[string]int64{
				"/usr/bin/gq": 0o755, "/usr/bin/omnigraph": 0o755, "/usr/bin/omnigraph-server": 0o755,
				"/usr/share/omnigraph/cluster.yaml": 0o644, "/usr/share/omnigraph/queries/code/schema.pg": 0o644,
				"/usr/share/doc/omnigraph/LICENSE": 0o644, "/usr/share/doc/omnigraph/THIRD-PARTY-LICENCES": 0o644,
			}
			if f.systemd {
				want["/usr/lib/systemd/system/omnigraph.service"], want["/usr/lib/systemd/system/omnigraph.socket"] = 0o644, 0o644
				want["/usr/lib/sysusers.d/omnigraph.conf"] = 0o644
			}
			for name, mode := range want {
				if have[name]&0o777 != mode {
					t.Errorf("%s has mode %#o, want %#o", name, have[name], mode)
				}
			}
		})
	}
}

// TestImage pushes the image to a registry, pulls it, and runs its entry point as its user in a root
// that holds only the content of the image.
func TestImage(t *testing.T) {
	srv := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer srv.Close()
	ref := strings.TrimPrefix(srv.URL, "http://") + "/omnigraph-go/omnigraph:0.98.7"
	if err := run(t.Context(), []string{"push", "-image", filepath.Join(dist, project+"_"+testVersion+"_image.tar"), "-to", ref, "-insecure"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	tag, err := name.ParseReference(ref, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	im, err := remote.Image(tag, remote.WithContext(t.Context()), remote.WithPlatform(v1.Platform{OS: platform.OS, Architecture: platform.Arch}))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(im); err != nil {
		t.Error(err)
	}
	config, err := im.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if label := config.Config.Labels["io.modelcontextprotocol.server.name"]; label != registryName {
		t.Errorf("the label of the MCP registry is %q", label)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can change the root of a process")
	}
	root := t.TempDir()
	content := mutate.Extract(im)
	defer content.Close()
	var kept bytes.Buffer
	if err := untar(io.TeeReader(content, &kept), root); err != nil {
		t.Fatal(err)
	}
	for name, h := range tarNames(t, &kept) {
		if err := os.Lchown(filepath.Join(root, name), h.Uid, h.Gid); err != nil {
			t.Fatal(err)
		}
	}
	if certificates, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")); err != nil || bytes.Count(certificates, []byte("BEGIN CERTIFICATE")) < 50 {
		t.Errorf("the image has too few certificates of authorities: %v", err)
	}
	uid, _, _ := strings.Cut(config.Config.User, ":")
	user, err := strconv.Atoi(uid)
	if err != nil || user == 0 {
		t.Fatalf("the user of the image is %q", config.Config.User)
	}
	// The parent folders of a temporary folder are closed to other users, but not to a process
	// whose root it is.
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	i := installation{
		omnigraph: "/usr/local/bin/omnigraph", server: config.Config.Entrypoint[0], cluster: "/app",
		confine: func(cmd *exec.Cmd) {
			cmd.Path, cmd.Err, cmd.Dir = cmd.Args[0], nil, config.Config.WorkingDir
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
		},
	}
	args := append(slices.Clone(config.Config.Entrypoint[1:]), config.Config.Cmd...)
	for n := range args {
		args[n] = strings.Replace(args[n], ":8080", ":0", 1) // a free port
	}
	answers(t, i.serve(t, args...))
}
